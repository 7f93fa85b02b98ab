"""Paloma: the text that is read, beside lm-eval's, on documents of our own, since the data may not be copied."""

from __future__ import annotations

from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.paloma import BENCHMARK
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json

ROWS: list[dict[str, Json]] = [
    {"id": str(number), "source": "c4_en", "subdomain": "c4_en", "text": f" Document {number}.\n\nIt says {number}. \n"}
    for number in range(20)
]


def sides(_: Path) -> Side:
    """The same documents on both sides."""
    return Side({"val": ROWS, "test": ROWS}, render_rows(BENCHMARK, {"test": ROWS}))


PROMPTS = (Rendering("paloma", "paloma/paloma_c4_en.yaml", sides),)
