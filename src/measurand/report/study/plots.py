"""Which plots a study has, and what is in each: rows of numbers, a title, and words for those who cannot see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from measurand.core.estimate import Estimate
from measurand.core.findings import Calibration, Contrast, Findings, Tradeoff
from measurand.core.summary import Summary, View
from measurand.report.drawing import Scale, scale_of
from measurand.report.study.wording import difference, difference_interval, over, pair, with_interval
from measurand.report.wording import FEW, clipped, headline, number, protocol_id, slices, visible, who

Kind = Literal["estimates", "differences", "slices", "tradeoffs", "calibration", "curve"]
Row = dict[str, Any]

MOST_TOLD = 8
"""Rows that a plot's text alternative tells one by one; the table beside it has them all."""
MOST_PLOTS = 24
"""Plots of one kind on a page, so that it stays under 3 MB; all of them are written to files."""
MOST_ROWS = 40
"""Rows of one plot; more could not be read."""

LEAST_SPAN = 0.4
"""The least part of a metric's range that a heat map's shades span."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as data. `domain` are the ends of the scale of its numbers, `across` those of the other scale, if any.

    `unit` is that of the numbers, as in an Estimate: empty for shares. `protocol` are short hashes.
    """

    kind: Kind
    name: str
    title: str
    alt: str
    rows: tuple[Row, ...]
    domain: tuple[float, float] = (0.0, 1.0)
    unit: str = ""
    axis: str = ""
    across: tuple[float, float] = (0.0, 1.0)
    protocol: str = ""


def plots(findings: Findings) -> tuple[Plot, ...]:
    """Every plot of a study, in the order of the page. Names are unique and fit for files."""
    made: list[Plot] = []
    for plot in (
        *_estimates(findings),
        *_differences(findings),
        *_slices(findings),
        *_tradeoffs(findings),
        *(_calibration(findings, one) for one in findings.calibration),
    ):
        taken = {other.name for other in made}
        name = next(name for name in _names(plot.name) if name not in taken)
        made.append(replace(plot, name=name))
    return tuple(made)


def by_scenario(findings: Findings) -> dict[tuple[str, str], list[Summary]]:
    """The summaries that have a number to show, by scenario and the metric of their headline."""
    found: dict[tuple[str, str], list[Summary]] = {}
    for summary in findings.summaries:
        first = headline(summary)
        if first is not None:
            found.setdefault((summary.run.benchmark, first.metric), []).append(summary)
    return found


def protocols(findings: Findings, scenario: str, subject: str = "") -> str:
    """The short hashes of the protocols that a scenario was measured under: one, where all can be compared."""
    ours = [summary for summary in findings.summaries if summary.run.benchmark == scenario]
    return ", ".join(dict.fromkeys(protocol_id(one) for one in ours if not subject or who(one) == subject))


def slice_table(summaries: Sequence[Summary], metric: str) -> dict[str, dict[str, dict[str, View]]]:
    """The views of a metric by slice, by value, by subject."""
    found: dict[str, dict[str, dict[str, View]]] = {}
    for summary in summaries:
        for field, values in slices(summary).items():
            for value, views in values.items():
                for view in views:
                    if view.estimate.metric == metric:
                        found.setdefault(field, {}).setdefault(value, {})[who(summary)] = view
    return found


def contrasts_by_scenario(findings: Findings) -> dict[tuple[str, str], list[Contrast]]:
    """The contrasts by scenario and metric: those with the chosen subject first, whole sets before slices."""
    chosen = findings.decision.chosen
    found: dict[tuple[str, str], list[Contrast]] = {}
    for contrast in findings.contrasts:
        found.setdefault((contrast.scenario, contrast.metric), []).append(contrast)
    for contrasts in found.values():
        contrasts.sort(key=lambda one: (one.view.startswith("slice:"), chosen not in (one.a, one.b)))
    return found


