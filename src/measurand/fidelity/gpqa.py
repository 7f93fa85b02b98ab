"""GPQA: our prompts beside those of all three peers, on questions of our own, since the data may not be copied."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.gpqa import BENCHMARK, CANARY, TEXTS, VARIANTS, to_items
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Cause, Rendering, Side
from measurand.core.item import Question
from measurand.core.record import Json
from measurand.fidelity.mmlu import CAPITALS, COMMAS

ROWS: list[dict[str, Json]] = [
    {
        "Question": f"{base} times {factor} is which of these numbers?\n",
        **{name: f"{base * factor + step},  and not less\n" for step, name in enumerate(TEXTS)},
        CANARY: "none: this row is of our own making",
    }
    for base in range(11, 15)
    for factor in range(3, 8)
]
"""Texts with the white space that the official ones have: line breaks at the end, two spaces inside."""

BROKEN = Cause(
    "white space around the question and its options is stripped; simple-evals and inspect_evals show it",
    lambda text: re.sub(r"\n\n(?=A\) )", "\n\n\n", re.sub(r"(?m)^([A-D]\) .*)$", r"\1\n", text)),
)
QUESTION_BROKEN = Cause(
    "white space around the question is stripped; lm-eval shows it, and strips the options",
    lambda text: text.replace("\nChoices:", "\n\nChoices:"),
)
SPACED = Cause(
    "lm-eval makes one space of two in an option",
    lambda text: re.sub(r"(?m)^\([A-D]\) .*$", lambda option: option[0].replace("  ", " "), text),
)


INCORRECT_FIRST = (*TEXTS[1:], TEXTS[0])


EXEMPLARS: list[dict[str, Json]] = [
    {
        "question": f"Which of these numbers is {number} times ten?",
        "choices": {letter: f"{10 * number + step}" for step, letter in enumerate("ABCD")},
        "explanation": f"Ten times {number} is {10 * number}.",
        "correct_answer": "A",
    }
    for number in range(5)
]

UNSHOWN = Cause(
    "five other questions of the set stand before each; they are drawn by another seed, and are left out here",
    lambda text: text[: text.index("Question: ")] + text[text.rindex("Question: ") :],
)
OPENED = Cause("HELM has a space after Choices:", lambda text: text.replace("Choices:\n", "Choices: \n"))


def of(benchmark: Benchmark, order: tuple[str, ...] = TEXTS) -> Callable[[Path], Side]:
    """The peers shuffle the options: they are given them in our order, in the columns that they read first to last."""

    def sides(_: Path) -> Side:
        rows: list[dict[str, Json]] = []
        for item, row in zip(to_items("test", ROWS), ROWS, strict=True):
            assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
            texts = {str(text).strip(): text for text in (row[name] for name in TEXTS)}
            shown = dict(zip(order, (texts[option] for option in item.input.options), strict=True))
            named = {"Record ID": item.id, "High-level domain": "Physics", "Subdomain": "none"}
            rows.append({"Question": row["Question"], **shown, **named})
        sources = {"test": ROWS, "exemplars": EXEMPLARS}
        return Side({"train": rows}, render_rows(benchmark, {name: sources[name] for name in benchmark.task.sources}))

    return sides


LETTERS = VARIANTS["letters"]

PROMPTS = (
    Rendering(
        "gpqa",
        "gpqa/gpqa_diamond -T shuffle_choices=false",
        of(BENCHMARK),
        causes=(COMMAS, CAPITALS, BROKEN),
        peer="inspect-evals",
    ),
    Rendering(
        "gpqa:letters",
        "gpqa/zeroshot/gpqa_diamond_zeroshot.yaml",
        of(LETTERS, INCORRECT_FIRST),
        causes=(QUESTION_BROKEN, SPACED),
    ),
    Rendering(
        "gpqa:letters",
        "gpqa:subset=gpqa_diamond",
        of(LETTERS),
        peer="crfm-helm",
        framed="HELM has the model think before it answers, and has a space before the question",
    ),
    Rendering(
        "gpqa:letters_five_shot",
        "gpqa/n_shot/gpqa_diamond_n_shot.yaml",
        of(VARIANTS["letters_five_shot"], INCORRECT_FIRST),
        causes=(UNSHOWN, QUESTION_BROKEN, SPACED),
    ),
    *(
        Rendering(
            f"gpqa:{name}",
            f"gpqa:subset=gpqa_diamond,use_few_shot=true,use_chain_of_thought={thinking}",
            of(VARIANTS[name]),
            causes=(OPENED,),
            peer="crfm-helm",
            framed=f"HELM's exemplars are rows of the set that are not among these twenty, so it shows none here, and {other}",
        )
        for name, thinking, other in (
            (
                "five_shot",
                "false",
                "it ends with the opening of the answer, where the authors say in words how to give it",
            ),
            ("cot_five_shot", "true", "it has no system message"),
        )
    ),
)
