"""Theme calibration: stated confidences against what was right."""

from __future__ import annotations

from typing import Any

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.confidence import (
    Binning,
    aurc,
    brier,
    brier_of_choices,
    confidences,
    ece,
    equal_count,
    equal_mass,
    equal_width,
    gaps,
    hle_calibration_error,
    log_loss,
    maximum_calibration_error,
    rms_calibration_error,
    top_choice,
)

Json = dict[str, Any]


def calibration(case: Json) -> Json:
    """Every number that there is; confidences that cannot be read are counted, not scored."""
    try:
        return _calibration(case)
    except InputError as error:
        return {"error": str(error), "value": None, case.get("task", "ece"): None}


def _calibration(case: Json) -> Json:
    given = next(case[key] for key in ("conf", "conf_text", "confidence", "confidences", "probs") if key in case)
    if given and isinstance(given[0], list):
        return _choices(np.array(given, dtype=np.float64), case)
    stated = confidences(given)
    correct = np.array([np.nan if value is None else float(value) for value in _right(case, len(stated))])
    return _of(stated, correct, case)


def _choices(probabilities: Any, case: Json) -> Json:
    """Probabilities of all options, with the gold one."""
    gold = np.array(_right(case, len(probabilities)), dtype=np.int64)
    score = brier_of_choices(probabilities, gold)
    said = _of(*top_choice(probabilities, gold), case) | {"brier": score}
    return said | {"value": said.get(case.get("task", "ece"))}


def _of(stated: Any, correct: Any, case: Json) -> Json:
    known = ~(np.isnan(stated) | np.isnan(correct))
    confidence, right = stated[known], correct[known]
    said: Json = {
        "conf": [None if np.isnan(value) else float(value) for value in stated],
        "n_used": int(known.sum()),
        "n_invalid": int((~known).sum()),
        "no_exception": True,
    }
    if not known.any():
        return said | dict.fromkeys(("ece", "mce", "rms", "brier", "log_loss", "aurc", "accuracy", "value"))
    binning = _binning(case)
    found = gaps(confidence, right, binning)
    said |= {
        "ece": ece(confidence, right, binning),
        "mce": maximum_calibration_error(confidence, right, binning),
        "rms": rms_calibration_error(confidence, right, binning),
        "brier": brier(confidence, right),
        "log_loss": log_loss(confidence, right),
        "aurc": aurc(confidence, right),
        "hle": hle_calibration_error(confidence, right),
        "accuracy": float(right.mean()),
        "mean_conf": float(confidence.mean()),
        "if_last_skipped": float(found.share[:-1] @ np.abs(found.gap[:-1])),
        "counts": found.n.tolist(),
    }
    return said | {"value": said.get(case.get("task", "ece"))}


def _right(case: Json, n: int) -> list[Any]:
    right: list[Any] = next(
        (case[key] for key in ("correct", "labels", "label", "right", "outcome", "gold") if key in case), []
    )
    return right if len(right) == n else [None] * n


def _binning(case: Json) -> Binning:
    if "equal_count" in case:
        return equal_count(case["equal_count"])
    bins = case.get("bins") or 10
    return equal_mass(bins) if case.get("equal_mass") or case.get("adaptive") else equal_width(bins)
