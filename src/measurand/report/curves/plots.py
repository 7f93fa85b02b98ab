"""Which plots a watched training run has: one for each curve, and one of the training loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measurand.core.curves import Curve, Curves, Loss, Point
from measurand.core.estimate import Estimate
from measurand.core.identity import short
from measurand.report.drawing import scale_of
from measurand.report.study.plots import MOST_TOLD, Plot, Row, safe
from measurand.report.study.wording import with_interval

MOST_CURVES = 24
MOST_LOSSES = 400
"""Logged losses in the plot; of more, every n-th."""


def plots(curves: Curves) -> Iterator[Plot]:
    """Every plot, in the order of the curves; the training loss comes last."""
    for number, curve in enumerate(curves.curves[:MOST_CURVES]):
        if any(point.estimate.value is not None for point in curve.points):
            yield _curve(curves, curve, number)
    shown = [loss for loss in curves.losses if loss.value is not None]
    if shown:
        yield _losses(shown)


def _curve(curves: Curves, curve: Curve, number: int) -> Plot:
    alerted = {alert.place for alert in curves.alerts if curve.name in alert.curves}
    by_step = all(one.step is not None for one in curves.checkpoints)
    limits = _limits(curve)
    rows = tuple(
        _row(point, float(point.step if by_step and point.step is not None else point.place + 1))
        | {"limit": limit, "alert": point.place in alerted, "dot": point.estimate.value is not None}
        for point, limit in zip(curve.points, limits, strict=True)
    )
    estimates = [point.estimate for point in curve.points]
    scale = scale_of(estimates) if estimates[0].unit else scale_of([_as_score(one) for one in estimates])
    unit = estimates[0].unit
    last = [point for point in curve.points if point.estimate.value is not None][-MOST_TOLD:]
    told = "; ".join(f"{safe(point.checkpoint)}: {with_interval(point.estimate)}" for point in last)
    return Plot(
        "curve",
        f"curve {number}",
        curve.name,
        f"Curve of {safe(curve.metric)} on {safe(curve.name)}, latest last. {told}. The table has all numbers.",
        rows,
        (scale.low, scale.high),
        unit,
        f"{curve.metric}, {unit or 'per cent'}",
        _span([row["x"] for row in rows]),
        short(curve.protocol),
    )


def _as_score(estimate: Estimate) -> Estimate:
    """A share whose scale is where its curve runs, instead of 0 to 1."""
    import msgspec

    return msgspec.structs.replace(estimate, unit="share")


def _limits(curve: Curve) -> list[float | None]:
    """For each point, what the next one must pass to be told from the best so far; None before there is a best."""
    found: list[float | None] = []
    best: float | None = None
    down = curve.role == "perplexity"
    for point in curve.points:
        value = point.estimate.value
        if value is not None:
            best = value if best is None else min(best, value) if down else max(best, value)
        change = None if point.from_previous is None else point.from_previous.detectable
        found.append(None if best is None or change is None else best + change if down else best - change)
    return found


def _row(point: Point, x: float) -> Row:
    one = point.estimate
    return {
        "label": safe(point.checkpoint),
        "x": x,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "chosen": False,
    }


def _losses(losses: Sequence[Loss]) -> Plot:
    shown = losses[:: max(1, -(-len(losses) // MOST_LOSSES))]
    values = [loss.value for loss in shown if loss.value is not None]
    low, high = min(values), max(values)
    air = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    rows: tuple[Row, ...] = tuple(
        {"label": str(loss.step), "x": float(loss.step), "value": loss.value, "low": None, "high": None}
        | {"limit": None, "alert": False, "dot": False, "chosen": False}
        for loss in shown
    )
    first, last = shown[0], shown[-1]
    alt = f"Training loss, from {first.value:.4g} at step {first.step:,} to {last.value:.4g} at step {last.step:,}."
    span = _span([row["x"] for row in rows])
    return Plot("curve", "training loss", "Training loss", alt, rows, (low - air, high + air), "loss", "loss", span)


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, high + 1)
