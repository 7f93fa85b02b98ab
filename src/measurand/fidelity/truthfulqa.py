"""TruthfulQA: what a subject that prefers no answer scores, which follows from the data alone."""

from __future__ import annotations

from collections.abc import Iterator

from measurand.benchmarks.truthfulqa import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Figure, Rescoring, Stored
from measurand.core.item import Question
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import rows_of

VERSIONS = {"v0": (0.2261, 0.4484), "v1": (0.2225, 0.4641), "": (0.2229, 0.4677)}
"""Chance on MC1 and MC2 of the three versions, as derived beside the data; the last is of January 2025."""


def chance(stored: Stored) -> Iterator[Figure]:
    """All answers equally likely: a tie is shared, so the score is what guessing gets."""
    for folder, levels in VERSIONS.items():
        rows = rows_of(stored.folder / "truthfulqa" / folder / "mc_task.json")
        for benchmark, level in zip((BENCHMARK, VARIANTS["mc2"]), levels, strict=True):
            metric = next(iter(benchmark.aggregation.metrics))
            name = f"version {folder or '2025'}, {len(rows)} items, chance of {metric}"
            yield Figure(name, level, _tied(stored, benchmark, rows), 0.00005)


def _tied(stored: Stored, benchmark: Benchmark, rows: list[dict[str, object]]) -> float:
    answers = []
    for item in benchmark.task.to_items("test", rows):
        assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
        answers.append((item, Answer(values=(-1.0,) * len(item.input.options))))
    scores = [next(iter(marks.values())) for marks in stored.mark(benchmark.scoring, answers)]
    return sum(score.row[0] for score in scores if isinstance(score, Measured)) / len(scores)


RESCORINGS = (
    Rescoring(
        "truthfulqa",
        "koppula/TruthfulQA@4dee231, derived",
        ("truthfulqa/mc_task.json", "truthfulqa/v0/mc_task.json", "truthfulqa/v1/mc_task.json"),
        chance,
    ),
)
