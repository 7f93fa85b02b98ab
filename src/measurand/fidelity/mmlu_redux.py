"""MMLU-Redux: letters that HELM's models chose, scored again by MMLU's own labels."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from measurand.core.fidelity import Figure, Rescoring, Stored
from measurand.core.item import Item, Question
from measurand.core.trial import Found, Measured
from measurand.data.stored import rows_of
from measurand.scoring.choosing import CHOICE_SCORE

FOLDER = "mmlu_redux_helm"

COUNTED = {
    "anthropic_claude-3-5-sonnet-20240620": 4929,
    "anthropic_claude-3-opus-20240229": 4812,
    "openai_gpt-4o-2024-05-13": 4788,
    "openai_gpt-4-0613": 4715,
    "mistralai_mistral-large-2407": 4549,
}
"""Right letters of 5,700, as counted beside the outputs; nobody else published them."""

ERRORS = 370
"""Questions of 5,700 that the checkers marked, which is the published 6.49 in a hundred."""


def right(rows: list[dict[str, str]], model: str) -> int:
    """How many of a model's letters are the gold."""
    count = 0
    for place, row in enumerate(rows):
        item = Item(str(place), Question(row["question"], tuple(ast.literal_eval(row["choices"]))))
        gold = int(row["groundtruth_answer"])
        item = Item(item.id, item.input, gold=gold)
        count += CHOICE_SCORE.score(item, Found(row[model])) == Measured((1.0,))
    return count


def published(stored: Stored) -> Iterator[Figure]:
    """The row Overall of each subject, for each model. One subject is published with a stray colon in its name."""
    cells: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    for row in rows_of(stored.folder / FOLDER / "concat_all_subjects_EM_per_error.csv.gz"):
        if row["Condition"] != "Overall" or row["Subject"] == "All":
            continue
        kind = "the subject named with a colon" if row["Subject"].endswith(":") else "29 subjects"
        subject = row["Subject"].strip(":").lower().replace(" ", "_")
        answers = rows_of(stored.folder / FOLDER / "analyses" / f"{subject}.csv.gz")
        for column in (name for name in row if name.endswith("_correct")):
            ours = right(answers, column.removesuffix("_correct")) / len(answers)
            cells[kind] += 1
            equal[kind] += abs(ours - float(row[column])) < 1e-9  # noqa: PLR2004  shares of 100, written as floats
    for kind, count in cells.items():
        yield Figure(f"accuracies by model that agree, {kind}", count, equal[kind])


def counted(stored: Stored) -> Iterator[Figure]:
    """All 57 subjects."""
    rows = rows_of(stored.folder / FOLDER / "multi_expert_helm_all.csv.gz")
    for model, count in COUNTED.items():
        yield Figure(f"{model}, right of {len(rows):,}", count, right(rows, model))
    marked = sum(row["error_type"] != "ok" for row in rows)
    yield Figure("questions marked as faulty, in a hundred", 6.49, 100 * marked / len(rows), 0.005)


_SOURCE = "aryopg/mmlu-redux@4563cfa"
RESCORINGS = (
    Rescoring(
        "mmlu_redux",
        f"{_SOURCE}, EM per error",
        (f"{FOLDER}/concat_all_subjects_EM_per_error.csv.gz", f"{FOLDER}/analyses"),
        published,
    ),
    Rescoring("mmlu_redux", f"{_SOURCE}, counted", (f"{FOLDER}/multi_expert_helm_all.csv.gz",), counted),
)
