"""PubMedQA: our prompt beside lm-eval's, on abstracts of our own; the peer reads them in another form."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.pubmedqa import BENCHMARK, VERDICTS
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json

ROWS: list[dict[str, Json]] = [
    {
        "pubid": number,
        "question": f"Does dose {number} help?",
        "context": {"contexts": [f"We gave dose {number}.", "We counted who was helped."], "labels": ["METHODS"]},
        "long_answer": "It may.",
        "final_decision": VERDICTS[number % 3],
    }
    for number in range(20)
]


def sides(_: Path) -> Side:
    """The same abstracts on both sides."""
    theirs = [
        {"QUESTION": row["question"], "CONTEXTS": row["context"]["contexts"], "final_decision": row["final_decision"]}
        for row in ROWS
    ]
    return Side({"train": theirs, "validation": theirs, "test": theirs}, render_rows(BENCHMARK, {"test": ROWS}))


PROMPTS = (Rendering("pubmedqa", "pubmedqa/pubmedqa.yaml", sides),)
