"""What a study rests on, laid out for the page: which number stands where, already in words. Computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from measurand.core.benchmark import Card
from measurand.core.estimate import Estimate
from measurand.core.findings import Calibration, Cell, Contrast, Findings, Tradeoff
from measurand.core.identity import short
from measurand.core.summary import Summary, View
from measurand.report.drawing import Scale, scale_of, whisker
from measurand.report.sections import Line, Lines, drawn_on, interval_name, line
from measurand.report.study.plots import (
    by_scenario,
    contrasts_by_scenario,
    difference_domains,
    protocols,
    shade_scale,
    slice_table,
)
from measurand.report.study.wording import (
    cell_text,
    chosen_first,
    difference,
    difference_interval,
    finding,
    needs,
    over,
    pair,
    probability,
    share,
    size,
    with_interval,
)
from measurand.report.wording import FEW, clipped, interval, number, who, wholes

MOST_CONTRASTS = 300
"""Rows of differences on a page; those with the chosen subject come first, and all are in the JSON."""
STEPS = 10
"""Shades of a heat map."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """How a rule came out for one subject."""

    subject: str
    chosen: bool
    verdict: str
    because: str
    needs: str


@dataclass(frozen=True, slots=True)
class Contrasted:
    """One comparison. Where it was refused, `finding` says so and `why` has the reason."""

    pair: str
    over: str
    value: str
    interval: str
    drawing: Markup | None
    finding: str
    p: str
    detectable: str
    items: str
    differs: str
    why: str
    margin: str


@dataclass(frozen=True, slots=True)
class Contrasts:
    """The comparisons on one scenario."""

    scenario: str
    metric: str
    rows: list[Contrasted]
    left_out: int
    protocols: str


@dataclass(frozen=True, slots=True)
class Shade:
    """A cell of a heat map: its number, and how dark it is, 0 to STEPS."""

    text: str
    interval: str
    items: str
    step: int
    few: bool


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A metric by the values of a slice and by subject."""

    scenario: str
    metric: str
    field: str
    subjects: list[str]
    rows: list[tuple[str, list[Shade | None]]]
    protocols: str


@dataclass(frozen=True, slots=True)
class Covered:
    """A cell of the coverage matrix as text; `note` is the number of its reason below the matrix, 0 for none."""

    text: str
    interval: str
    share: str
    note: int = 0
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The coverage matrix of one subject: scenarios by metrics, and the reasons of the empty cells."""

    subject: str
    metrics: list[str]
    rows: list[tuple[str, list[Covered]]]
    reasons: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a subject's quality takes."""

    subject: str
    scenario: str
    quality: str
    cost: str
    latency: str
    dominated_by: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A subject's calibration: its errors, and the share that was right at each confidence."""

    subject: str
    scenario: str
    errors: str
    bins: list[tuple[str, str, str]]
    protocol: str


def rules(findings: Findings) -> list[tuple[str, list[RuleRow]]]:
    """The rules in their order, each with the subjects it was applied to, the chosen one first."""
    found: dict[str, list[RuleRow]] = {}
    chosen = findings.decision.chosen
    for rule in findings.decision.rules:
        row = RuleRow(rule.subject, bool(chosen) and rule.subject == chosen, rule.verdict, rule.because, needs(rule))
        found.setdefault(rule.text, []).append(row)
    return [(text, sorted(rows, key=lambda row: not row.chosen)) for text, rows in found.items()]


def estimates(findings: Findings, cards: Mapping[str, Card]) -> list[tuple[str, Lines]]:
    """Each scenario with the numbers of all subjects, over all items and as means over slices."""
    made = []
    for (scenario, metric), summaries in by_scenario(findings).items():
        card = cards.get(scenario)
        views = [(one, view) for one in summaries for view in wholes(one) if view.estimate.metric == metric]
        numbers = [view.estimate for _, view in views]
        scale = scale_of(numbers)
        rows = [_named(summary, view, scale, card.chance if card else None) for summary, view in views]
        caption = f"{metric} on {scenario}. Made by: {'; '.join(dict.fromkeys(one.method for one in numbers))}."
        missing = any(one.n_missing for one in numbers)
        made.append((scenario, Lines("subject", caption, interval_name(numbers), drawn_on([scale]), missing, rows)))
    return made


def contrasts(findings: Findings) -> list[Contrasts]:
    """The comparisons by scenario; those with the chosen subject first, and no more than a page can hold."""
    made, room, domains = [], MOST_CONTRASTS, difference_domains(findings.contrasts)
    for (scenario, metric), ours in contrasts_by_scenario(findings).items():
        kept = ours[:room]
        room -= len(kept)
        rows = [_contrasted(one, domains) for one in kept]
        made.append(Contrasts(scenario, metric, rows, len(ours) - len(kept), protocols(findings, scenario)))
    return made


