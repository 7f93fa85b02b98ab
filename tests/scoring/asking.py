"""Short ways to read and score in tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from measurand.core.benchmark import Reader, Scorer
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Finding, Found, Measured

CORPUS = Path(__file__).parent / "corpus"


def rows(name: str) -> list[dict[str, Any]]:
    """The labelled replies of one corpus."""
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def item(row: dict[str, Any], gold: Any = None) -> Item:
    if "prompt" in row:
        gold = {"prompt": row["prompt"], "entry_point": row["entry_point"], "test": "def check(candidate): ..."}
    return Item("x", Question("q", tuple(row.get("options", ()))), gold=gold, language=row.get("language", ""))


def answer(row: dict[str, Any]) -> Answer:
    return Answer(row.get("text", ""), values=tuple(row.get("values", ())))


def read(reader: Reader, text: str, *options: str, language: str = "") -> Finding:
    return reader.read(item({"options": options, "language": language}), Answer(text))


def value(reader: Reader, text: str, *options: str, language: str = "") -> Any:
    """What was found, or None."""
    finding = read(reader, text, *options, language=language)
    return finding.value if isinstance(finding, Found) else None


def points(scorer: Scorer, given: Any, gold: Any, *options: str, language: str = "") -> tuple[float, ...]:
    """The row of a finding against a gold."""
    score = scorer.score(item({"options": options, "language": language}, gold), Found(given))
    assert isinstance(score, Measured), score
    return score.row
