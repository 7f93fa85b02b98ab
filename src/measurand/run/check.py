"""Check a benchmark before anybody is asked: its prompts, and what its scoring says of answers that are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from measurand.core.benchmark import Benchmark, Metric
from measurand.core.item import Item
from measurand.core.outcome import Answer, Answered
from measurand.core.ports import Sandbox
from measurand.core.record import Record
from measurand.core.request import Request
from measurand.core.trial import Measured, Missing
from measurand.run.marking import mark
from measurand.run.prepare import Prepared

PROMPTS = 3
"""Items that are rendered and scored."""
WRONG = "This is not an answer to the question."
"""An answer that no scorer may like, unless the benchmark has its own."""


UNCHECKED = ("not_applicable", "needs_judge")
"""Why a score may be missing without fault of the benchmark."""


class KnownAnswers(Record, frozen=True):
    """The mean score of the gold, an empty and a wrong answer under one metric; None where none was measured."""

    metric: str
    gold: float | None
    empty: float | None
    wrong: float | None

    @property
    def good(self) -> bool:
        """Whether gold earns everything and the others nothing."""
        return self.gold == 1.0 and self.empty == 0.0 and self.wrong == 0.0


class Checked(Record, frozen=True):
    """What `check` found: some items with their requests, and how known answers are scored."""

    items: tuple[Item, ...]
    requests: tuple[tuple[Request, ...], ...]
    answers: tuple[KnownAnswers, ...]


async def check(prepared: Prepared, sandbox: Sandbox) -> Checked:
    """Render the first, the middle and the last item, and score what is known about them."""
    items = _spread(prepared.items)
    benchmark = prepared.benchmark
    gold = [benchmark.gold_answer or _gold_as_text] * len(items)
    kinds = {
        "gold": [make(item) for make, item in zip(gold, items, strict=True)],
        "empty": [Answer()] * len(items),
        "wrong": [
            benchmark.wrong_answer(item) if benchmark.wrong_answer else Answer(WRONG, _reversed(make(item).values))
            for make, item in zip(gold, items, strict=True)
        ],
    }
    scores = {kind: await _scores(benchmark, items, answers, sandbox) for kind, answers in kinds.items()}
    answers = tuple(
        KnownAnswers(metric, *(scores[kind].get(metric) for kind in ("gold", "empty", "wrong")))
        for metric in benchmark.aggregation.metrics
        if any(metric in each for each in scores.values())
    )
    return Checked(tuple(items), tuple(prepared.requests(item) for item in items), answers)


def _spread(items: Sequence[Item]) -> list[Item]:
    places = sorted({0, len(items) // 2, len(items) - 1})
    return [items[place] for place in places[:PROMPTS]]


def _gold_as_text(item: Item) -> Answer:
    gold = item.gold
    if isinstance(gold, list | tuple) and gold:
        gold = gold[0]
    if isinstance(gold, dict) and "value" in gold:
        gold = gold["value"]
    return Answer(str(gold))


def _reversed(values: tuple[float, ...]) -> tuple[float, ...]:
    """Log-probabilities that prefer what the gold likes least."""
    return tuple(-value for value in values)


async def _scores(
    benchmark: Benchmark, items: Sequence[Item], answers: Sequence[Answer], sandbox: Sandbox
) -> dict[str, float | None]:
    """The number under each metric; None where nothing was measured.

    Left out is what applies to none of the items, what waits for a judge, and what so few items cannot give.
    """
    values: dict[str, list[Measured | Missing]] = {}
    for item, answer in zip(items, answers, strict=True):
        marks = await mark(benchmark.scoring, item.id, item, Answered(answer), sandbox.run)
        for score in marks.scores:
            values.setdefault(score.metric, []).append(score.value)
    numbers = {
        name: _number(benchmark.aggregation.metrics[name], each)
        for name, each in values.items()
        if not all(isinstance(value, Missing) and value.why in UNCHECKED for value in each)
    }
    return {name: number for name, number in numbers.items() if number is None or not math.isnan(number)}


def _number(metric: Metric, values: Sequence[Measured | Missing]) -> float | None:
    import numpy as np

    rows = [value.row for value in values if isinstance(value, Measured)]
    over: Any = metric.over
    return float(over(np.array(rows), np.ones(len(rows)))) if rows else None
