"""A watched training run in words: the same on the page and in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from measurand.core.curves import Curve, Curves
from measurand.core.estimate import Comparison
from measurand.report.drawing import scale_of, whisker
from measurand.report.study.wording import difference, difference_interval, probability, size
from measurand.report.wording import interval, number

KINDS = {
    "spike": "Spike",
    "divergence": "Validation and training part",
    "canaries": "Canary tasks left behind",
    "non_finite": "Not a finite number",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One checkpoint on one curve, in words."""

    checkpoint: str
    step: str
    value: str
    interval: str
    drawing: Markup
    change: str
    from_previous: str
    detectable: str
    from_best: str
    p: str
    alert: bool


def opening(curves: Curves) -> str:
    """The sentence that a page opens with: whether anything is wrong, and of how much."""
    n = len(curves.checkpoints)
    of = f"{n:,} {'checkpoint' if n == 1 else 'checkpoints'} of {curves.suite}"
    if not n:
        return "No checkpoint is measured yet."
    if not curves.alerts:
        return f"No alert in {of}."
    first = curves.alerts[0].text
    many = len(curves.alerts)
    return f"{many:,} {'alert' if many == 1 else 'alerts'} in {of}. The latest: {first}."


def terms(curves: Curves) -> str:
    """How often the rules cry wolf."""
    return (
        f"Where nothing is wrong, each kind of alert comes with a chance of at most {100 * curves.false_alarm:g} % in "
        f"{curves.planned:,} checkpoints: each test is held to a level of {curves.level:.2g}, because all looks and "
        "curves share that chance. An alert asks for a person; it does not say why."
    )


def rows(curve: Curve, curves: Curves) -> Iterator[Row]:
    """The points of a curve, the latest first."""
    scale = scale_of([point.estimate for point in curve.points])
    alerted = {alert.place for alert in curves.alerts if curve.name in alert.curves}
    for point in reversed(curve.points):
        before = point.from_previous
        yield Row(
            checkpoint=point.checkpoint,
            step="" if point.step is None else f"{point.step:,}",
            value=number(point.estimate),
            interval=interval(point.estimate),
            drawing=whisker(point.estimate, scale),
            change="" if before is None else difference(before.difference),
            from_previous=_change(before),
            detectable="" if before is None else size(before.detectable, before.difference.unit),
            from_best=_change(point.from_best),
            p="" if before is None else probability(before),
            alert=point.place in alerted,
        )


def _change(made: Comparison | None) -> str:
    if made is None or made.difference.value is None:
        return ""
    inner = difference_interval(made.difference)
    return f"{difference(made.difference)} [{inner}]" if inner else difference(made.difference)
