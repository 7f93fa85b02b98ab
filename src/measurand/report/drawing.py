"""Two small drawings as inline SVG. Colours and widths come from the page's style sheet by class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from measurand.core.estimate import Estimate

WIDTH = 240
HEIGHT = 18
_MARGIN = 6
_THINNEST = 1.5


@dataclass(frozen=True, slots=True)
class Scale:
    """The numbers at the left and right end, so that the drawings of one table can be compared."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """The place of a value, kept inside the drawing."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(_MARGIN + (WIDTH - 2 * _MARGIN) * min(max(share, 0.0), 1.0), 1)


def scale_of(estimates: Sequence[Estimate]) -> Scale:
    """0 to 1 for shares; otherwise from the lowest end to the highest, with a little air."""
    if all(not estimate.unit for estimate in estimates):
        return Scale(0.0, 1.0)
    ends = [
        end
        for estimate in estimates
        for end in (estimate.value, estimate.low, estimate.high, *(estimate.bounds or ()))
        if end is not None and math.isfinite(end)
    ]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    air = 0.08 * (high - low) or abs(high) * 0.1 or 1.0
    return Scale(low - air, high + air)


def whisker(estimate: Estimate, scale: Scale, marks: Mapping[str, float] | None = None) -> Markup:
    """A dot with its interval, on a pale band of bounds; `marks` are upright lines: `reference` dashed, `zero` plain.

    Hidden from screen readers: the numbers stand beside it as text.
    """
    middle = HEIGHT / 2
    parts = [_line("track", _MARGIN, WIDTH - _MARGIN, middle)]
    for name, value in (marks or {}).items():
        x = scale.x(value)
        parts.append(f'<line class="{name}" x1="{x}" x2="{x}" y1="1" y2="{HEIGHT - 1}"/>')
    if estimate.bounds is not None:
        left, right = (scale.x(end) for end in estimate.bounds)
        parts.append(_rectangle("bounds", left, right - left, (middle - 5, 10)))
    if estimate.low is not None and estimate.high is not None:
        parts.append(_line("interval", scale.x(estimate.low), scale.x(estimate.high), middle))
    if estimate.value is not None:
        parts.append(f'<circle class="dot" cx="{scale.x(estimate.value)}" cy="{middle}" r="4"/>')
    return _svg("whisker", HEIGHT, parts)


def bar(counts: Sequence[tuple[str, int]]) -> Markup:
    """A bar of parts that add up to its whole length; a part that is not nothing can be seen."""
    total = sum(count for _, count in counts)
    shown = [(name, count) for name, count in counts if count]
    widths = [max(_THINNEST, count / total * WIDTH) for _, count in shown]
    spare = sum(widths) - WIDTH
    if widths:
        widths[widths.index(max(widths))] -= spare
    parts, at = [], 0.0
    for (name, _), width in zip(shown, widths, strict=True):
        parts.append(_rectangle(name.replace(" ", "-"), at, width, (0, 10)))
        at += width
    return _svg("tally", 10, parts)


def _svg(kind: str, height: int, parts: Sequence[str]) -> Markup:
    opening = f'<svg class="{kind}" viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none" aria-hidden="true">'
    if kind == "whisker":
        opening = opening.replace(' preserveAspectRatio="none"', "")
    # Only numbers and class names of this file are in the parts; nothing from outside reaches them.
    return Markup(opening + "".join(parts) + "</svg>")  # noqa: S704 -- see above


def _line(kind: str, left: float, right: float, y: float) -> str:
    return f'<line class="{kind}" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'


def _rectangle(kind: str, x: float, width: float, vertical: tuple[float, float]) -> str:
    y, height = vertical
    return f'<rect class="{kind}" x="{x:.2f}" y="{y}" width="{width:.2f}" height="{height}"/>'
