"""Plots as Vega-Lite specifications, made with Altair. Colours are those of the style sheet.

Altair is heavy and an extra: `drawn.py` imports this file where something is really drawn.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from measurand.report.palette import palette
from measurand.report.study.plots import Plot, Row

WIDTH = 320
"""Pixels of a plot, so that it fits a phone without shrinking; a wide page sets several side by side."""
_ROW = 40
_NAME = 185
_SMALL, _TEXT = 11, 12
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
_MANY = 6
"""Subjects in one trade-off plot up to which each is labelled; beyond, only those that none dominates."""

Chart = Any  # Altair's layered charts share no type that says what is done with them here
_BASE: Chart = alt.Chart(alt.NamedData("rows"))


def specification(plot: Plot, *, titled: bool = False) -> dict[str, Any]:
    """The plot as Vega-Lite data. With `titled` it carries its title and a white ground, to stand alone in a file."""
    draw = {
        "estimates": _forest,
        "differences": _forest,
        "slices": _heat_map,
        "tradeoffs": _tradeoff,
        "calibration": _calibration,
        "curve": _curve,
    }
    colours = palette()
    chart = draw[plot.kind](plot, colours)
    if titled:
        under = f"protocol {plot.protocol}" if plot.protocol else ""
        chart = chart.properties(title=alt.TitleParams(plot.title, subtitle=under))
    made: dict[str, Any] = (
        chart.configure(
            font=_FONT, background=colours["paper"] if titled else "transparent", padding=12 if titled else 2
        )
        .configure_view(stroke=None)
        .configure_title(
            anchor="start",
            fontSize=14,
            color=colours["ink"],
            fontWeight=600,
            offset=12,
            limit=WIDTH + 60,
            subtitleColor=colours["soft"],
            subtitleFontSize=_SMALL,
        )
        .configure_axis(
            labelColor=colours["soft"],
            titleColor=colours["soft"],
            labelFontSize=_SMALL,
            titleFontSize=_SMALL,
            titleFontWeight="normal",
            gridColor=colours["line"],
            domainColor=colours["line"],
            tickColor=colours["line"],
            labelLimit=140,
        )
        .to_dict()
    )
    # The rows go in afterwards: Altair would check each of them against the grammar, and copy them into every layer.
    made["datasets"] = {"rows": _rows(plot)}
    return made


def _rows(plot: Plot) -> list[Row]:
    """The rows with what only the drawing needs: their places, labels that fit, and how a dot looks."""
    few = len(plot.rows) <= _MANY
    by_value = sorted(plot.rows, key=lambda row: row["value"] or 0.0)
    return [
        row
        | {"order": place, "below": by_value.index(row) % 2 == 1}
        | {"name": row["label"] if few or not row.get("dominated") else ""}
        | {"look": "hollow" if row.get("dominated") else "chosen" if row["chosen"] else "other"}
        for place, row in enumerate(plot.rows)
    ]


def _forest(plot: Plot, colours: dict[str, str]) -> Chart:
    """One row for each number: its name and value above, a dot on its interval below."""
    base = _BASE.properties(width=WIDTH, height=alt.Step(_ROW))
    y = alt.Y("order:O", axis=None)
    x = _scaled(alt.X("low:Q"), plot, plot.axis)
    pick = alt.condition(alt.datum.chosen, alt.value(colours["accent"]), alt.value(colours["soft"]))
    text = {"dy": -15, "baseline": "middle"}
    layers = [
        base.mark_bar(height=10, color=colours["band"]).encode(x=alt.X("bound_low:Q"), x2="bound_high:Q", y=y),
        *(
            base.mark_tick(orient="vertical", size=18, thickness=2, color=colours[colour])
            .encode(x=alt.X(f"{name}:Q"), y=y)
            .transform_filter(f"isValid(datum.{name})")
            for name, colour in (("zero", "soft"), ("margin", "reference"))
            if any(row.get(name) is not None for row in plot.rows)
        ),
        base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", y=y, color=pick),
        base.mark_circle(size=64, opacity=1).encode(x=alt.X("value:Q"), y=y, color=pick),
        base.mark_text(align="left", fontSize=_TEXT, limit=_NAME, color=colours["ink"], **text).encode(
            x=alt.value(0), y=y, text="label:N"
        ),
        base.mark_text(align="right", fontSize=_SMALL, limit=WIDTH - _NAME, color=colours["soft"], **text).encode(
            x=alt.value(WIDTH), y=y, text="shown:N"
        ),
    ]
    return alt.layer(*layers)


def _heat_map(plot: Plot, colours: dict[str, str]) -> Chart:
    """A square for each subject and value of the slice, the darker the higher, with its number."""
    base = _BASE.properties(width=alt.Step(96), height=alt.Step(30))
    x = alt.X(
        "subject:N", sort=None, axis=alt.Axis(orient="top", labelAngle=0, title=None, labelLimit=90, domain=False)
    )
    y = alt.Y("label:N", sort=None, axis=alt.Axis(title=None, domain=False))
    shade = alt.Scale(domain=list(plot.domain), range=[colours["paper"], colours["accent"]], interpolate="rgb")
    # Half covered at most, so that the number on it can be read.
    squares = base.mark_rect(opacity=0.5).encode(x=x, y=y, color=alt.Color("value:Q", scale=shade, legend=None))
    text = base.mark_text(fontSize=_SMALL, color=colours["ink"]).encode(x=x, y=y, text="told:N")
    return squares + text


def _tradeoff(plot: Plot, colours: dict[str, str]) -> Chart:
    """Quality against what it takes: a cross of two intervals for each subject; hollow where it is dominated."""
    base = _BASE.properties(width=WIDTH - 40, height=220)
    span = alt.Scale(domain=list(plot.across), nice=True, zero=False)
    pick = alt.condition(alt.datum.chosen, alt.value(colours["accent"]), alt.value(colours["soft"]))
    look = alt.Scale(domain=["hollow", "chosen", "other"], range=[colours[c] for c in ("paper", "accent", "soft")])
    inner = alt.Fill("look:N", scale=look, legend=None)
    x = alt.X("x:Q", scale=span, axis=alt.Axis(title=plot.axis, tickCount=5, grid=False))
    title = f"quality, {plot.unit or 'per cent'}"
    y = _scaled(alt.Y("value:Q"), plot, title)
    sides = (("right", -8, True), ("left", 8, False))
    texts = [  # above and below in turns, so that neighbours do not write over each other
        base.mark_text(align=align, dx=dx, dy=dy, fontSize=_TEXT, color=colours["ink"], limit=150)
        .encode(x=x, y=y, text="name:N")
        .transform_filter((alt.datum.left == left) & (alt.datum.below == below))
        for align, dx, left in sides
        for dy, below in ((-10, False), (12, True))
    ]
    return alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(x=x, y=_scaled(alt.Y("low:Q"), plot, title), y2="high:Q", color=pick),
        base.mark_rule(strokeWidth=1.5).encode(x=alt.X("x_low:Q", scale=span), x2="x_high:Q", y=y, color=pick),
        base.mark_point(size=70, filled=True, opacity=1, strokeWidth=2).encode(x=x, y=y, fill=inner, stroke=pick),
        *texts,
    )


def _calibration(plot: Plot, colours: dict[str, str]) -> Chart:
    """The share that was right against the confidence; on the dashed line they are equal."""
    base = _BASE.properties(width=WIDTH - 40, height=220)
    line = alt.Chart(alt.InlineData(values=[{"x": 0, "value": 0}, {"x": 1, "value": 1}]))
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1]), axis=_axis(plot.axis, shares=True))
    y = _scaled(alt.Y("value:Q"), plot, "right, per cent")
    return alt.layer(
        line.mark_line(color=colours["reference"], strokeDash=[4, 3], strokeWidth=1.5).encode(x=x, y=y),
        base.mark_rule(color=colours["accent"], strokeWidth=2).encode(
            x=x, y=_scaled(alt.Y("low:Q"), plot, "right, per cent"), y2="high:Q"
        ),
        base.mark_line(color=colours["accent"], strokeWidth=1.5).encode(x=x, y=y),
        base.mark_circle(color=colours["accent"], size=60, opacity=1).encode(x=x, y=y),
    )


def _curve(plot: Plot, colours: dict[str, str]) -> Chart:
    """A number over the checkpoints on the band of its interval; the dashed line is what a change must pass."""
    base = _BASE.properties(width=WIDTH - 40, height=180)
    x = alt.X("x:Q", scale=alt.Scale(domain=list(plot.across)), axis=alt.Axis(title="step", tickCount=5, grid=False))
    y, low = (_scaled(alt.Y(f"{name}:Q"), plot, plot.axis) for name in ("value", "low"))
    layers = [
        base.mark_area(color=colours["band"]).encode(x=x, y=low, y2="high:Q"),
        base.mark_line(color=colours["reference"], strokeDash=[4, 3], strokeWidth=1.5).encode(
            x=x, y=_scaled(alt.Y("limit:Q"), plot, plot.axis)
        ),
        base.mark_line(color=colours["accent"], strokeWidth=1.5).encode(x=x, y=y),
        base.mark_circle(color=colours["accent"], size=20, opacity=1).encode(x=x, y=y).transform_filter("datum.dot"),
        base.mark_circle(color=colours["fail"], size=90, opacity=1)
        .encode(x=x, y=y)
        .transform_filter("datum.alert && isValid(datum.value)"),
    ]
    return alt.layer(*layers)


def _scaled(channel: Any, plot: Plot, title: str = "") -> Any:
    """A channel on the plot's scale; shares are labelled in per cent, and differences of shares in points."""
    scale = alt.Scale(domain=list(plot.domain), zero=False, nice=plot.kind == "differences")
    return channel.scale(scale).axis(_axis(title, shares=not plot.unit, whole=plot.domain == (0.0, 1.0)))


def _axis(title: str, *, shares: bool, whole: bool = True) -> Any:
    options: dict[str, Any] = {"title": title or None, "tickCount": 5, "grid": False}
    if shares:
        options["labelExpr"] = "format(datum.value * 100, 'd')"
    if shares and whole:
        options["values"] = [0, 0.25, 0.5, 0.75, 1]
    return alt.Axis(**options)
