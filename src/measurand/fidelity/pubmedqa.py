"""PubMedQA: our prompts beside those of lm-eval and inspect_evals, on abstracts of our own."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.pubmedqa import BENCHMARK, VARIANTS, VERDICTS
from measurand.core.fidelity import Cause, Rendering, Side
from measurand.core.record import Json

TESTED = (
    12377809, 26163474, 19100463, 18537964, 12913878, 12765819, 25475395, 19130332, 9427037, 24481006,
    8165771, 22680064, 22540518, 20629769, 21726930, 21481154, 22902073, 26370095, 18041059, 15041506,
)  # fmt: skip
"""Abstracts of the official test split, by number: inspect_evals leaves out all others."""

ROWS: list[dict[str, Json]] = [
    {
        "pubid": pubid,
        "question": f"Does it help to give a dose of {number}?",
        "context": {"contexts": [f"{number} doses were given.", "We counted who was helped."], "labels": ["METHODS"]},
        "long_answer": "It may.",
        "final_decision": VERDICTS[number % 3],
    }
    for number, pubid in enumerate(TESTED)
]


def sides(_: Path) -> Side:
    """The same abstracts on both sides."""
    theirs = [
        {"QUESTION": row["question"], "CONTEXTS": row["context"]["contexts"], "final_decision": row["final_decision"]}
        for row in ROWS
    ]
    return Side({"train": theirs, "validation": theirs, "test": theirs}, render_rows(BENCHMARK, {"test": ROWS}))


def chat(_: Path) -> Side:
    """The same rows on both sides."""
    return Side({"train": ROWS}, render_rows(VARIANTS["chat"], {"test": ROWS}))


def _parts(text: str) -> tuple[str, str, str]:
    """Our instruction, the abstract and the question."""
    instruction, _, shown = text.partition("\n\n")
    abstract, _, question = shown.rpartition("\n\n")
    return instruction, abstract, question


def _joined(text: str) -> str:
    instruction, abstract, question = _parts(text)
    return "\n\n".join((instruction, abstract.replace("\n", " "), question))


def _marked(text: str) -> str:
    instruction, abstract, question = _parts(text)
    return f"{instruction}\n\n**Context:** {abstract}\n\n**Question:** {question}"


CAUSES = (
    Cause("the parts of an abstract are paragraphs; inspect_evals joins them by spaces", _joined),
    Cause("inspect_evals marks what is context and what is question", _marked),
)

PROMPTS = (
    Rendering("pubmedqa", "pubmedqa/pubmedqa.yaml", sides),
    Rendering(
        "pubmedqa:chat",
        "pubmedqa/pubmedqa",
        chat,
        causes=CAUSES,
        peer="inspect-evals",
        framed="inspect_evals asks for the letter of yes, no or maybe, in words of its own; we for the word",
    ),
)
