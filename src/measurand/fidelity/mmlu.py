"""MMLU: the official counts of the data, and our prompts beside lm-eval's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.mmlu import BENCHMARK, to_items
from measurand.core.fidelity import Cause, Figure, Rendering, Rescoring, Side, Stored
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


def of(subject: str) -> Callable[[Path], Side]:
    """Twenty questions of a subject, with its dev set before them."""

    def sides(folder: Path) -> Side:
        splits = {
            split: _hub_rows(folder / "mmlu" / split / f"{subject}_{split}.csv", subject)[:limit]
            for split, limit in (("test", ASKED), ("dev", None))
        }
        return Side(splits, render_rows(BENCHMARK, splits))

    return sides


PROMPTS = tuple(
    Rendering(
        "mmlu",
        f"mmlu/default/mmlu_{subject}.yaml",
        of(subject),
        (f"mmlu/test/{subject}_test.csv", f"mmlu/dev/{subject}_dev.csv"),
        shots=5,
        causes=CAUSES,
    )
    for subject in SUBJECTS
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
