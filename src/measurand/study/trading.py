"""Quality beside cost and latency, with who is dominated; and how far a stated confidence can be believed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from measurand.core.findings import Calibration, Tradeoff
from measurand.run.tables import Codes, Tables
from measurand.stats.calibration import calibration_errors, reliability_curve
from measurand.stats.means import Array
from measurand.stats.metrics import mean_within
from measurand.stats.pareto import Dimension, standings
from measurand.study.aligning import align
from measurand.study.comparability import comparability
from measurand.study.evidence import Evidence, Scenario, higher_is_better
from measurand.study.measures import cost, latency

STATED = ("confidence", "correct")
"""The columns of a metric that holds what a subject said of its own certainty."""
FELT = 0.95
"""The quantile of the latency that users complain of."""


def tradeoffs(evidence: Evidence) -> tuple[Tradeoff, ...]:
    """Every subject on every scenario for which a cost or a latency is known."""
    return tuple(one for scenario in evidence.scenarios for one in _of_scenario(evidence, scenario))


def calibrations(evidence: Evidence) -> tuple[Calibration, ...]:
    """The reliability of every subject that states its confidence."""
    return tuple(
        Calibration(
            subject,
            scenario.name,
            reliability_curve(*stated, clusters=clusters),
            calibration_errors(*stated, clusters=clusters),
        )
        for scenario, subject, tables in evidence.all_measured()
        if (stated := _stated(tables)) is not None
        for clusters in [_clusters(tables)]
    )


def _of_scenario(evidence: Evidence, scenario: Scenario) -> Iterator[Tradeoff]:
    measured = evidence.measured(scenario.name)
    costs = {name: cost(evidence, name, scenario.name)[0] for name in measured}
    waits = {name: latency(evidence, name, scenario.name)[0] for name in measured}
    if not any(made is not None for made in (*costs.values(), *waits.values())):
        return
    beaten = _dominated(evidence, measured, priced=None not in costs.values(), timed=None not in waits.values())
    for name in measured:
        summary = evidence.result(name, scenario.name).summary
        if summary is not None and summary.views and summary.views[0].estimate.value is not None:
            quality = summary.views[0].estimate
            yield Tradeoff(name, scenario.name, quality, costs[name], waits[name], beaten.get(name, ()))


def _dominated(
    evidence: Evidence, measured: dict[str, Tables], *, priced: bool, timed: bool
) -> dict[str, tuple[str, ...]]:
    """Who is beaten by whom in everything that is known of all; nobody where they may not be compared."""
    names = list(measured)
    first = measured[names[0]]
    accept = evidence.study.accept_difference
    if len(names) < 2 or not (priced or timed):  # noqa: PLR2004 - nobody to be beaten by, or only one dimension
        return {}
    if any(comparability(first, measured[name], evidence.claim, accept).refused for name in names[1:]):
        return {}
    quality = _beside(measured, lambda one: one.metrics[one.headline].rows[:, 0])
    dimensions = [Dimension("quality", quality, higher_is_better(first.headline))]
    if priced:
        dimensions.append(Dimension("cost", _beside(measured, lambda one: _by_item(one, one.costs))))
    if timed:
        dimensions.append(
            Dimension("latency", _beside(measured, lambda one: _by_item(one, one.seconds)), quantile=FELT)
        )
    whole = ~np.isnan(np.concatenate([one.values for one in dimensions])).any(axis=0)
    if whole.sum() < 2:  # noqa: PLR2004 - one item shows no spread
        return {}
    found = standings(names, dimensions, _clusters(first))
    return {one.subject: tuple(name for name, _ in one.dominated_by) for one in found}


def _beside(measured: dict[str, Tables], values: Callable[[Tables], Array]) -> Array:
    """The values of every subject on the items of the first: [subjects, items], NaN where an item is not shared."""
    tables = list(measured.values())
    made = np.full((len(tables), len(tables[0].names)), np.nan)
    for number, one in enumerate(tables):
        both = align(tables[0], one)
        made[number, both.at_a] = values(one)[both.at_b]
    return made


def _clusters(tables: Tables) -> Codes | None:
    """The clusters of the items; None where each stands alone."""
    table = tables.metrics[tables.headline]
    return None if table.independent else table.clusters


def _by_item(tables: Tables, trials: Array) -> Array:
    """The mean over an item's samples."""
    return np.asarray(trials.reshape(tables.run.n_items, tables.run.samples).mean(axis=1))


def _stated(tables: Tables) -> tuple[Array, Array] | None:
    """What a subject said of its certainty, and whether it was right; None where no metric keeps both."""
    for table in tables.metrics.values():
        kept = table.metric.columns == STATED and table.metric.within is mean_within and tables.run.samples == 1
        if kept and not np.isnan(table.rows).all():
            return table.rows[:, 0], table.rows[:, 1]
    return None
