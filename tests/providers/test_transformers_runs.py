"""Whole runs by a small model: resumed after a kill, shown with its tokens, and perplexities that add up."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from tests.needs import needed

torch = needed("torch", "'measurand[transformers]'")
needed("transformers", "'measurand[transformers]'")

from measurand.cli.main import main  # noqa: E402
from measurand.core.errors import StoreError  # noqa: E402
from measurand.core.summary import Summary  # noqa: E402
from measurand.study.records import PrivateSet  # noqa: E402
from measurand.wiring import Options, evaluate  # noqa: E402
from tests.providers.test_transformers import byte_tokenizer, tiny  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("subject") / "tiny"
    tiny().save_pretrained(place)
    byte_tokenizer().save_pretrained(place)
    return f"transformers:{place}"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    domains = ["web", "code", "mathematics"]
    rows = [
        {"text": f"document {number} of ёлки " + "ab" * (number % 7), "domain": domains[number % 3]}
        for number in range(90)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def texts(corpus: Path, **more: Any) -> PrivateSet:
    return PrivateSet(file=str(corpus), scoring="perplexity", slices=("domain",), **{"window": 32, "stride": 16} | more)


def numbers(summary: Summary) -> list[tuple[str, str, str, float | None]]:
    return [(view.view, view.value, view.estimate.metric, view.estimate.value) for view in summary.views]


def test_perplexities_are_ratios_of_sums_and_slices_add_up(subject: str, corpus: Path, tmp_path: Path) -> None:
    done = evaluate(texts(corpus), subject, options=Options(store=str(tmp_path / "s.db")))
    found: dict[tuple[str, str], float] = {}
    rows: dict[str, list[tuple[float, ...]]] = {"": []}
    for slot, score in done.store.scores(done.run.id):
        if score.metric == "bits_per_byte":
            domain = ["web", "code", "mathematics"][slot.item_no % 3]
            for name in ("", domain):
                rows.setdefault(name, []).append(score.value.row)  # type: ignore[union-attr]
    for view in done.summary.views:
        found[view.value, view.estimate.metric] = view.estimate.value or 0.0
    assert len(rows) == 4
    for domain, measured in rows.items():
        nats, of_bytes = (math.fsum(column) for column in zip(*measured, strict=True))
        assert found[domain, "bits_per_byte"] == pytest.approx(-nats / of_bytes / math.log(2))
        assert found[domain, "byte_perplexity"] == pytest.approx(math.exp(-nats / of_bytes))
        assert found[domain, "token_perplexity"] == pytest.approx(math.exp(-nats / of_bytes))  # a token is a byte here
    sums = [math.fsum(row[0] for row in rows[name]) for name in ("web", "code", "mathematics")]
    assert math.fsum(sums) == pytest.approx(math.fsum(row[0] for row in rows[""]))
    assert any("float32" in note for note in done.summary.notes)


def test_windows_and_stride_are_protocol_and_batches_are_not(subject: str, corpus: Path) -> None:
    def run(**more: Any) -> Any:
        return evaluate(texts(corpus, **more), subject, subset=9, options=Options(store=":memory:"))

    first, wider = run(), run(window=48)
    assert first.run.protocol != wider.run.protocol
    assert "32 tokens, a stride of 16" in first.summary.protocol.asking.name
    assert first.summary.views[0].estimate.value > wider.summary.views[0].estimate.value * 0.5


CHILD = """
import sys
from measurand.study.records import PrivateSet
from measurand.wiring import Options, evaluate
from measurand.providers.transformers_nats import Measure
import time

inner, batches = Measure.nats, []
def stops(self, rows):
    batches.append(len(rows))
    if len(batches) == 4:
        time.sleep(3000)  # until it is killed
    return inner(self, rows)
Measure.nats = stops
from measurand.providers.transformers import Transformers
start = Transformers.start
async def few(self):
    self.size = 10
    await start(self)
Transformers.start = few
spec = PrivateSet(file=sys.argv[1], scoring="perplexity", slices=("domain",), window=32, stride=16)
evaluate(spec, sys.argv[2], options=Options(store=sys.argv[3]))
"""


def test_killed_and_resumed_it_gives_the_same_table(subject: str, corpus: Path, tmp_path: Path) -> None:
    store = tmp_path / "killed.db"
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD), str(corpus), subject, str(store)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    spec = texts(corpus)
    try:
        while child.poll() is None and trials(store) == 0:
            time.sleep(0.05)
    finally:
        child.kill()
        child.wait()
    before = trials(store)
    assert 0 < before < 90
    resumed = evaluate(spec, subject, options=Options(store=str(store)))
    whole = evaluate(spec, subject, options=Options(store=":memory:"))
    assert resumed.summary.tally.answered == 90
    assert numbers(resumed.summary) == [
        (*name, pytest.approx(value, rel=1e-6)) for *name, value in numbers(whole.summary)
    ]


def trials(store: Path) -> int:
    from measurand.wiring import open_store

    if not store.exists():
        return 0
    try:
        opened = open_store(str(store), read_only=True)
        try:
            return sum(1 for run in opened.runs() for _ in opened.done(run.id))
        finally:
            opened.close()
    except StoreError:  # it is being made
        return 0


def test_the_command_line_reads_a_text_file_and_shows_its_tokens(
    subject: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, store = tmp_path / "story.txt", str(tmp_path / "s.db")
    file.write_text("Once upon a time.\n")
    command = ["run", str(file), "--scoring", "perplexity", "--window", "16", "--subject", subject, "--store", store]
    assert main([*command, "--quiet"]) == 0
    assert "bits_per_byte" in capsys.readouterr().out
    assert main(["ls", "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_items"] == 1
    assert main(["show", "", "--store", store]) == 0
    shown = capsys.readouterr().out
    ids = [0, *byte_tokenizer()("Once upon a time.\n", add_special_tokens=False).input_ids]
    assert "prompt_ids" in shown
    assert " ".join(map(str, ids[:8])) in shown
    assert main([*command[:-4], "--subject", "callable:tests.cli.systems:adds", "--store", store]) == 2
    assert "rolling" in capsys.readouterr().err
    assert main([*command, "--stride", "17"]) == 2
    assert "stride of 17" in capsys.readouterr().err
