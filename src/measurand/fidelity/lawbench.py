"""LawBench: the replies of GPT-4 that the authors stored, scored again task by task against their table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from measurand.benchmarks.lawbench import BENCHMARK
from measurand.core.fidelity import Figure, Rescoring, Stored, Unmatched
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import document_of, rows_of
from measurand.scoring.lawbench import TASKS

_MODEL = "GPT4"
_EXACTLY = 1e-12
_SETTINGS = {"zero_shot": 52.35, "one_shot": 53.85}
"""The mean of 20 tasks in the README, in a hundred."""
_NOT_SCORED = "2-1"


def rescored(setting: str) -> Callable[[Stored], Iterator[Figure]]:
    """The figures of one setting."""

    def figures(stored: Stored) -> Iterator[Figure]:
        folder = stored.folder / "lawbench" / setting
        table = {row["task"]: row for row in rows_of(folder / "results.csv") if row["model_name"] == _MODEL}
        for task in TASKS:
            path = folder / _MODEL / f"{task}.json.gz"
            if task != _NOT_SCORED and path.exists():
                yield from _task(stored, task, document_of(path), table[task])
        mean = 100 * sum(float(row["score"]) for row in table.values()) / len(TASKS)
        yield Figure(f"{setting}, mean of the {len(table)} published task scores", _SETTINGS[setting], mean, 0.005)

    return figures


def _task(stored: Stored, task: str, document: dict[str, dict[str, str]], row: dict[str, str]) -> Iterator[Figure]:
    rows = [document[str(place)] for place in range(len(document))]
    pairs = [
        (Item(f"{task}/{place}", Question("q"), gold={"task": task, "answer": one["refr"]}), Answer(one["prediction"]))
        for place, one in enumerate(rows)
    ]
    marks = stored.mark(BENCHMARK.scoring, pairs)
    scores = [mark["score"].row[0] for mark in marks if isinstance(mark["score"], Measured)]
    yield Figure(f"task {task}, over {len(scores)}", float(row["score"]), sum(scores) / len(scores), _EXACTLY)
    answered = [mark["answered"].row[0] for mark in marks if isinstance(mark["answered"], Measured)]
    if answered:
        share = (len(answered) - sum(answered)) / len(rows)
        yield Figure(f"task {task}, share that abstained", float(row["abstention_rate"]), share, _EXACTLY)


RESCORINGS = tuple(
    Rescoring(
        "lawbench",
        f"open-compass/LawBench@e30981b, predictions/{setting}/GPT4",
        (f"lawbench/{setting}/results.csv", f"lawbench/{setting}/{_MODEL}"),
        rescored(setting),
    )
    for setting in _SETTINGS
)

PROMPTS = (
    Unmatched(
        "lawbench",
        "neither lm-eval nor inspect_evals nor HELM has LawBench; the authors' prompts are in the rows themselves",
    ),
)