def difference_domains(contrasts: Iterable[Contrast]) -> dict[str, tuple[float, float]]:
    """A scale for the differences of each unit, the same on both sides of zero."""
    reach: dict[str, float] = {}
    for contrast in contrasts:
        if contrast.comparison is not None:
            found = contrast.comparison.difference
            ends = (abs(end) for end in (found.value, found.low, found.high, contrast.margin) if end is not None)
            reach[found.unit] = max(reach.get(found.unit, 0.0), *ends, 0.0)
    return {unit: (-1.05 * (far or 1.0), 1.05 * (far or 1.0)) for unit, far in reach.items()}


def shade_scale(estimates: Sequence[Estimate]) -> Scale:
    """The scale of a heat map: from its lowest number to its highest, but wide enough that noise is no contrast."""
    values = [one.value for one in estimates if one.value is not None]
    whole = scale_of(estimates)
    high = max(values, default=whole.high)
    low = min([*values, high - LEAST_SPAN * (whole.high - whole.low)])
    return Scale(low, high)


def _estimates(findings: Findings) -> Iterator[Plot]:
    for (scenario, metric), summaries in by_scenario(findings).items():
        numbers = [view for summary in summaries if (view := headline(summary))]
        scale = scale_of(numbers)
        rows = [
            _row(f"{who(summary)} (chosen)" if chosen else who(summary), one, with_interval(one), chosen)
            for summary, one in zip(summaries, numbers, strict=True)
            for chosen in [who(summary) == findings.decision.chosen]
        ]
        yield Plot(
            "estimates",
            f"estimates {scenario}",
            f"{scenario}: {metric}",
            _alt(f"Forest plot of {safe(metric)} on {safe(scenario)}", rows),
            tuple(rows[:MOST_ROWS]),
            (scale.low, scale.high),
            numbers[0].unit,
            _axis(numbers[0].unit, metric),
            protocol=protocols(findings, scenario),
        )


def _differences(findings: Findings) -> Iterator[Plot]:
    two = len(findings.subjects) == 2  # noqa: PLR2004 -- one pair has room for its slices
    domains = difference_domains(one for one in findings.contrasts if two or one.view == "pooled")
    for (scenario, metric), contrasts in contrasts_by_scenario(findings).items():
        pooled = [one for one in contrasts if one.comparison is not None and (two or one.view == "pooled")]
        if not pooled or pooled[0].comparison is None:
            continue
        unit = pooled[0].comparison.difference.unit
        rows = [_contrast(one, one.comparison.difference, findings.decision.chosen) for one in pooled if one.comparison]
        axis = f"difference in {metric}, {unit or 'percentage points'}"
        yield Plot(
            "differences",
            f"differences {scenario}",
            f"{scenario}: differences in {metric}",
            _alt(f"Forest plot of differences in {safe(metric)} on {safe(scenario)}", rows),
            tuple(rows[:MOST_ROWS]),
            domains[unit],
            unit,
            axis,
            protocol=protocols(findings, scenario),
        )


def _slices(findings: Findings) -> Iterator[Plot]:
    for (scenario, metric), summaries in by_scenario(findings).items():
        for field, values in slice_table(summaries, metric).items():
            rows = [
                _row(value, view.estimate, number(view.estimate), chosen=False)
                | {"subject": safe(subject), "few": view.estimate.n_items < FEW}
                for value, subjects in values.items()
                for subject, view in subjects.items()
            ]
            estimates = [view.estimate for subjects in values.values() for view in subjects.values()]
            scale = shade_scale(estimates)
            title = f"{scenario}: {metric} by {field}"
            alt = _alt(f"Heat map of {safe(metric)} on {safe(scenario)} by {safe(field)}", rows, "subject")
            yield Plot(
                "slices",
                f"slices {scenario} {field}",
                title,
                alt,
                tuple(rows),
                (scale.low, scale.high),
                protocol=protocols(findings, scenario),
            )


