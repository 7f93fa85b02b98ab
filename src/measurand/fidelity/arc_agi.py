"""ARC-AGI: the counts of both versions, and a solver of first inputs under the three rules of aggregation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from measurand.benchmarks.arc_agi import BENCHMARK, to_items
from measurand.core.fidelity import Figure, Rescoring, Stored, Unmatched
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import document_of
from measurand.scoring.grids import attempts_text

_COUNTS = {"v1": (400, 416, 400, 419, 19), "v2": (1000, 1076, 120, 167, 45)}
"""Training tasks and their test inputs, evaluation tasks, their test inputs, and those with several."""
_FIRST_INPUTS = {
    "v1": {"whole_task": 0.9525, "task_mean": 0.97625, "outputs": 0.9547},
    "v2": {"whole_task": 0.6250, "task_mean": 0.8097, "outputs": 0.7186},
}
"""The score of a solver that is right on exactly the first test input of each evaluation task."""


def counted(version: str) -> Callable[[Stored], Iterator[Figure]]:
    """The figures of one version."""

    def figures(stored: Stored) -> Iterator[Figure]:
        counts = []
        for part in ("training", "evaluation"):
            tasks = document_of(stored.folder / f"arc_agi/{version}_{part}.json.gz")
            items = to_items(part, [{"__key__": name, **task} for name, task in tasks.items()])
            counts += [len(items), sum(len(item.gold) for item in items)]
        several = sum(len(item.gold) > 1 for item in items)
        named = ("training tasks", "their test inputs", "evaluation tasks", "their test inputs", "of them with several")
        for what, published, ours in zip(named, _COUNTS[version], [*counts, several], strict=True):
            yield Figure(f"{version}, {what}", published, ours)
        first = [(item, Answer(attempts_text([["", json.dumps(item.gold[0])]]))) for item in items]
        marks = stored.mark(BENCHMARK.scoring, first)
        for metric, score in _FIRST_INPUTS[version].items():
            rows = [value.row for value in (mark[metric] for mark in marks) if isinstance(value, Measured)]
            of: float = sum(row[1] for row in rows) if metric == "outputs" else len(rows)
            share = sum(row[0] for row in rows) / of
            yield Figure(f"{version}, first inputs alone right, {metric}", score, share, 5e-5)

    return figures


RESCORINGS = tuple(
    Rescoring(
        "arc_agi",
        source,
        (f"arc_agi/{version}_training.json.gz", f"arc_agi/{version}_evaluation.json.gz"),
        counted(version),
    )
    for version, source in (("v1", "fchollet/ARC-AGI@3990304"), ("v2", "arcprize/ARC-AGI-2@f3283f7"))
)

PROMPTS = (
    Unmatched(
        "arc_agi",
        "neither lm-eval nor inspect_evals nor HELM has ARC-AGI (their arc is AI2's); ours is the wording of the official harness",
    ),
)
