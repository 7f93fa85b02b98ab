"""What a training method does: several seeds of it beside several seeds of its baseline, on the same items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from measurand.core.claim import AboutMethod
from measurand.core.errors import InputError
from measurand.core.estimate import Comparison, Estimate
from measurand.core.findings import Contrast
from measurand.run.tables import Tables
from measurand.stats.intervals import student, student_p
from measurand.stats.means import Array
from measurand.stats.sums import weighted_mean
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
    a, b = values(ours), values(theirs)
    made = seeded_difference(a, b, names, ours[0].headline)
    return Contrast(scenario.name, ours[0].headline, *names, comparison=made)


def _refused(claim: AboutMethod, ours: Sequence[Tables], theirs: Sequence[Tables], evidence: Evidence) -> str:
    fewest = max(FEWEST_SEEDS, claim.seeds)
    if len(ours) < fewest or len(theirs) < fewest:
        return f"the claim needs {fewest} seeds of each arm, and {len(ours)} and {len(theirs)} are measured"
    metric = ours[0].metrics[ours[0].headline].metric
    if metric.over is not weighted_mean:
        return f"{metric.name} is no mean over items, and the effect of a method is computed for means only"
    gaps = method_gaps(claim)
    if gaps:
        return f"{' and '.join(gaps)} {'is' if len(gaps) == 1 else 'are'} not declared equal: add to held_equal"
    may = [comparability(ours[0], other, claim, evidence.study.accept_difference) for other in (*ours[1:], *theirs)]
    return next((one.refused for one in may if one.refused), "")


def values(seeds: Sequence[Tables]) -> Array:
    """The headline of every seed on the items that all share: [seeds, items]; only items measured for all."""
    first = seeds[0]
    rows = [first.metrics[first.headline].rows[:, 0]]
    for other in seeds[1:]:
        both = align(first, other)
        row = np.full(len(first.names), np.nan)
        row[both.at_a] = other.metrics[first.headline].rows[both.at_b, 0]
        rows.append(row)
    return np.array(rows)


def seeded_difference(a: Array, b: Array, names: tuple[str, str], metric: str, level: float = LEVEL) -> Comparison:
    """The difference of two arms, each [seeds, items], over items and seeds.

    Both the items and the seeds are samples, and they are crossed: the variance is that of the item differences over
    the items plus that of the seeds' means over the seeds, which counts the rest twice and so errs on the side of doubt
    (Bouthillier et al. 2021, "Accounting for variance in machine learning benchmarks", section 3). Degrees of
    freedom by Satterthwaite. Raises InputError where no item is measured for all.
    """
    shared = ~(np.isnan(a).any(axis=0) | np.isnan(b).any(axis=0))
    a, b = a[:, shared], b[:, shared]
    n = a.shape[1]
    if n < 2:  # noqa: PLR2004 - one item shows no spread
        raise InputError("fewer than two items are measured for every seed of both arms")
    differences = a.mean(axis=0) - b.mean(axis=0)
    value = float(differences.mean())
    variances = [float(differences.var(ddof=1)) / n, *(float(x.mean(axis=1).var(ddof=1)) / len(x) for x in (a, b))]
    dfs = [n - 1, len(a) - 1, len(b) - 1]
    total = sum(variances)
    error = math.sqrt(total)
    df = total**2 / sum(v**2 / d for v, d in zip(variances, dfs, strict=True)) if total else float(n - 1)
    low, high = student(value, error, max(1.0, df), level)
    p = student_p(value / error, max(1.0, df)) if error else 1.0
    method = f"paired by item, {len(a)} and {len(b)} seeds, Student's t"
    made = Estimate(metric, value, low, high, level, method, n, n * (len(a) + len(b)))
    return Comparison(*names, paired=True, difference=made, p=p, test="Student's t over items and seeds")
