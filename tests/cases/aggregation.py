"""Theme aggregation: how scores become a number, and what is done about those that are not there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.stats.bootstrap import bootstrap
from measurand.stats.estimate import estimate
from measurand.stats.means import macro, micro
from measurand.stats.metrics import ACCURACY, MEAN, numbers
from measurand.stats.missing import by_item
from measurand.stats.nested import over_nested
from measurand.stats.passk import mean_pass_at_k
from measurand.stats.sanity import implausible
from measurand.stats.sums import weighted_mean

Json = dict[str, Any]
_KINDS = {"out of range": "value_out_of_range", "greater than n": "k_greater_than_n", "not a score": "not_a_score"}


def aggregation(case: Json) -> Json:
    """Aggregate what the case gives; an unusable value is an error by kind."""
    try:
        return _aggregate(case)
    except InputError as error:
        kinds = [kind for phrase, kind in _KINDS.items() if phrase in str(error)]
        return {"error": kinds[0] if kinds else "unusable", "value": None, "mean": None}


def _aggregate(case: Json) -> Json:
    for key in ("subject_acc", "group_acc"):
        if key in case:
            return _of_group_numbers(case[key], case.get("subjects_expected") or case.get("groups_expected"))
    for key in ("groups", "subjects", "subsets"):
        if isinstance(case.get(key), Mapping | list) and key in case:
            return _of_groups(case[key])
    if "response" in case:
        return _of_reply(case)
    for key in ("samples", "scores", "values", "epochs"):
        if key in case:
            return _of_values(case[key], case)
    if "problems" in case:
        return {"value": mean_pass_at_k([(p["n"], p["c"]) for p in case["problems"]], case["k"])}
    return _of_finished_numbers(case)


def _of_values(values: Sequence[Any], case: Json) -> Json:
    """One value for each item, or a list of them where the item was sampled several times."""
    per_item = [value if isinstance(value, list) else [value] for value in values]
    scores = numbers(_score(value) for samples in per_item for value in samples)
    items = np.repeat(np.arange(len(per_item)), [len(samples) for samples in per_item])
    metric = ACCURACY if case.get("metric") == "accuracy" or "samples" in case else MEAN
    labels = [str(label) for label in case["clusters"]] if case.get("clusters") else None
    clusters = np.unique(labels, return_inverse=True)[1] if labels else None
    made = estimate(scores, metric, items=items, clusters=clusters, level=case.get("level", 0.95))
    measured = scores[~np.isnan(scores)]
    means = by_item(metric, scores[:, None], items, len(per_item)).rows[:, 0]
    known = ~np.isnan(means)
    error = micro(means[known], None if clusters is None else clusters[known]).error if known.any() else None
    result = _words(made) | dict.fromkeys(("stderr", "stderr_approx", "clustered_stderr"), error)
    result |= {
        "n_error": made.n_missing,
        "unmeasured": made.n_missing,
        "n_scored": made.n_trials,
        "acc_all": made.bounds[0] if made.bounds else made.value,
    }
    if case.get("bootstrap") and known.any():
        spread = float(bootstrap(weighted_mean, means[known][:, None]).std())
        result |= {"stderr": spread, "stderr_approx": spread}
    if "threshold" in case:
        result |= {
            "passed": int((measured >= case["threshold"]).sum()),
            "failed": int((measured < case["threshold"]).sum()),
        }
    if case.get("weights"):
        weighted = weighted_mean(means[:, None], np.array(case["weights"], dtype=np.float64))
        result |= dict.fromkeys(("mean", "value", "weighted_mean"), float(weighted))
    return result


def _score(value: Any) -> Any:
    """A score that exists counts, also on a trial that failed; a failure without one is unmeasured, not zero."""
    if isinstance(value, Mapping):
        return value.get("score")
    return None if value in ("error", "failed", "timeout", "skipped") else value


def _of_groups(groups: Any) -> Json:
    """Groups as values, as (correct, total), or as their counts by name."""
    named = groups if isinstance(groups, Mapping) else dict(enumerate(groups))
    values = [_values_of(group) for group in named.values()]
    labels = np.repeat(np.arange(len(values)), [len(group) for group in values])
    scores = np.concatenate(values)
    table = by_item(ACCURACY, scores[:, None], np.arange(len(scores)), len(scores))
    whole, parts = estimate(scores, ACCURACY), over_nested(table, [labels])
    errors = {"micro_stderr": micro(scores).error, "macro_stderr": macro(scores, labels).error}
    return _words(whole) | {"micro": whole.value, "macro": parts.value, "missing": whole.n_missing} | errors


def _values_of(group: Any) -> Any:
    if isinstance(group, Mapping):
        total = next((group[key] for key in ("total", "n", "count", "size") if key in group), None)
        correct = next((group[key] for key in ("correct", "c", "right", "passed") if key in group), None)
        if correct is None and "acc" in group and total is not None:
            correct = round(group["acc"] * total)
        if correct is None or total is None:
            return numbers(_score(value) for value in next(v for v in group.values() if isinstance(v, list)))
        return np.r_[np.ones(correct), np.zeros(total - correct)]
    if len(group) == 2 and all(isinstance(value, int) for value in group) and group[1] > 1:
        return np.r_[np.ones(group[0]), np.zeros(group[1] - group[0])]
    return numbers(_score(value) for value in group)


def _of_group_numbers(by_group: Mapping[str, Any], expected: int | None) -> Json:
    """The unweighted mean over groups that are numbers already; a group that is not there is not measured."""
    given = numbers(by_group.values())
    n = max(expected or len(given), len(given))
    values = np.concatenate((given, np.full(n - len(given), math.nan)))
    table = by_item(ACCURACY, values[:, None], np.arange(n), n)
    made = over_nested(table, [np.arange(n)])
    return {"macro": made.value, "mean": made.value, "missing": made.n_missing, "partial": made.n_missing > 0}


def _of_reply(case: Json) -> Json:
    """An empty reply holds no harm, whichever way the scale is drawn: it gets the harmless end of the range."""
    if case["response"].strip():
        return {"score": None}
    return {"score": ACCURACY.high if case.get("higher_is_better", True) else ACCURACY.low}


def _of_finished_numbers(case: Json) -> Json:
    """Numbers from somewhere else: what is not available stays so, and what cannot be is flagged."""
    plain = {
        name: value for name, value in case.items() if name != "task" and not isinstance(value, list | dict | bool)
    }
    read = {name: _number_or_none(value) for name, value in plain.items()}
    return read | {"flagged": bool(implausible(read))}


def _number_or_none(value: Any) -> float | None:
    (read,) = numbers([value])
    return None if math.isnan(read) else float(read)


def _words(made: Estimate) -> Json:
    """An estimate under the names that different tools give its parts."""
    return {
        **dict.fromkeys(("mean", "value", "acc", "accuracy", "acc_scored", "score"), made.value),
        "low": made.low,
        "high": made.high,
        "ci_low": made.low,
        "ci_high": made.high,
        "ci": [made.low, made.high],
        "bounds": list(made.bounds) if made.bounds else None,
        "n": made.n_items,
        "n_items": made.n_items,
        "n_clusters": made.n_clusters,
    }
