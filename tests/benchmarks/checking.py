"""`measurand check` on rows of a benchmark's real schema: the gold earns everything, nothing and nonsense earn nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from measurand.core.benchmark import Benchmark, Scorer
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.program import Program, Result
from measurand.core.trial import Measured
from measurand.run.check import Checked, check
from measurand.run.prepare import prepare
from measurand.sandboxes.fake import FakeSandbox
from tests.run.world import Listed


def _refuse(program: Program) -> Result:
    raise AssertionError(f"no program was to be run: {program}")


def checked(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> Checked:
    """What `check` finds in these rows."""
    return asyncio.run(check(prepare(benchmark, Listed(list(rows))), FakeSandbox(_refuse)))


def assert_check_passes(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> None:
    found = checked(benchmark, rows)
    assert found.answers
    assert [answers for answers in found.answers if not answers.good] == []


def marks(benchmark: Benchmark, gold: Any, text: str) -> dict[str, float]:
    """What an answer earns, by metric."""
    item = Item("1", Question("q"), gold=gold)
    found = {}
    for marking in benchmark.scoring.markings:
        assert isinstance(marking.scorer, Scorer)
        value = marking.scorer.score(item, marking.reader.read(item, Answer(text)))
        assert isinstance(value, Measured)
        found[marking.metric] = value.row[0]
    return found