def _tradeoffs(findings: Findings) -> Iterator[Plot]:
    scenarios = dict.fromkeys(one.scenario for one in findings.tradeoffs)
    for scenario in scenarios:
        ours = [one for one in findings.tradeoffs if one.scenario == scenario]
        for what, title in (("cost", "cost of 1,000 items"), ("latency", "latency, 95th percentile")):
            shown = [(one, spent) for one in ours if (spent := getattr(one, what)) and spent.value is not None]
            if len(shown) < 2:  # noqa: PLR2004 -- a trade-off is between two
                continue
            ends, quality = _span([spent for _, spent in shown]), _span([one.quality for one in ours])
            rows = [_point(one, spent, findings.decision.chosen, ends) for one, spent in shown]
            unit = shown[0][1].unit
            yield Plot(
                "tradeoffs",
                f"{what} {scenario}",
                f"{scenario}: {shown[0][0].quality.metric} and {what}",
                _alt(f"{safe(shown[0][0].quality.metric)} against {title} on {safe(scenario)}", rows),
                tuple(rows),
                quality,
                shown[0][0].quality.unit,
                f"{title}, {unit}" if unit else title,
                ends,
                protocols(findings, scenario),
            )


def _contrast(one: Contrast, found: Estimate, chosen: str) -> Row:
    name = over(one.view, one.value) if one.value else pair(one)
    row = _row(name, found, f"{difference(found)} [{difference_interval(found)}]", chosen in (one.a, one.b))
    margin = None if one.margin is None else -one.margin
    return row | {"shown": difference(found), "zero": 0.0, "margin": margin, "bound_low": None, "bound_high": None}


def _point(one: Tradeoff, spent: Estimate, chosen: str, ends: tuple[float, float]) -> Row:
    told = f"{with_interval(one.quality)} at {with_interval(spent)}"
    row = _row(one.subject, one.quality, told, one.subject == chosen)
    left = spent.value is not None and spent.value > (ends[0] + ends[1]) / 2  # the label's side, so that it fits
    spent_row = {"x": spent.value, "x_low": spent.low, "x_high": spent.high, "left": left}
    return row | spent_row | {"dominated": bool(one.dominated_by)}


def _calibration(findings: Findings, one: Calibration) -> Plot:
    rows = [
        _row(f"confidence {100 * each.confidence:.1f} %", each.correct, with_interval(each.correct), chosen=True)
        | {"x": each.confidence}
        for each in one.bins
    ]
    title = f"{one.subject} on {one.scenario}"
    alt = _alt(f"Reliability curve of {safe(title)}: the share that was right at each confidence", rows)
    under = protocols(findings, one.scenario, one.subject)
    axis = "confidence, per cent"
    return Plot("calibration", f"calibration {title}", title, alt, tuple(rows), axis=axis, protocol=under)


def _row(label: str, estimate: Estimate, told: str, chosen: bool) -> Row:  # noqa: FBT001 -- a field of the row
    low, high = estimate.bounds or (None, None)
    return {
        "label": safe(label),
        "told": told,
        "shown": told,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "bound_low": low,
        "bound_high": high,
        "chosen": chosen,
    }


def _span(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """From the lowest end to the highest with a little air: of a trade-off the differences matter, not the zero."""
    ends = [end for one in estimates for end in (one.low, one.value, one.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    air = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    return low - air, high + air


def _axis(unit: str, metric: str) -> str:
    return f"{metric}, per cent" if not unit else f"{metric}, {unit}"


def _alt(what: str, rows: Sequence[Row], also: str = "") -> str:
    """The plot in words."""
    told = [f"{row[also]}, {row['label']}: {row['told']}" if also else f"{row['label']}: {row['told']}" for row in rows]
    more = f"; and {len(rows) - MOST_TOLD:,} more" if len(rows) > MOST_TOLD else ""
    return f"{what}. {'; '.join(told[:MOST_TOLD])}{more}. The table beside it has the numbers."


def safe(text: str) -> str:
    """Text from outside as it may stand in a plot: nothing hidden, and one line."""
    return clipped(" ".join(visible(text).split()))


def _names(wanted: str) -> Iterator[str]:
    name = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:80] or "plot"
    yield name
    yield from (f"{name}-{count}" for count in range(2, 10_000))
