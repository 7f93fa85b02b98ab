"""GPQA: our prompt beside lm-eval's, on questions of our own, since the data may not be copied."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.gpqa import CANARY, TEXTS, VARIANTS, to_items
from measurand.core.fidelity import Rendering, Side
from measurand.core.item import Question
from measurand.core.record import Json

ROWS: list[dict[str, Json]] = [
    {
        "Question": f"Which of these numbers is {base} times {factor}?",
        **{name: f"{base * factor + step}" for step, name in enumerate(TEXTS)},
        CANARY: "none: this row is of our own making",
    }
    for base in range(11, 15)
    for factor in range(3, 8)
]


def sides(_: Path) -> Side:
    """Their task shuffles the options without a seed: it is given them in our order, and shuffles nothing."""
    rows: list[dict[str, Json]] = []
    for item in to_items("test", ROWS):
        assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
        first, second, third, last = item.input.options
        names = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3", "Correct Answer")
        rows.append({"Question": item.input.text, **dict(zip(names, (first, second, third, last), strict=True))})
    return Side({"train": rows}, render_rows(VARIANTS["letters"], {"test": ROWS}))


PROMPTS = (Rendering("gpqa", "gpqa/zeroshot/gpqa_diamond_zeroshot.yaml", sides),)
