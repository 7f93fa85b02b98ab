"""GSM8K: OpenAI's example solutions and ToRA's outputs, read and scored again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.gsm8k import BENCHMARK, VARIANTS
from measurand.core.benchmark import Scorer
from measurand.core.fidelity import Figure, Rendering, Rescoring, Side, Stored
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found, Measured
from measurand.data.stored import rows_of
from measurand.scoring.numbers import NUMERIC, marked_number, numeric

OPENAI = {"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742}
"""Right solutions of 1,319, by the flags that are stored beside them."""

READER = marked_number("A:")


def openai(stored: Stored) -> Iterator[Figure]:
    """The number after the last "A:" of each solution, compared by value."""
    rows = rows_of(stored.folder / "gsm8k/example_model_solutions.jsonl")
    items = [
        Item(str(place), Question(row["question"]), gold=row["ground_truth"].rpartition("A: ")[2])
        for place, row in enumerate(rows)
    ]
    for name, published in OPENAI.items():
        right = agreeing = 0
        for item, row in zip(items, rows, strict=True):
            value = NUMERIC.score(item, READER.read(item, Answer(row[name]["solution"])))
            correct = value == Measured((1.0,))
            right += correct
            agreeing += correct == row[name]["is_correct"]
        model, method = name.split("_")
        yield Figure(f"{model.upper()} after {method}, right of {len(rows):,}", published, right)
        yield Figure(f"{model.upper()} after {method}, flags that agree", len(rows), agreeing)


TORA_70B, TORA_34B = "gsm8k/tora/tora-70b-v1.0.jsonl", "gsm8k/tora/tora-code-34b-v1.0.jsonl"
TOLERANCE = numeric(relative="0.0001")
TOLERANCE_AND_PERCENT = numeric(relative="0.0001", percent=True)


def tora_70b(stored: Stored) -> Iterator[Figure]:
    """What the programs of ToRA-70B printed, with ToRA's tolerance and as strings."""
    pairs = _printed(stored, TORA_70B)
    yield Figure(f"ToRA-70B, right of {len(pairs):,} within 0.0001", 1112, _right(TOLERANCE, pairs))
    yield Figure(f"ToRA-70B, right of {len(pairs):,} as strings", 1102, sum(item.gold == text for item, text in pairs))
    yield Figure("ToRA-70B, right by our exact rule", None, _right(NUMERIC, pairs))


def tora_34b(stored: Stored) -> Iterator[Figure]:
    """ToRA's checker takes a hundredth and a hundredfold of the gold for right too; that moves two items."""
    pairs = _printed(stored, TORA_34B)
    what = f"ToRA-Code-34B, right of {len(pairs):,} within 0.0001"
    yield Figure(f"{what}, or a hundredth or hundredfold", 1064, _right(TOLERANCE_AND_PERCENT, pairs))
    yield Figure(what, 1062, _right(TOLERANCE, pairs))


def _printed(stored: Stored, name: str) -> list[tuple[Item, str]]:
    rows = rows_of(stored.folder / name)
    return [(Item(str(row["idx"]), Question(row["question"]), gold=row["gt"]), str(row["pred"][0])) for row in rows]


def _right(scorer: Scorer, pairs: Sequence[tuple[Item, str]]) -> int:
    return sum(scorer.score(item, Found(text)) == Measured((1.0,)) for item, text in pairs)


RESCORINGS = (
    Rescoring("gsm8k", "microsoft/ToRA@213c1c9, src/outputs", (TORA_70B,), tora_70b),
    Rescoring("gsm8k", "microsoft/ToRA@213c1c9, src/outputs", (TORA_34B,), tora_34b),
    Rescoring(
        "gsm8k",
        "openai/grade-school-math@3101c7d, example_model_solutions",
        ("gsm8k/example_model_solutions.jsonl",),
        openai,
    ),
)


def chain_of_thought(folder: Path) -> Side:
    """Twenty questions after the eight exemplars of Wei et al."""
    rows = rows_of(folder / "gsm8k/test.jsonl")[:20]
    return Side({"test": rows, "train": rows}, render_rows(BENCHMARK, {"test": rows}))


def chat(folder: Path) -> Side:
    """Twenty questions without exemplars."""
    rows = rows_of(folder / "gsm8k/test.jsonl")[:20]
    return Side({"test": rows}, render_rows(VARIANTS["chat"], {"test": rows}))


def helm(folder: Path) -> Side:
    """Twenty questions, and some others for HELM to draw its exemplars from."""
    rows = rows_of(folder / "gsm8k/test.jsonl")
    files = {"gsm_data_train": rows[20:40], "gsm_data_test": rows[:20]}
    return Side(files, render_rows(BENCHMARK, {"test": rows[:20]}))


_TEST = ("gsm8k/test.jsonl",)

PROMPTS = (
    Rendering("gsm8k", "gsm8k/gsm8k-cot.yaml", chain_of_thought, _TEST, shots=8),
    Rendering(
        "gsm8k",
        "gsm",
        helm,
        _TEST,
        shots=5,
        peer="crfm-helm",
        framed="the exemplars differ: HELM shows five of the training set, we the eight of Wei et al.",
    ),
    Rendering(
        "gsm8k:chat",
        "gsm8k/gsm8k -T fewshot=0",
        chat,
        _TEST,
        peer="inspect-evals",
        framed="inspect_evals asks for ANSWER: in words of its own, before and after the problem; we for ####, before it",
    ),
)
