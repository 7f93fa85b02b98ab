"""Theme numeric-extraction: what number does a reply give, and is it the gold?"""

from __future__ import annotations

from typing import Any

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found, Measured
from measurand.scoring import NUMBER, numeric


def numeric_extraction(case: dict[str, Any]) -> dict[str, Any]:
    item = Item("case", Question(""), gold=case.get("gold"), language=case.get("language", ""))
    finding = NUMBER.read(item, Answer(case["response"]))
    scorer = numeric(relative=case.get("relative", 0), absolute=case.get("tolerance", 0))
    score = scorer.score(item, finding)
    return {
        "extracted": finding.value if isinstance(finding, Found) else None,
        "correct": isinstance(score, Measured) and score.row[0] == 1.0,
    }
