"""What a training method does: several seeds of it beside several seeds of its baseline, on the same items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from measurand.core.benchmark import Metric
from measurand.core.claim import AboutMethod
from measurand.core.errors import InputError
from measurand.core.estimate import Comparison, Estimate
from measurand.core.findings import Contrast
from measurand.run.tables import Tables
from measurand.stats.bootstrap import bootstrap
from measurand.stats.estimate import unit_of
from measurand.stats.intervals import student, student_p
from measurand.stats.means import Array
from measurand.stats.paired import OWN_UNITS
from measurand.stats.sums import weighted_mean
from measurand.stats.units import over_of
from measurand.study.aligning import align
from measurand.study.comparability import comparability, method_gaps
from measurand.study.evidence import Evidence, Scenario

FEWEST_SEEDS = 2
LEVEL = 0.95


def effects(evidence: Evidence) -> tuple[Contrast, ...]:
    """The effect of each arm against the baseline's, on every scenario; none unless the claim is about a method.

    Raises InputError where the study does not say which subjects are the arms.
    """
    claim = evidence.study.claim
    if not isinstance(claim, AboutMethod):
        return ()
    arms = {arm.name: arm.subjects for arm in evidence.study.arms}
    if claim.baseline not in arms:
        raise InputError(f"the claim's baseline '{claim.baseline}' is no arm; add [[arms]] with its name and subjects")
    return tuple(
        _effect(evidence, scenario, claim, (name, claim.baseline))
        for scenario in evidence.scenarios
        for name in arms
        if name != claim.baseline
    )


def _effect(evidence: Evidence, scenario: Scenario, claim: AboutMethod, names: tuple[str, str]) -> Contrast:
    arms = {arm.name: arm.subjects for arm in evidence.study.arms}
    seeds = [[evidence.result(one, scenario.name).tables for one in arms[name]] for name in names]
    ours, theirs = ([tables for tables in side if tables is not None] for side in seeds)
    metric = scenario.metrics[0] if scenario.metrics else ""
    refused = _refused(claim, ours, theirs, evidence)
    if refused:
        return Contrast(scenario.name, metric, *names, refused=refused)
    headline = ours[0].headline
    a, b = values([*ours, *theirs], len(ours))
    try:
        made = seeded_difference(a, b, ours[0].metrics[headline].metric, names)
    except InputError as error:
        return Contrast(scenario.name, headline, *names, refused=str(error))
    return Contrast(scenario.name, headline, *names, comparison=made)


def _refused(claim: AboutMethod, ours: Sequence[Tables], theirs: Sequence[Tables], evidence: Evidence) -> str:
    fewest = max(FEWEST_SEEDS, claim.seeds)
    if len(ours) < fewest or len(theirs) < fewest:
        return f"the claim needs {fewest} seeds of each arm, and {len(ours)} and {len(theirs)} are measured"
    gaps = method_gaps(claim)
    if gaps:
        return f"{' and '.join(gaps)} {'is' if len(gaps) == 1 else 'are'} not declared equal: add to held_equal"
    may = [comparability(ours[0], other, claim, evidence.study.accept_difference) for other in (*ours[1:], *theirs)]
    return next((one.refused for one in may if one.refused), "")


def values(seeds: Sequence[Tables], first: int) -> tuple[Array, Array]:
    """The headline's rows of every seed, of the `first` ones and of the others: [seeds, items, columns] each.

    The items are those of the first seed; where another was not measured on one, its row is NaN.
    """
    one = seeds[0]
    rows = [one.metrics[one.headline].rows]
    for other in seeds[1:]:
        both = align(one, other)
        row = np.full_like(rows[0], np.nan)
        row[both.at_a] = other.metrics[other.headline].rows[both.at_b]
        rows.append(row)
    return np.array(rows[:first]), np.array(rows[first:])


def seeded_difference(a: Array, b: Array, metric: Metric, names: tuple[str, str], level: float = LEVEL) -> Comparison:
    """The difference of two arms, each [seeds, items, columns], over items and seeds.

    Both the items and the seeds are samples, and they are crossed: the variance is that of the difference over the
    items plus that of the seeds' numbers over the seeds, which counts the rest twice and so errs on the side of doubt
    (Bouthillier et al. 2021, "Accounting for variance in machine learning benchmarks", section 3). Of a metric that is
    no mean over items, the bootstrap of items gives the first part. Degrees of freedom by Satterthwaite. Raises
    InputError where fewer than two items are measured for all, or a seed has no number on them.
    """
    shared = ~(np.isnan(a).any(axis=(0, 2)) | np.isnan(b).any(axis=(0, 2)))
    a, b = a[:, shared], b[:, shared]
    n = a.shape[1]
    if n < 2:  # noqa: PLR2004 - one item shows no spread
        raise InputError("fewer than two items are measured for every seed of both arms")
    if (
        OWN_UNITS in metric.columns
        and np.ptp(np.concatenate((a, b))[..., metric.columns.index(OWN_UNITS)], axis=0).any()
    ):
        raise InputError("the seeds split the texts into different tokens; compare bits per byte")
    numbers = [np.array([float(over_of(metric)(rows, np.ones(n))) for rows in side]) for side in (a, b)]
    value = float(numbers[0].mean() - numbers[1].mean())
    if math.isnan(value):
        raise InputError("the denominator is zero for a seed on the items that all share")
    variances = [_of_items(a, b, metric), *(float(side.var(ddof=1)) / len(side) for side in numbers)]
    dfs = [n - 1, len(a) - 1, len(b) - 1]
    total = sum(variances)
    error = math.sqrt(total)
    df = total**2 / sum(v**2 / d for v, d in zip(variances, dfs, strict=True)) if total else float(n - 1)
    low, high = student(value, error, max(1.0, df), level)
    p = student_p(value / error, max(1.0, df)) if error else 1.0
    drawn = "" if metric.over is weighted_mean else ", bootstrap of items"
    method = f"paired by item, {len(a)} and {len(b)} seeds, Student's t{drawn}"
    made = Estimate(metric.name, value, low, high, level, method, n, n * (len(a) + len(b)), unit=unit_of(metric))
    return Comparison(*names, paired=True, difference=made, p=p, test="Student's t over items and seeds")


def _of_items(a: Array, b: Array, metric: Metric) -> float:
    """The variance of the difference, had other items been drawn and the seeds been the same."""
    if metric.over is weighted_mean:
        differences = a[..., 0].mean(axis=0) - b[..., 0].mean(axis=0)
        return float(differences.var(ddof=1)) / len(differences)
    seeds, columns = [*a, *b], len(metric.columns)

    def between(rows: Array, weights: Array) -> Array:
        each = [over_of(metric)(rows[:, at : at + columns], weights) for at in range(0, rows.shape[1], columns)]
        return np.asarray(np.mean(each[: len(a)], axis=0) - np.mean(each[len(a) :], axis=0))

    return float(np.nanvar(bootstrap(between, np.concatenate(seeds, axis=1)), ddof=1))
