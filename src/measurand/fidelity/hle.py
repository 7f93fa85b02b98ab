"""Humanity's Last Exam: our prompt beside inspect_evals', on questions of our own, since the data may not be copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measurand.asking import render_rows
from measurand.benchmarks.hle import BENCHMARK, VARIANTS
from measurand.core.benchmark import Benchmark
from measurand.core.fidelity import Rendering, Side
from measurand.core.record import Json

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def _rows(number_of_images: int) -> list[dict[str, Json]]:
    """Twenty questions, some of them about an image."""
    return [
        {
            "id": f"made{number}",
            "question": f"What is {number} more than ten?\nAnswer in words.",
            "image": PIXEL if number < number_of_images else "",
            "answer": str(10 + number),
            "answer_type": "exactMatch",
            "author_name": "nobody",
            "rationale": "none",
            "raw_subject": "Arithmetic",
            "category": "Math",
            "canary": "none: this row is of our own making",
        }
        for number in range(20)
    ]


def of(benchmark: Benchmark, number_of_images: int) -> Callable[[Path], Side]:
    """The same rows on both sides."""

    def sides(_: Path) -> Side:
        rows = _rows(number_of_images)
        return Side({"test": rows}, render_rows(benchmark, {"test": rows}))

    return sides


TASK = "hle/hle -T only_hle_verified_gold=false"

PROMPTS = (
    Rendering("hle", TASK, of(BENCHMARK, 10), peer="inspect-evals"),
    Rendering("hle:text", f"{TASK} -T include_multi_modal=false", of(VARIANTS["text"], 0), peer="inspect-evals"),
)
