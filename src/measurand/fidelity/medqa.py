"""MedQA: letters that ten models chose, counted again against our reading of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.medqa import BENCHMARK, LETTERS, VARIANTS, to_items
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored
from measurand.core.outcome import Answer
from measurand.core.trial import Measured
from measurand.data.stored import document_of, rows_of
from measurand.fidelity.mmlu import ONLY_LETTER
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


_DATA = "medqa/medqa_usmle_4opt_test_1273.jsonl"


def letters(folder: Path) -> Side:
    """Twenty questions; the peer reads them in another form of the same rows."""
    rows = rows_of(folder / _DATA)[:20]
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


def helm(folder: Path) -> Side:
    """Twenty questions in the files of the authors, and some others for HELM to draw its exemplars from."""
    rows = [
        {name: row[name] for name in ("question", "answer", "options", "meta_info", "answer_idx")}
        for row in rows_of(folder / _DATA)
    ]
    files = {"train": rows[20:40], "dev": [], "test": rows[:20]}
    named = {f"data_clean/questions/US/4_options/phrases_no_exclude_{part}.jsonl": some for part, some in files.items()}
    return Side(named, render_rows(BENCHMARK, {"test": rows[:20]}))


def thinking(folder: Path) -> Side:
    """Twenty questions; the peer reads them in the form of BigBIO."""
    rows = rows_of(folder / _DATA)[:20]
    theirs = [
        {
            "id": str(place),
            "question": row["question"],
            "choices": list(row["options"].values()),
            "answer": [row["options"][row["answer_idx"]]],
        }
        for place, row in enumerate(rows)
    ]
    return Side({"test": theirs}, render_rows(VARIANTS["cot"], {"test": rows}))


STRAY = Cause(
    "some options of the data end with a stray line break and quote; HELM strips these, lm-eval and we do not",
    lambda text: re.sub(r'\n"(?=\n)', "", text),
)

PROMPTS = (
    Rendering("medqa", "medqa/medqa.yaml", letters, (_DATA,)),
    Rendering(
        "medqa",
        "med_qa",
        helm,
        (_DATA,),
        shots=5,
        causes=(STRAY,),
        peer="crfm-helm",
        framed="HELM has an instruction and five exemplars of the training set before the question, and has the letter written",
    ),
    Rendering("medqa:cot", "medqa/medqa", thinking, (_DATA,), peer="inspect-evals", framed=ONLY_LETTER),
)
