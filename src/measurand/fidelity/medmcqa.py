"""MedMCQA: our prompts beside those of lm-eval and HELM, on questions of our own in the form of the hub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.medmcqa import BENCHMARK, OPTIONS, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Cause, Rendering, Side
from measurand.core.record import Json
from measurand.fidelity.mmlu import CLOSE, DOTS

ROWS: list[dict[str, Json]] = [
    {
        "id": f"made{number}",
        "question": f"{number} more than ten is which of these? ",
        **{name: f"{10 + number + step} " for step, name in enumerate(OPTIONS)},
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


def helm(benchmark: Benchmark) -> Callable[[Path], Side]:
    """The same rows in the files of the authors, who count the right option from 1."""
    counted = [{**row, "cop": 1} for row in ROWS]
    return lambda _: Side({"train.json": [], "dev.json": counted}, render_rows(benchmark, {"test": ROWS}))


UNHEADED = Cause(
    "lm-eval's Choices: heads the options, and ours; not HELM's", lambda text: text.replace("\nChoices:", "", 1)
)

PROMPTS = (
    Rendering("medmcqa", "medmcqa/medmcqa.yaml", sides),
    Rendering(
        "medmcqa",
        "med_mcqa",
        helm(BENCHMARK),
        causes=(UNHEADED,),
        peer="crfm-helm",
        framed="HELM has an instruction before the question, and has the letter written",
    ),
    Rendering(
        "medmcqa:cot",
        "med_mcqa",
        helm(VARIANTS["cot"]),
        causes=(DOTS, CLOSE),
        peer="crfm-helm",
        framed="HELM asks for nothing but the letter, in words of its own",
    ),
)
