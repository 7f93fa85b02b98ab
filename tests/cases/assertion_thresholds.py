"""Theme assertion-thresholds: a score meets a threshold, or a reply an assertion."""

from __future__ import annotations

from typing import Any

from measurand.core.errors import InputError
from measurand.scoring.assertions import Asserted, assert_all, assert_most, assert_score, assert_text

Json = dict[str, Any]
RESULTS = ("custom_result", "result", "returned", "score", "value_returned")
SPENT = ("latency", "latency_ms", "cost", "tokens")
LOWER = {"latency", "cost", "perplexity", "tokens"}


def assertion_thresholds(case: Json) -> Json:
    """Make the assertion that the case describes."""
    if isinstance(case.get("scores"), list):
        each = [assert_score(score, case.get("threshold")) for score in case["scores"]]
        counts = {"passed": True, "failed": False, "unmeasured": None}
        return {name: sum(one.passed is verdict for one in each) for name, verdict in counts.items()}
    try:
        made = _made(case)
    except InputError as error:
        return {"error": str(error), "pass": None, "score": None}
    return {"pass": made.passed, "passed": made.passed, "score": made.score, "reason": made.why}


def _made(case: Json) -> Asserted:
    threshold = case.get("threshold")
    for key in ("asserts", "assertions", "parts"):
        if isinstance(case.get(key), list):
            parts = [_made(part) for part in case[key]]
            return assert_all(parts, threshold, [part.get("weight", 1.0) for part in case[key]])
    kind = case.get("type")
    spent = next((case[key] for key in SPENT if key in case), None)
    if spent is not None and threshold is not None:
        return assert_most(spent, threshold)
    if isinstance(kind, str) and "output" in case:
        return assert_text(kind, str(case["output"]), case.get("value", case.get("expected")), threshold)
    if case.get("metric") in LOWER or case.get("higher_is_better") is False:
        return assert_most(next((case[key] for key in (*RESULTS, "value") if key in case), None), threshold or 0)
    given = [case[key] for key in (*RESULTS, "value") if key in case]
    if isinstance(kind, str) and kind.startswith("not-") and given:
        made = assert_score(given[0], threshold)
        return made if made.passed is None else Asserted(not made.passed, made.score)
    return assert_score(given[0] if given else None, threshold)
