"""GSM8K: OpenAI's example solutions and ToRA's outputs, read and scored again."""

from __future__ import annotations

from collections.abc import Iterator

from measurand.core.fidelity import Figure, Rescoring, Stored
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import rows_of
from measurand.scoring.numbers import NUMERIC, marked_number

OPENAI = {"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742}
"""Right solutions of 1,319, by the flags that are stored beside them."""

READER = marked_number("A:")


def openai(stored: Stored) -> Iterator[Figure]:
    """The number after the last "A:" of each solution, compared by value."""
    rows = rows_of(stored.folder / "gsm8k/example_model_solutions.jsonl")
    items = [
        Item(str(place), Question(row["question"]), gold=row["ground_truth"].rpartition("A: ")[2])
        for place, row in enumerate(rows)
    ]
    for name, published in OPENAI.items():
        right = agreeing = 0
        for item, row in zip(items, rows, strict=True):
            value = NUMERIC.score(item, READER.read(item, Answer(row[name]["solution"])))
            correct = value == Measured((1.0,))
            right += correct
            agreeing += correct == row[name]["is_correct"]
        model, method = name.split("_")
        yield Figure(f"{model.upper()} after {method}, right of {len(rows):,}", published, right)
        yield Figure(f"{model.upper()} after {method}, flags that agree", len(rows), agreeing)


RESCORINGS = (
    Rescoring(
        "gsm8k",
        "openai/grade-school-math@3101c7d, example_model_solutions",
        ("gsm8k/example_model_solutions.jsonl",),
        openai,
    ),
)
