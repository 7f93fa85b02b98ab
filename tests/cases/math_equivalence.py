"""Theme math-equivalence: are two answers equal, and what does a box hold?"""

from __future__ import annotations

from typing import Any

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found, Measured
from measurand.scoring.maths.reading import BOXED, MATHS_ANSWER
from measurand.scoring.maths.scorers import MATHS_EQUAL


def math_equivalence(case: dict[str, Any]) -> dict[str, Any]:
    item = Item("case", Question(""), gold=case.get("gold"))
    if case["task"] == "extract_boxed":
        finding = BOXED.read(item, Answer(case["response"] or ""))
        return {"boxed": finding.value if isinstance(finding, Found) else None}
    answer = Answer(str(case.get("prediction", case.get("response")) or ""))
    score = MATHS_EQUAL.score(item, MATHS_ANSWER.read(item, answer))
    return {"equal": isinstance(score, Measured) and score.row == (1.0,)}
