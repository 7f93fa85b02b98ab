"""MMMLU: our prompt beside those of all three peers, on questions of our own in the form of the hub."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.mmmlu import VARIANTS
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json
from measurand.fidelity.mmlu import CAPITALS, CLOSE, COMMAS, DOTS, ENDS

LOCALE = "FR-FR"
ROWS: list[dict[str, Json]] = [
    {
        "Question": f"{number} et dix font combien ? ",
        **{letter: str(10 + number + step) for step, letter in enumerate("ABCD")},
        "Answer": "A",
        "Subject": "anatomy",
    }
    for number in range(20)
]


def sides(_: Path) -> Side:
    """The same rows on both sides."""
    return Side({"test": ROWS}, render_rows(VARIANTS[LOCALE], {"test": ROWS}))


NAME = f"mmmlu:{LOCALE}"

PROMPTS = (
    Rendering(
        NAME,
        "mmlu/mmlu_0_shot -T language=FR_FR -T cot=true -T shuffle=false",
        sides,
        causes=(COMMAS, CAPITALS),
        peer="inspect-evals",
    ),
    Rendering(
        NAME,
        "openai-mmmlu/default/mmmlu_fr_fr_anatomy.yaml",
        sides,
        causes=(DOTS, CLOSE, ENDS),
        framed="lm-eval takes the likeliest letter, after a head that names the subject; we ask in chat by simple-evals' template",
    ),
    Rendering(
        NAME,
        "mmmlu:locale=FR_FR,subject=anatomy",
        sides,
        causes=(DOTS, CLOSE),
        peer="crfm-helm",
        framed="HELM asks for nothing but the letter, in words of its own",
    ),
)
