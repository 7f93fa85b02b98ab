"""Global-MMLU: our prompt beside lm-eval's, on questions of our own in the form of the hub."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.global_mmlu import VARIANTS
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json
from measurand.fidelity.mmlu import CLOSE, DOTS, ENDS

ROWS: list[dict[str, Json]] = [
    {
        "sample_id": f"anatomy/test/{number}",
        "subject": "anatomy",
        "subject_category": "STEM",
        "question": f"{number} + 10 = ? ",
        **{f"option_{letter}": str(10 + number + step) for step, letter in enumerate("abcd")},
        "answer": "A",
        "cultural_sensitivity_label": "-",
        "is_annotated": False,
    }
    for number in range(20)
]


def sides(_: Path) -> Side:
    """The same rows on both sides."""
    return Side({"test": ROWS, "dev": ROWS}, render_rows(VARIANTS["am"], {"test": ROWS}))


PROMPTS = (
    Rendering(
        "global_mmlu:am",
        "global_mmlu/full/am/global_mmlu_full_am_anatomy.yaml",
        sides,
        causes=(DOTS, CLOSE, ENDS),
        framed="lm-eval takes the likeliest letter and has no instruction; we ask in chat by simple-evals' template",
    ),
)
