"""Theme em-f1: exact match, containment and F1 of a text answer."""

from __future__ import annotations

from typing import Any

from measurand.core.benchmark import Reader, Scorer
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found, Measured
from measurand.scoring import (
    BEFORE_NEXT_QUESTION,
    CONTAINS,
    DROP,
    EXACT,
    EXACT_STRICT,
    FIRST_LINE,
    TOKEN_F1,
)
from tests.cases.reasoning_output import lint_stop_sequences


def em_f1(case: dict[str, Any]) -> dict[str, Any]:
    if case.get("task") == "lint_stop_sequences":
        return lint_stop_sequences(case)
    item = Item("case", Question(""), gold=case.get("golds", []), language=case.get("language", ""))
    reader = FIRST_LINE if case.get("first_line_only") else BEFORE_NEXT_QUESTION
    answer = Answer(case["prediction"] or "")
    if case.get("metric") == "drop":
        return drop(item, reader, answer, case.get("prediction_spans"))

    def value(scorer: Scorer) -> float | None:
        score = scorer.score(item, reader.read(item, answer))
        return score.row[0] if isinstance(score, Measured) else None

    return {
        "em": value(EXACT),
        "em_quasi": value(EXACT),
        "em_strict": value(EXACT_STRICT),
        "contains": value(CONTAINS),
        "fuzzy": value(CONTAINS),
        "f1": value(TOKEN_F1),
    }


def drop(item: Item, reader: Reader, answer: Answer, spans: list[str] | None) -> dict[str, Any]:
    finding = Found(spans) if spans is not None else reader.read(item, answer)
    score = DROP.score(item, finding)
    em, f1 = score.row if isinstance(score, Measured) else (None, None)
    return {"em": em, "f1": f1}
