"""What the tests of code benchmarks share: the sandbox, files of rows, and the score of an answer as a run marks it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable
from typing import Any

from measurand.core.benchmark import Benchmark, ProgramScorer
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.ports import Sandbox
from measurand.core.trial import Measured, Missing
from measurand.sandboxes import find_sandbox
from tests.artifacts import artifact
from tests.needs import lacking


def isolation() -> Sandbox:
    """The sandbox of this machine. Skips where there is none; fails there under CI=true."""
    found = find_sandbox()
    isolation = found.describe()
    if isolation.level == "none":
        lacking(isolation.detail)
    return found


def lines(name: str) -> list[dict[str, Any]]:
    """The rows of an artifact, as they are there."""
    data = artifact(name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    return [json.loads(line) for line in text.splitlines() if line.strip()]


async def verdicts(sandbox: Sandbox, benchmark: Benchmark, answers: Iterable[tuple[Item, str]]) -> list[float]:
    """The score of each answer, as a run would mark it; a missing score fails the test."""
    marking = benchmark.scoring.markings[0]
    scorer = marking.scorer
    assert isinstance(scorer, ProgramScorer)

    async def one(item: Item, text: str) -> float:
        program = scorer.program(item, marking.reader.read(item, Answer(text)))
        value = program if isinstance(program, Measured | Missing) else scorer.verdict(item, await sandbox.run(program))
        assert isinstance(value, Measured), value
        return value.row[0]

    return await asyncio.gather(*(one(item, text) for item, text in answers))


def golds(benchmark: Benchmark, items: Iterable[Item]) -> list[tuple[Item, str]]:
    """What a perfect subject would answer."""
    assert benchmark.gold_answer is not None
    return [(item, benchmark.gold_answer(item).text) for item in items]
