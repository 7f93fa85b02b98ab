"""A breakdown in words: which parts fail most, over all items and over some, as the rows of plain tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from measurand.core.summary import Part, Summary
from measurand.report.wording import bounds, clipped, interval, level, number, visible

TOGETHER = "all together"
NUMBERS = frozenset({"failed", "of", "share", "missing", "bounds"})
"""The columns that hold numbers, beside the one of the intervals."""


def parts_by_group(summary: Summary) -> Iterator[tuple[str, list[Part]]]:
    """The parts over all items, then over each value of a slice, each under its title."""
    for (field, value), parts in groupby(summary.breakdown, key=lambda part: (part.field, part.value)):
        found = list(parts)
        n = f"{found[0].estimate.n_items:,} items"
        yield f"{field}: {clipped(value)}, {n}" if field else f"All {n}", found


def columns(parts: Sequence[Part]) -> list[str]:
    """The heads of a table of parts. What is missing has columns where something is."""
    missing = ["missing", "bounds"] if any(part.estimate.n_missing for part in parts) else []
    return ["worst first", "failed", "of", "share", f"{level(parts[0].estimate)} interval", *missing]


def rows(parts: Sequence[Part]) -> Iterator[list[str]]:
    """The cells under `columns`, one row for each part."""
    missing = any(part.estimate.n_missing for part in parts)
    for part in parts:
        one = part.estimate
        cells = [
            visible(part.name) or TOGETHER,
            count(part.failed),
            count(part.of),
            number(one),
            interval(one) or "none",
        ]
        yield [*cells, f"{one.n_missing:,}", bounds(one)] if missing else cells


def count(value: float) -> str:
    """A count, which over several samples of an item is a mean."""
    return f"{value:,.1f}".removesuffix(".0")
