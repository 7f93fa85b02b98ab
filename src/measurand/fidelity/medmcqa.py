"""MedMCQA: our prompt beside lm-eval's, on questions of our own in the form of the hub."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.medmcqa import BENCHMARK, OPTIONS
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json

ROWS: list[dict[str, Json]] = [
    {
        "id": f"made{number}",
        "question": f"Which of these is {number} more than ten?",
        **{name: f"{10 + number + step}" for step, name in enumerate(OPTIONS)},
        "cop": 0,
        "choice_type": "single",
        "exp": None,
        "subject_name": "Arithmetic",
        "topic_name": None,
    }
    for number in range(20)
]


def sides(_: Path) -> Side:
    """The same rows on both sides."""
    return Side({"train": ROWS, "validation": ROWS}, render_rows(BENCHMARK, {"test": ROWS}))


PROMPTS = (Rendering("medmcqa", "medmcqa/medmcqa.yaml", sides),)
