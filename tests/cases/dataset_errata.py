"""Theme dataset-errata: wrong labels, prompts that disagree with their check, golds given away."""

from __future__ import annotations

from typing import Any

from measurand.core.item import Item, Question
from measurand.core.trial import Found, Measured
from measurand.scoring import EXACT_STRICT
from measurand.scoring.data_faults import constraint_faults, longest
from measurand.scoring.errata import graded_by


def dataset_errata(case: dict[str, Any]) -> dict[str, Any]:
    if "items" in case:
        return _by_both_labels(case["items"])
    if "lengths" in case:
        found = longest(case["lengths"], case["gold"])
        return {"longest_is_gold": found.share, "flagged": found.surprising}
    return {"flagged": bool(constraint_faults(case["prompt"], case.get("kwargs", {})))}


def _by_both_labels(rows: list[dict[str, Any]]) -> dict[str, Any]:
    values: dict[str, list[float]] = {"gold": [], "corrected": []}
    for row in rows:
        golds = {label: row.get(label) for label in values}
        item = Item(str(row["id"]), Question(str(row.get("question", ""))), gold=golds)
        for label, kept in values.items():
            value = graded_by(label, EXACT_STRICT).score(item, Found(str(row["pred"])))
            kept.extend([value.row[0]] if isinstance(value, Measured) else [])
    raw, corrected = ((sum(kept) / len(kept) if kept else None) for kept in values.values())
    excluded = len(rows) - len(values["corrected"])
    return {"acc_raw": raw, "acc_corrected": corrected, "excluded": excluded, "n_excluded": excluded}
