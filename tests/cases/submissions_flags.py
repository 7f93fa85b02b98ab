"""Theme submissions-flags: what is handed in is graded whole, ranked where it has a score, or is the flag."""

from __future__ import annotations

import math
from typing import Any

from measurand.core.errors import InputError
from measurand.scoring.submissions import has_flag, invalid, ranked
from measurand.stats.metrics import numbers

Json = dict[str, Any]


def submissions_flags(case: Json) -> Json:
    """Check the flag, rank the scores, or see whether a submission can be graded."""
    try:
        if "flag" in case:
            return {"correct": has_flag(str(case.get("submission", "")), str(case["flag"]))}
        if "scores" in case:
            return _ranked(case)
        return _graded(case)
    except InputError as error:
        return {"error": str(error), "correct": None, "valid": None}


def _ranked(case: Json) -> Json:
    scores = {
        name: None if math.isnan(value := numbers([given])[0]) else value for name, given in case["scores"].items()
    }
    groups, unranked = ranked(scores, higher_is_better=case.get("higher_is_better", True))
    order = [name for group in groups for name in group]
    ranks = {name: 1 + sum(len(before) for before in groups[:at]) for at, group in enumerate(groups) for name in group}
    return {"order": order, "unranked": list(unranked), "ranks": ranks, "ties": [list(g) for g in groups if len(g) > 1]}


def _graded(case: Json) -> Json:
    ids = case.get("answers_ids") or case.get("ids") or list(case.get("answers", {}))
    rows = case["submission"]
    if isinstance(rows, dict):
        rows = list(rows.items())
    why = invalid(ids, rows, len(case.get("columns", ("id", "value"))))
    score = None
    if not why and isinstance(case.get("answers"), dict):
        score = sum(case["answers"][str(row[0])] == row[1] for row in rows) / len(rows)
    return {"valid": not why, "score": score, "why": why}
