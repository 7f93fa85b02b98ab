"""Theme arc-grid: which grid does a reply give, and how do two attempts at each test input count?"""

from __future__ import annotations

import json
from typing import Any

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found, Measured
from measurand.scoring.grids import ATTEMPTED_GRIDS, TASK_MEAN, WHOLE_TASK, attempts_text, read_grid, solved


def arc_grid(case: dict[str, Any]) -> dict[str, Any]:
    return {"grid": read_grid(case["response"] or "")} if case["task"] == "parse_grid" else score(case)


def score(case: dict[str, Any]) -> dict[str, Any]:
    golds = case["gold"]
    replies = [[json.dumps(attempt) for attempt in each or []] for each in case["attempts"]]
    item = Item("case", Question(""), gold=golds)
    finding = ATTEMPTED_GRIDS.read(item, Answer(attempts_text(replies)))
    pairs = solved(finding.value if isinstance(finding, Found) else [], golds)
    mean, whole = (scorer.score(item, finding) for scorer in (TASK_MEAN, WHOLE_TASK))
    assert isinstance(mean, Measured)
    assert isinstance(whole, Measured)
    return {"pairs": [int(each) for each in pairs], "task_score": mean.row[0], "whole_task": whole.row[0]}
