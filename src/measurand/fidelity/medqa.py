"""MedQA: letters that ten models chose, counted again against our reading of the data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.medqa import BENCHMARK, LETTERS, to_items
from measurand.core.fidelity import Figure, Rendering, Rescoring, Side, Stored
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import document_of, rows_of
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.letters import CHOICE

COUNTED = {
    "o3-mini": 1180,
    "DeepSeek-R1": 1171,
    "o1-mini": 1144,
    "gpt-4o": 1118,
    "DeepSeek-V3": 1009,
    "claude-3-5-sonnet": 989,
    "Llama-3.3-70B-Instruct-Turbo": 978,
    "gpt-4o-mini": 934,
    "QwQ-32B-Preview": 908,
    "claude-3-5-haiku": 807,
}
"""Right letters of 1,273, as counted beside the outputs; the paper's own table was not to be had."""


def zero_shot(stored: Stored) -> Iterator[Figure]:
    """The golds are those of the data set; the stored ones must be the same."""
    items = to_items("test", rows_of(stored.folder / "medqa/medqa_usmle_4opt_test_1273.jsonl"))
    runs = document_of(stored.folder / "medqa/medagents_predictions_compact.json")
    for model, counted in COUNTED.items():
        answers = runs[f"{model}-medqa-test-zero_shot"]
        right = golds = 0
        for place, gold, letter in answers:
            golds += gold == items[place].gold
            right += CHOICE_SCORE.score(items[place], CHOICE.read(items[place], Answer(str(letter)))) == Measured(
                (1.0,)
            )
        yield Figure(f"{model}, right of {len(answers):,}", counted, right)
        yield Figure(f"{model}, stored golds that are the data set's", len(answers), golds)


RESCORINGS = (
    Rescoring(
        "medqa",
        "gersteinlab/medagents-benchmark@f5e50b6, counted",
        ("medqa/medqa_usmle_4opt_test_1273.jsonl", "medqa/medagents_predictions_compact.json"),
        zero_shot,
    ),
)


def letters(folder: Path) -> Side:
    """Twenty questions; the peer reads them in another form of the same rows."""
    rows = rows_of(folder / "medqa/medqa_usmle_4opt_test_1273.jsonl")[:20]
    theirs = [
        {
            "sent1": row["question"],
            **{f"ending{place}": row["options"][letter] for place, letter in enumerate(LETTERS)},
            "label": LETTERS.index(row["answer_idx"]),
        }
        for row in rows
    ]
    splits = {"train": theirs, "validation": theirs, "test": theirs}
    return Side(splits, render_rows(BENCHMARK, {"test": rows}))


PROMPTS = (Rendering("medqa", "medqa/medqa.yaml", letters, ("medqa/medqa_usmle_4opt_test_1273.jsonl",)),)
