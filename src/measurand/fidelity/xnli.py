"""XNLI: our cloze beside lm-eval's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.xnli import LABELS, VARIANTS
from measurand.core.fidelity import Rendering, Side
from measurand.data.stored import rows_of

ASKED = 20


def of(language: str) -> Callable[[Path], Side]:
    """Twenty pairs of the validation split."""

    def sides(folder: Path) -> Side:
        rows = rows_of(folder / "xnli" / f"{language}.dev.tsv.gz")[:ASKED]
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


PROMPTS = tuple(
    Rendering("xnli", f"xnli/xnli_{language}.yaml", of(language), (f"xnli/{language}.dev.tsv.gz",))
    for language in ("sw", "ur")
)
