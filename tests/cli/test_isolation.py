"""A machine that isolates nothing: one sentence, exit code 2, nothing asked and nothing executed, unless accepted."""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from measurand.cli.main import main
from measurand.sandboxes.unconfined import SENTENCE
from measurand.store import open_store
from tests.cli.test_cli import ids, place

__all__ = ["place"]

RUN = ("run", "humaneval", "--subset", "3", "--subject", "callable:tests.cli.systems:writes_code")
REFUSES = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"
DEAD = "echo 'Cannot connect to the Docker daemon at unix:///nowhere. Is the docker daemon running?' >&2; exit 1"


def nothing(_: Path) -> None:
    """Neither bubblewrap nor Docker."""


def no_namespaces(folder: Path) -> None:
    command(folder, "bwrap", REFUSES)


def dead_engine(folder: Path) -> None:
    command(folder, "docker", DEAD)


def both_dead(folder: Path) -> None:
    command(folder, "bwrap", REFUSES)
    command(folder, "docker", DEAD)


def command(folder: Path, name: str, body: str) -> None:
    folder.joinpath(name).write_text(f"#!/bin/sh\n{body}\n")
    folder.joinpath(name).chmod(0o755)


BAD = {nothing: "apt-get install bubblewrap", no_namespaces: "No permissions to create new namespace"}
BAD |= {dead_engine: "docker daemon running", both_dead: "No permissions to create new namespace"}


@pytest.fixture
def asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is there once the subject has been asked."""
    monkeypatch.setenv("WROTE_CODE", str(place / "asked"))
    return place / "asked"


@pytest.fixture
def bare(asked: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with an empty folder as its PATH, which every user may look into."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        monkeypatch.setenv("PATH", name)
        yield folder


@pytest.mark.parametrize("breaks", BAD, ids=lambda breaks: breaks.__name__)
def test_it_is_refused_in_one_sentence(
    breaks: Callable[[Path], None], bare: Path, asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks(bare)
    assert main(RUN) == 2
    said = capsys.readouterr().err
    assert said.startswith("measurand: this benchmark runs programs that nobody vouches for, and ")
    assert BAD[breaks] in said
    assert said.count("\n") == 1
    assert not asked.exists()
    assert ids() == []
    assert main(["doctor"]) == 2
    doctor = " ".join(capsys.readouterr().out.split())
    assert "lacks isolation of programs" in doctor
    assert BAD[breaks] in doctor


@pytest.mark.usefixtures("bare")
def test_what_runs_no_program_needs_no_isolation() -> None:
    run = ("run", "sums.csv", "--question", "question", "--answer", "answer", "--subject")
    assert main([*run, "callable:tests.cli.systems:adds"]) == 0


@pytest.mark.parametrize("sentence", ["yes", "i accept that model-written code runs as me", f"{SENTENCE}."])
@pytest.mark.usefixtures("bare")
def test_only_the_whole_sentence_accepts(sentence: str, asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--no-isolation", sentence]) == 2
    assert f'--no-isolation "{SENTENCE}"' in capsys.readouterr().err
    assert not asked.exists()


@pytest.mark.usefixtures("bare")
def test_nothing_but_the_command_line_accepts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("NO_ISOLATION", "MEASURAND_NO_ISOLATION"):
        monkeypatch.setenv(name, SENTENCE)
    assert main(RUN) == 2
    study = f"""
        question = "Which?"
        no_isolation = "{SENTENCE}"
        [[subjects]]
        spec = "callable:tests.cli.systems:writes_code"
        [[benchmarks]]
        name = "humaneval"
    """
    Path("study.toml").write_text(study)
    capsys.readouterr()
    assert main(["run", "study.toml"]) == 2
    assert "no_isolation" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is ever run")
@pytest.mark.usefixtures("bare")
def test_what_was_accepted_is_recorded_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--no-isolation", SENTENCE]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Programs were run without isolation" in shown
    (run,) = ids()
    store = open_store("m.db", read_only=True)
    try:
        (stored,) = store.runs()
        assert len(list(store.scores(run))) == 3 * len(store.protocol(run).scoring.markings)
    finally:
        store.close()
    assert stored.conditions.isolation == "none by nothing, as accepted on the command line"
    assert "bubblewrap (bwrap) is not installed" in stored.conditions.isolation_detail
    assert main(["report", run]) == 0
    assert "without isolation" in " ".join(capsys.readouterr().out.split())
    assert main(["report", run, "--json"]) == 0
    assert "without isolation" in json.dumps(json.loads(capsys.readouterr().out))


@pytest.mark.usefixtures("bare")
def test_the_next_run_has_to_be_accepted_again() -> None:
    if sys.platform == "linux":
        assert main([*RUN, "--no-isolation", SENTENCE]) == 0
    assert main([*RUN, "--occasion", "again"]) == 2
