"""The coverage matrix: every subject by every scenario and metric, a number or the reason for its absence."""

from __future__ import annotations

from collections.abc import Iterator

from measurand.core.estimate import Estimate
from measurand.core.findings import Cell, Empty
from measurand.core.summary import Summary
from measurand.run.tables import Tables
from measurand.study.evidence import Evidence, Result, Scenario
from measurand.study.leaderboards import as_estimate
from measurand.study.measures import cost, latency

FEWEST = 5
"""A number of fewer items than this is no number."""
PRODUCTION = "production"
"""The scenario under which what users did stands."""
PUBLISHED = "published"
"""The metric under which a leaderboard's number stands: of which protocol, nobody here knows."""
LATENCY, COST = "latency p95", "cost per 1,000"


def coverage(evidence: Evidence) -> tuple[Cell, ...]:
    """A cell for every subject, scenario and metric, row by row."""
    return tuple(cell for subject in evidence.subjects for cell in _row(evidence, subject))


def _row(evidence: Evidence, subject: str) -> Iterator[Cell]:
    for scenario in evidence.scenarios:
        result = evidence.result(subject, scenario.name)
        for metric in _metrics(evidence, scenario):
            yield _scored(result, scenario, metric)
        for metric, measure in ((LATENCY, latency), (COST, cost)):
            made, why = measure(evidence, subject, scenario.name)
            yield _measured(result, metric, made, why)
    for signal in evidence.signals:
        if signal.subject == subject and signal.cohort == "everybody":
            yield Cell(subject, PRODUCTION, signal.estimate.metric, signal.estimate, 1.0)
    for row in evidence.published:
        if row.model == subject:
            yield Cell(subject, row.board, PUBLISHED, as_estimate(row), 1.0)


def _metrics(evidence: Evidence, scenario: Scenario) -> tuple[str, ...]:
    named = dict.fromkeys(scenario.metrics)
    for tables in evidence.measured(scenario.name).values():
        named |= dict.fromkeys(tables.metrics)
    return tuple(named)


def _scored(result: Result, scenario: Scenario, metric: str) -> Cell:
    if result.tables is None or result.summary is None:
        kind: Empty = result.empty or "not_run"
        return Cell(result.subject, scenario.name, metric, empty=kind, why=result.why or "it was not asked")
    table = result.tables.metrics.get(metric)
    if table is None:
        why = f"this run was not scored by {metric}"
        return _blank(result, metric, 0.0, ("not_applicable", why))
    planned = int(table.measured.sum() + table.missing.sum())
    share = float(table.measured.sum()) / planned if planned else 0.0
    if not planned:
        return _blank(result, metric, share, ("not_applicable", "no item is scored by it"))
    made = _pooled(result.summary, metric)
    if made is None or made.value is None:
        return _blank(result, metric, share, _reason(result.tables, result.summary, metric))
    if made.n_items < FEWEST:
        return _blank(result, metric, share, ("too_few", f"{made.n_items} of the planned items are measured"))
    return Cell(result.subject, scenario.name, metric, made, share, result.tables.run.protocol)


def _measured(result: Result, metric: str, made: Estimate | None, why: str) -> Cell:
    if made is not None and result.tables is not None:
        share = min(1.0, made.n_items / result.tables.run.n_items)
        return Cell(result.subject, result.scenario, metric, made, share, result.tables.run.protocol)
    kind: Empty = result.empty or ("not_applicable" if result.tables is not None else "not_run")
    return Cell(result.subject, result.scenario, metric, empty=kind, why=result.why or why)


def _blank(result: Result, metric: str, share: float, because: tuple[Empty, str]) -> Cell:
    protocol = result.tables.run.protocol if result.tables else ""
    return Cell(result.subject, result.scenario, metric, None, share, protocol, *because)


def _pooled(summary: Summary, metric: str) -> Estimate | None:
    return next((v.estimate for v in summary.views if v.view == "pooled" and v.estimate.metric == metric), None)


def _reason(tables: Tables, summary: Summary, metric: str) -> tuple[Empty, str]:
    """Why nothing was measured, from the tally and the notes."""
    told = next((note for note in summary.notes if f"no {metric}:" in note), "")
    if "needs judge" in told:
        return "needs_judge", "its rubric needs a judge"
    if tables.tally.not_run == tables.tally.planned:
        return "not_run", "nothing was asked yet"
    if told:
        return "failed", told.rstrip(".")
    most = max(tables.tally.reasons.items(), key=lambda pair: pair[1], default=("nothing was measured", 0))
    return "failed", most[0]
