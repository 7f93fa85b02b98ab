"""MBPP: stored programs of GPT-4, run again."""

from __future__ import annotations

from collections.abc import Iterator

from measurand.benchmarks.mbpp import VARIANTS
from measurand.core.fidelity import Figure, Rescoring, Stored
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import rows_of

CAUSE = (
    "the flags were made in one process whose globals every program shares; from the program on that defines a function "
    "named sum, none that calls the built-in sum is flagged right"
)


def simple_gpt4(stored: Stored) -> Iterator[Figure]:
    """Tasks of MultiPL-E, whose tests come with a main part of their own that is left out."""
    rows = rows_of(stored.folder / "mbpp/simple_gpt4_mbpp_py.jsonl")
    answers = []
    for row in rows:
        gold = {"prompt": "", "entry_point": row["entry_point"], "test": row["test"].partition("\ndef test_check")[0]}
        answers.append((Item(row["name"], Question(row["prompt"]), gold=gold), Answer(row["solution"])))
    passed = [marks["pass_at_1"] == Measured((1.0,)) for marks in stored.mark(VARIANTS["chat"].scoring, answers)]
    flags = [row["is_solved"] for row in rows]
    yield Figure(f"GPT-4, solved of {len(rows)}", sum(flags), sum(passed), cause=CAUSE, known=324)
    agree = sum(a == b for a, b in zip(passed, flags, strict=True))
    yield Figure("GPT-4, flags that agree", len(rows), agree, cause=CAUSE, known=391)


RESCORINGS = (
    Rescoring(
        "mbpp",
        "noahshinn/reflexion@218cf0e, simple GPT-4",
        ("mbpp/simple_gpt4_mbpp_py.jsonl",),
        simple_gpt4,
        runs_code=True,
    ),
)
