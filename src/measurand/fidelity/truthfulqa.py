"""TruthfulQA: what a subject that prefers no answer scores, which follows from the data alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.truthfulqa import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored
from measurand.core.item import Question
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.trial import Measured
from measurand.data.stored import rows_of
from measurand.fidelity.mmlu import ONLY_LETTER

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

DATA = "truthfulqa/v1/mc_task.json"
UNFINISHED = Cause(
    "lm-eval's prompt for generation ends with the question; the authors' ends with A:",
    lambda text: text.removesuffix("\nA:"),
)


def of(benchmark: Benchmark) -> Callable[[Path], Side]:
    """Twenty questions in the form of the hub."""

    def sides(folder: Path) -> Side:
        rows: list[dict[str, Json]] = []
        for row in rows_of(folder / DATA)[:20]:
            targets = {
                name: {"choices": list(row[name]), "labels": list(row[name].values())}
                for name in ("mc1_targets", "mc2_targets")
            }
            true = [text for text, label in row["mc2_targets"].items() if label]
            false = [text for text, label in row["mc2_targets"].items() if not label]
            answers = {"correct_answers": true, "incorrect_answers": false}
            rows.append({"question": row["question"], **targets, **answers})
        return Side({"validation": rows}, render_rows(benchmark, {"test": rows}))

    return sides


def pairs(folder: Path) -> Side:
    """Twenty questions of the 2025 version with two answers each, which the peer reads as mc1, in our order."""
    benchmark = VARIANTS["mc0"]
    rows = rows_of(folder / "truthfulqa/mc_task.json")[:20]
    theirs: list[dict[str, Json]] = []
    for item in benchmark.task.to_items("test", rows):
        assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
        labels = [int(letter == item.gold) for letter in "AB"]
        theirs.append(
            {"question": item.input.text, "mc1_targets": {"choices": list(item.input.options), "labels": labels}}
        )
    return Side({"validation": theirs}, render_rows(benchmark, {"test": rows}))


PROMPTS = (
    Rendering("truthfulqa", "truthfulqa/truthfulqa_mc1.yaml", of(BENCHMARK), (DATA,)),
    Rendering("truthfulqa:mc2", "truthfulqa/truthfulqa_mc2.yaml", of(VARIANTS["mc2"]), (DATA,)),
    Rendering(
        "truthfulqa:generation",
        "truthfulqa/truthfulqa_gen.yaml",
        of(VARIANTS["generation"]),
        (DATA,),
        causes=(UNFINISHED,),
    ),
    Rendering(
        "truthfulqa:mc0",
        "truthfulqa/truthfulqa -T shuffle=false -T shuffle_choices=false",
        pairs,
        ("truthfulqa/mc_task.json",),
        peer="inspect-evals",
        framed=ONLY_LETTER,
    ),
)
