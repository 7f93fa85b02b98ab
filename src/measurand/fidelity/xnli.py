"""XNLI: our cloze beside lm-eval's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.xnli import CLOZE, LABELS, VARIANTS
from measurand.core.fidelity import Rendering, Side, Unmatched
from measurand.core.record import Json
from measurand.data.stored import rows_of

ASKED = 20
STORED = {language: f"xnli/{language}.dev.tsv.gz" for language in ("sw", "ur")}
"""The languages of which pairs are stored; those of the others are of our own making."""


def of(language: str) -> Callable[[Path], Side]:
    """Twenty pairs of the validation split."""

    def sides(folder: Path) -> Side:
        rows = rows_of(folder / STORED[language])[:ASKED] if language in STORED else _made(language)
        theirs = [
            {
                "premise": row[f"sentence1_{language}"],
                "hypothesis": row[f"sentence2_{language}"],
                "label": LABELS.index(row["label"]),
            }
            for row in rows
        ]
        return Side({"train": theirs, "validation": theirs}, render_rows(VARIANTS["cloze"], {"validation": rows}))

    return sides


def _made(language: str) -> list[dict[str, Json]]:
    """Pairs of numbers and signs, which every language has."""
    return [
        {
            "label": LABELS[number % 3],
            f"sentence1_{language}": f"{number} + 1 = {number + 1}.",
            f"sentence2_{language}": f"{number} < {number + number % 3}.",
        }
        for number in range(ASKED)
    ]


PROMPTS: tuple[Rendering | Unmatched, ...] = (
    *(
        Rendering(
            "xnli:cloze",
            f"xnli/xnli_{language}.yaml",
            of(language),
            tuple(file for one, file in STORED.items() if one == language),
        )
        for language in CLOZE
    ),
    Unmatched(
        "xnli", "the pairs in 15 languages, asked for in English; HELM asks in Thai and in Vietnamese, of these alone"
    ),
)