def heat_maps(findings: Findings) -> list[HeatMap]:
    """The headline of each scenario by slice and subject."""
    made = []
    for (scenario, metric), summaries in by_scenario(findings).items():
        subjects = [who(summary) for summary in summaries]
        under = protocols(findings, scenario)
        for name, values in slice_table(summaries, metric).items():
            shades = shade_scale([view.estimate for row in values.values() for view in row.values()])
            rows = [
                (
                    clipped(value),
                    [_shade(row[subject].estimate, shades) if subject in row else None for subject in subjects],
                )
                for value, row in values.items()
            ]
            made.append(HeatMap(scenario, metric, name, subjects, rows, under))
    return made


def matrices(findings: Findings) -> list[Matrix]:
    """The coverage matrix of each subject, the chosen one first."""
    made = []
    for subject in chosen_first(findings, findings.subjects):
        cells = {(cell.scenario, cell.metric): cell for cell in findings.coverage if cell.subject == subject}
        if not cells:
            continue
        scenarios, metrics = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
        reasons: list[str] = []
        rows = [
            (scenario, [_covered(cells.get((scenario, metric)), reasons) for metric in metrics])
            for scenario in scenarios
        ]
        made.append(Matrix(subject, metrics, rows, reasons))
    return made


def tradeoffs(findings: Findings) -> list[Taken]:
    """Quality, cost and latency of each subject."""
    return [_taken(findings, one) for one in findings.tradeoffs]


def curves(findings: Findings) -> list[Curve]:
    """The reliability curves as numbers."""
    return [_curve(findings, one) for one in findings.calibration]


def _named(summary: Summary, view: View, scale: Scale, chance: float | None) -> Line:
    row = line(summary, view, scale, chance if view == summary.views[0] else None)
    return replace(row, name=clipped(who(summary)), detail="" if view == summary.views[0] else row.name)


def _contrasted(contrast: Contrast, domains: Mapping[str, tuple[float, float]]) -> Contrasted:
    comparison = contrast.comparison
    if comparison is None:
        why = contrast.refused or "no comparison was made"
        told = finding(contrast)
        return Contrasted(
            pair(contrast), over(contrast.view, contrast.value), "", "", None, told, "", "", "", "", why, ""
        )
    found = comparison.difference
    low, high = domains[found.unit]
    marks = {"zero": 0.0} | ({"reference": -contrast.margin} if contrast.margin is not None else {})
    return Contrasted(
        pair(contrast),
        over(contrast.view, contrast.value),
        difference(found),
        difference_interval(found),
        whisker(found, Scale(low, high), marks),
        finding(contrast),
        probability(comparison),
        size(comparison.detectable, found.unit),
        f"{found.n_items:,}{'' if comparison.paired else ', unpaired'}",
        "; ".join(comparison.differs),
        "",
        size(contrast.margin, found.unit),
    )


def _shade(estimate: Estimate, scale: Scale) -> Shade:
    place = 0.0
    if estimate.value is not None and scale.high > scale.low:
        place = min(max((estimate.value - scale.low) / (scale.high - scale.low), 0.0), 1.0)
    few = estimate.n_items < FEW
    return Shade(number(estimate), interval(estimate), f"{estimate.n_items:,}", round(STEPS * place), few)


def _covered(cell: Cell | None, reasons: list[str]) -> Covered:
    if cell is None:
        return Covered("not planned", "", "")
    if cell.estimate is not None:
        return Covered(cell_text(cell), interval(cell.estimate), share(cell.share), 0, short(cell.protocol))
    if not cell.why:
        return Covered(cell_text(cell), "", "")
    reason = f"{cell_text(cell)}: {cell.why}"
    if reason not in reasons:
        reasons.append(reason)
    return Covered(cell_text(cell), "", "", reasons.index(reason) + 1)


def _taken(findings: Findings, one: Tradeoff) -> Taken:
    quality, cost, latency = (with_interval(found) for found in (one.quality, one.cost, one.latency))
    under = protocols(findings, one.scenario, one.subject)
    return Taken(one.subject, one.scenario, quality, cost, latency, ", ".join(one.dominated_by), under)


def _curve(findings: Findings, one: Calibration) -> Curve:
    errors = "; ".join(f"{error.metric} {with_interval(error)}" for error in one.errors)
    bins = [
        (f"{100 * each.confidence:.1f}", with_interval(each.correct), f"{each.correct.n_items:,}") for each in one.bins
    ]
    return Curve(one.subject, one.scenario, errors, bins, protocols(findings, one.scenario, one.subject))
