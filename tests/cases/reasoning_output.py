"""Theme reasoning-output: what is the final text of a reply?"""

from __future__ import annotations

from typing import Any

from measurand.asking.lint import lint_stop
from measurand.scoring import DEFAULT_TAGS, apply_stops, final_text


def reasoning_output(case: dict[str, Any]) -> dict[str, Any]:
    if case.get("task") == "lint_stop_sequences":
        return lint_stop_sequences(case)
    final = final_text(case["raw"], case.get("tags", DEFAULT_TAGS))
    text = apply_stops(final.text, case.get("stop", ()))
    return {"final": text, "status": "complete" if final.complete else "incomplete_reasoning"}


def lint_stop_sequences(case: dict[str, Any]) -> dict[str, Any]:
    """Which stop strings are unsafe, and the golds that they would cut."""
    golds = case.get("golds", ())
    faults = lint_stop(case["stop"], golds, case.get("sample_texts", ()))
    cut = {text for fault in faults for text in fault.texts}
    return {"flagged": bool(faults), "items": [gold for gold in golds if str(gold) in cut]}
