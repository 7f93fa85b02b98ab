"""Numbers in sentences: one way to say a share, a difference, an interval and a count."""

from __future__ import annotations

from measurand.core.estimate import Comparison, Estimate

SMALLEST_P = 0.001


def amount(value: float | None, unit: str = "") -> str:
    """A value with its unit: a share of one as a percentage, money and seconds as people write them."""
    if value is None:
        return "no number"
    if not unit:
        return f"{100 * value:.1f} %"
    if unit == "USD":
        return f"${value:,.2f}" if value >= 1 else f"${value:.4f}"
    return f"{value:.3g}" if unit == "score" else f"{value:.3g} {unit}"


def gap(value: float, unit: str = "") -> str:
    """A difference without its sign: of shares in points, of anything else in its unit."""
    return f"{100 * abs(value):.1f} points" if not unit else amount(abs(value), unit)


def span(estimate: Estimate) -> str:
    """The interval as two numbers in the estimate's unit, or that there is none."""
    if estimate.low is None and estimate.high is None:
        return "no interval"
    ends = ["any" if end is None else _bare(end, estimate.unit) for end in (estimate.low, estimate.high)]
    return f"{ends[0]} to {ends[1]}"


def number(estimate: Estimate) -> str:
    """A number with its interval and its items: `71.3 % (64.0 to 77.6, 160 items)`."""
    if estimate.value is None:
        return f"no number ({estimate.method.removeprefix('none: ')})"
    gone = ""
    if estimate.bounds is not None and estimate.n_missing:
        low, high = (_bare(end, estimate.unit) for end in estimate.bounds)
        gone = f"; {estimate.n_missing:,} missing, could be {low} to {high}"
    items = counted(estimate.n_items, "item")
    return f"{amount(estimate.value, estimate.unit)} ({span(estimate)}, {items}{gone})"


def difference(comparison: Comparison) -> str:
    """A difference with interval and p: `12.5 points (4.1 to 20.9, paired, p 0.004)`."""
    made = comparison.difference
    if made.value is None:
        return f"no difference ({made.method.removeprefix('none: ')})"
    how = "paired" if comparison.paired else "unpaired"
    p = comparison.p if comparison.adjusted_p is None else comparison.adjusted_p
    chance = "" if p is None else f", {chances(p)}"
    adjusted = "" if comparison.adjusted_p is None else " adjusted"
    return f"{_signed(made.value, made.unit)} ({span(made)}, {how}{chance}{adjusted})"


def chances(p: float) -> str:
    """A p-value as people read it."""
    return f"p < {SMALLEST_P}" if p < SMALLEST_P else f"p {p:.3f}"


def counted(n: int, thing: str) -> str:
    """A count with its noun in the right number."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def listed(names: list[str] | tuple[str, ...], most: int = 4) -> str:
    """Names as a list in a sentence; beyond `most` the rest is counted."""
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _bare(value: float, unit: str) -> str:
    return f"{100 * value:.1f}" if not unit else amount(value, unit)


def _signed(value: float, unit: str) -> str:
    return f"{100 * value:+.1f} points" if not unit else f"{'+' if value >= 0 else '-'}{amount(abs(value), unit)}"
