"""A store that an earlier release wrote: every key it was written with is found, and everything reads as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from measurand.core.call import Asked, Call, Reply
from measurand.core.claim import AboutModel
from measurand.core.decision import Decision, Signature, Signed
from measurand.core.run import Slot
from measurand.core.trial import Reading, Score
from measurand.store import open_store
from tests.store.examples import protocol
from tests.store.make_golden import ASKED, DATA, RAN, SUBJECT_ID, finished, golden_items, golden_run, keys

STORES = sorted(DATA.glob("*.db"))


def test_there_is_a_store_to_test() -> None:
    assert STORES


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.stem)
@pytest.mark.parametrize("read_only", [True, False])
def test_an_earlier_releases_store_gives_all_hits(path: Path, tmp_path: Path, *, read_only: bool) -> None:
    shutil.copy(path, tmp_path / "runs.db")
    store = open_store(tmp_path / "runs.db", read_only=read_only)
    found = store.recall([*keys(), *(name for name, _ in RAN)])
    for name, (_, _, reply) in zip(keys(), ASKED, strict=True):
        recalled = found[name]
        assert isinstance(recalled, Reply)
        assert recalled.replayed_from.startswith("20")
        assert msgspec.structs.replace(recalled, replayed_from="") == reply
    assert [found[name] for name, _ in RAN] == [ran.result for _, ran in RAN]
    store.close()


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.stem)
def test_an_earlier_releases_run_reads_as_it_was(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "runs.db")
    store, run = open_store(tmp_path / "runs.db"), golden_run()
    assert store.runs() == [run]
    assert store.protocol(run.id) == protocol(2)
    assert list(store.items(run.id)) == golden_items()
    assert list(store.trials(run.id)) == [(slot, trial) for slot, trial, _, _ in finished()]
    marks = [(slot, mark) for slot, _, _, some in finished() for mark in some]
    assert list(store.readings(run.id)) == [(slot, mark) for slot, mark in marks if isinstance(mark, Reading)]
    assert list(store.scores(run.id)) == [(slot, mark) for slot, mark in marks if isinstance(mark, Score)]
    owner = f"{run.id}/0/0"
    assert store.calls(run.id, Slot(0, 0)) == [
        Call(owner, 0, "target", SUBJECT_ID, keys()[0].hex(), Asked(ASKED[0][0], ASKED[0][2])),
        Call(owner, 1, "scorer", "", "", RAN[0][1]),
        Call(owner, 2, "sandbox", "sandbox", RAN[1][0].hex(), RAN[1][1]),
    ]
    assert store.begin_session(run.id, 1).unclean == 0
    store.close()


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_from_before_decisions_has_none_and_takes_them_once_it_may_be_written(
    tmp_path: Path, *, read_only: bool
) -> None:
    shutil.copy(DATA / "v1.db", tmp_path / "runs.db")
    store = open_store(tmp_path / "runs.db", read_only=read_only)
    assert store.decisions() == []
    if not read_only:
        signed = Signed(
            Decision("Which?", AboutModel(), (), (), (), ()), Signature("ab" * 8, "A. Person", "2026-01-01")
        )
        store.sign(signed)
        assert store.decisions() == [signed]
    store.close()
