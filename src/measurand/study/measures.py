"""What a subject costs and how long it takes: the measures that every run has beside its scores."""

from __future__ import annotations

import msgspec
import numpy as np

from measurand.core.estimate import Estimate
from measurand.stats.estimate import FEW, estimate
from measurand.stats.metrics import MEAN
from measurand.stats.quantiles import quantile_interval
from measurand.study.evidence import Evidence
from measurand.study.guarding import LEVEL

RECORDED = "replay:"
"""The kind of subject whose replies are read from a file: nobody timed them."""


def latency(evidence: Evidence, subject: str, scenario: str, statistic: str = "p95") -> tuple[Estimate | None, str]:
    """Seconds of a trial: `pNN`, `median` or `mean`, with its interval; or why there is none."""
    result = evidence.result(subject, scenario)
    if result.tables is None:
        return None, result.why
    if evidence.candidate(subject).spec.startswith(RECORDED):
        return None, "its replies were recorded, so nobody timed them here"
    replayed = result.summary.spent.replayed if result.summary else 0
    if replayed:
        return None, f"{replayed:,} replies came from the store and were not timed; run again under another occasion"
    seconds = result.tables.seconds[~np.isnan(result.tables.seconds)]
    if not len(seconds):
        return None, "no trial was timed"
    n = len(seconds)
    if statistic == "mean":
        made = estimate(seconds, MEAN)
        return msgspec.structs.replace(made, metric="latency mean", unit="s"), ""
    q = 0.5 if statistic == "median" else int(statistic[1:]) / 100
    value, low, high = quantile_interval(seconds, q, LEVEL)
    name = f"latency {statistic}"
    return Estimate(name, value, low, high, LEVEL, "order statistics", result.tables.run.n_items, n, unit="s"), ""


def cost(evidence: Evidence, subject: str, scenario: str, _statistic: str = "mean") -> tuple[Estimate | None, str]:
    """US dollars for 1,000 items, with its interval; or why there is none."""
    result = evidence.result(subject, scenario)
    if result.tables is None:
        return None, result.why
    run = result.tables.run
    paid = result.tables.costs.reshape(run.n_items, run.samples).sum(axis=1)
    paid = paid[~np.isnan(paid)]
    if not len(paid):
        return None, "no price is known; give the subject a price in the study"
    made = estimate(1000 * paid, MEAN)
    if made.low is None and len(paid) >= FEW:
        made = msgspec.structs.replace(made, low=made.value, high=made.value, method="every item cost the same")
    low = None if made.low is None else max(0.0, made.low)
    return msgspec.structs.replace(made, metric="cost per 1,000", unit="USD", low=low), ""
