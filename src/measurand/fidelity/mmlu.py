"""MMLU: the official counts of the data, and our prompts beside those of lm-eval and inspect_evals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.mmlu import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored, Unmatched
from measurand.core.record import Json
from measurand.data import open_data
from measurand.data.stored import rows_of

ASKED = 20
"""Questions of each subject."""

SUBJECTS = ("anatomy", "formal_logic", "nutrition")

CAUSES = (
    Cause(
        "the official code puts a space before every word of the subject, so two stand after about; lm-eval one",
        lambda text: text.replace("(with answers) about  ", "(with answers) about ", 1),
    ),
    Cause(
        "lm-eval strips white space around the question, the official code does not",
        lambda text: re.sub(r"\s+\nA\. ", "\nA. ", re.sub(r"\n\n[ \t]+(?=\S)", "\n\n", text)),
    ),
)

CONTINUED = Cause(
    "the head of our prompt says multiple choice, as the official one; lm-eval's says questions",
    lambda text: text.replace("The following are multiple choice questions", "The following are questions", 1),
)
COMMAS = Cause(
    "our template is simple-evals', which names the letters in a row; inspect_evals with commas",
    lambda text: re.sub(r"(?<=LETTER is one of )[A-Z]+(?=\.)", lambda letters: ",".join(letters[0]), text, count=1),
)
CAPITALS = Cause(
    "it asks for Answer: and the letter; inspect_evals for ANSWER:",
    lambda text: text.replace("'Answer: $LETTER'", "'ANSWER: $LETTER'", 1),
)
BRACKETS = Cause("our options are lettered A., theirs A)", lambda text: re.sub(r"(?m)^([A-Z])\. ", r"\1) ", text))
DOTS = Cause("our options are lettered A), theirs A.", lambda text: re.sub(r"(?m)^([A-Z])\) ", r"\1. ", text))
CLOSE = Cause(
    "an empty line parts question and options; theirs has none",
    lambda text: re.sub(r"\n\n(?=A[.)] )", "\n", text),
)
ENDS = Cause(
    "lm-eval strips white space around the question, we do not",
    lambda text: re.sub(r"[ \t]+(?=\nA\. )", "", text),
)
ONLY_LETTER = "inspect_evals asks for nothing but the letter, in words of its own"


def _hub_rows(path: Path, subject: str) -> list[dict[str, Json]]:
    """The rows of a subject's CSV file in the hub's form."""
    return [
        {
            "question": row["question"],
            "subject": subject,
            "choices": [row[f"choice{place}"] for place in range(4)],
            "answer": int(row["answer"]),
        }
        for row in rows_of(path)
    ]


def of(subject: str, benchmark: Benchmark = BENCHMARK) -> Callable[[Path], Side]:
    """Twenty questions of a subject, with its dev set before them where exemplars are shown."""

    def sides(folder: Path) -> Side:
        splits = {
            split: _hub_rows(folder / "mmlu" / split / f"{subject}_{split}.csv", subject)[:limit]
            for split, limit in (("test", ASKED), ("dev", None))
        }
        return Side(splits, render_rows(benchmark, splits))

    return sides


_FILES = ("mmlu/test/anatomy_test.csv", "mmlu/dev/anatomy_dev.csv")

PROMPTS: tuple[Rendering | Unmatched, ...] = (
    *(
        Rendering(
            "mmlu",
            f"mmlu/default/mmlu_{subject}.yaml",
            of(subject),
            (f"mmlu/test/{subject}_test.csv", f"mmlu/dev/{subject}_dev.csv"),
            shots=5,
            causes=CAUSES,
        )
        for subject in SUBJECTS
    ),
    Rendering(
        "mmlu:text",
        "mmlu/continuation/mmlu_anatomy.yaml",
        of("anatomy", VARIANTS["text"]),
        _FILES,
        shots=5,
        causes=(CONTINUED, *CAUSES),
    ),
    Rendering(
        "mmlu:cot",
        "mmlu/mmlu_0_shot -T cot=true -T shuffle=false",
        of("anatomy", VARIANTS["cot"]),
        _FILES,
        causes=(COMMAS, CAPITALS),
        peer="inspect-evals",
    ),
    Rendering(
        "mmlu:generate",
        "mmlu/mmlu_0_shot -T shuffle=false",
        of("anatomy", VARIANTS["generate"]),
        _FILES,
        causes=(BRACKETS,),
        peer="inspect-evals",
        framed=ONLY_LETTER,
    ),
    Unmatched(
        "mmlu:pmi", "the prompt of mmlu:text, and then each option after Answer: alone; lm-eval has no such premise"
    ),
)

COUNTS = {"humanities": 4705, "social sciences": 3077, "STEM": 3018, "other (business, health, misc.)": 3242}
"""Test questions of each official category."""


def counts(stored: Stored) -> Iterator[Figure]:
    """57 subjects are 17 subcategories are 4 categories."""
    data = open_data({"mmlu": str(stored.folder / "mmlu")}, offline=True)
    items = to_items("test", data.rows("mmlu:test", BENCHMARK.task.sources["test"]).rows)
    found = Counter(item.slices["category"] for item in items)
    for category, count in COUNTS.items():
        yield Figure(f"questions of {category}", count, found[category])
    for name, count in {"subject": 57, "subcategory": 17, "category": 4}.items():
        yield Figure(f"values of {name}", count, len({item.slices[name] for item in items}))


RESCORINGS = (Rescoring("mmlu", "hendrycks/test@4450500, categories.py", ("mmlu/test",), counts),)
