"""Numbers of the same answers that cannot stand in this order: swapped columns, mixed-up files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

# Each pair: on the same answers the first is never above the second.
_NEVER_ABOVE = (
    ("em", "f1"),
    ("exact_match", "f1"),
    ("exact", "f1"),
    ("strict", "loose"),
)
_AT = re.compile(r"(.{1,60}?)(?:_at_|@)([0-9]{1,9})")
_GROW = frozenset({"pass", "recall", "hit", "hit_rate", "success"})
_SLACK = 1e-9


def implausible(numbers: Mapping[str, float | None]) -> tuple[str, ...]:
    """A sentence for every two numbers that contradict each other, by the names of their metrics.

    Exact match is never above F1, strict never above loose, and pass@k, recall@k and hit rates never fall as k
    grows. Numbers must be of the same answers; None is skipped.
    """
    return tuple(
        f"{low} ({numbers[low]:.4g}) is above {high} ({numbers[high]:.4g}), which cannot be on the same answers: "
        "look for swapped columns"
        for low, high in _pairs(numbers)
        if _above(numbers[low], numbers[high])
    )


def _above(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a > b + _SLACK


def _pairs(numbers: Mapping[str, float | None]) -> Iterator[tuple[str, str]]:
    """Names of two numbers of which the first may not be above the second."""
    names = {name.lower(): name for name in numbers}
    for lowered, name in names.items():
        for low, high in _NEVER_ABOVE:
            other = re.sub(rf"(?<![a-z0-9]){low}(?![a-z0-9])", high, lowered)
            if other != lowered and other in names:
                yield name, names[other]
    graded = [(match[1], int(match[2]), name) for lowered, name in names.items() if (match := _AT.fullmatch(lowered))]
    for kind, k, name in graded:
        yield from ((name, other) for same, j, other in graded if same == kind and k < j and kind in _GROW)
