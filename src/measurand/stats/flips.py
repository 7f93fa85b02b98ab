"""Whether who is ahead depends on how the numbers were combined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, permutations


@dataclass(frozen=True, slots=True)
class Flip:
    """Two subjects whose order turns: `first` leads by the aggregation `by`, `second` by `against`.

    `numbers` are first and second in `by`, then first and second in `against`, shares of one where `unit` is empty.
    """

    first: str
    second: str
    by: str
    against: str
    numbers: tuple[float, float, float, float]
    unit: str = ""

    def __str__(self) -> str:
        """The flip in a sentence; shares as percentages."""
        a, b, c, d = (f"{number:.3g}" if self.unit else f"{100 * number:.1f}" for number in self.numbers)
        unit = self.unit or "%"
        return (
            f"The ranking flips: {self.first} leads {self.second} by {self.by} ({a} against {b} {unit}), "
            f"and {self.second} leads {self.first} by {self.against} ({d} against {c} {unit})."
        )


def flips(
    numbers: Mapping[str, Mapping[str, float | None]], *, higher_is_better: bool = True, unit: str = ""
) -> tuple[Flip, ...]:
    """Every pair of subjects whose order by one aggregation is the reverse of that by another.

    `numbers` maps each subject to its numbers by aggregation, under the name that a sentence gives it. It compares
    values, not intervals: a flip says that the choice of the aggregation decides, whether or not either difference is
    certain. An aggregation that one of the two lacks is skipped; a tie is no order.
    """
    sign = 1 if higher_is_better else -1
    found = []
    for a, b in combinations(numbers, 2):
        gaps = {name: sign * gap for name, gap in _gaps(numbers[a], numbers[b]).items()}
        for by, against in permutations(gaps, 2):
            if gaps[by] > 0 > gaps[against]:
                four = [numbers[who][name] or 0.0 for name in (by, against) for who in (a, b)]
                found.append(Flip(a, b, by, against, (four[0], four[1], four[2], four[3]), unit))
    return tuple(found)


def _gaps(a: Mapping[str, float | None], b: Mapping[str, float | None]) -> dict[str, float]:
    """How far a is above b by each aggregation that both have."""
    pairs = {name: (value, b.get(name)) for name, value in a.items()}
    return {name: one - other for name, (one, other) in pairs.items() if one is not None and other is not None}
