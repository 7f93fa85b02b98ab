"""Whether who is ahead depends on how the numbers were combined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, permutations


@dataclass(frozen=True, slots=True)
class Flip:
    """Two subjects whose order turns: `first` leads in the view `by`, `second` leads in the view `against`.

    `numbers` are first and second in `by`, then first and second in `against`.
    """

    first: str
    second: str
    by: str
    against: str
    numbers: tuple[float, float, float, float]

    def __str__(self) -> str:
        """The flip in a sentence, as percentages."""
        a, b, c, d = (f"{100 * number:.1f}" for number in self.numbers)
        return (
            f"The ranking flips: {self.first} leads {self.second} by {self.by} ({a} against {b} %), "
            f"and {self.second} leads {self.first} by {self.against} ({d} against {c} %)."
        )


def flips(numbers: Mapping[str, Mapping[str, float | None]], *, higher_is_better: bool = True) -> tuple[Flip, ...]:
    """Every pair of subjects whose order under one view is the reverse of that under another.

    `numbers` maps each subject to its numbers by view (`pooled`, `macro:subject`, ...), for instance the values of a
    summary's views. It compares values, not intervals: a flip says that the choice of the aggregation decides, whether
    or not either difference is certain. A view that one of the two lacks is skipped; a tie is no order.
    """
    sign = 1 if higher_is_better else -1
    found = []
    for a, b in combinations(numbers, 2):
        gaps = {view: sign * gap for view, gap in _gaps(numbers[a], numbers[b]).items()}
        for by, against in permutations(gaps, 2):
            if gaps[by] > 0 > gaps[against]:
                four = [numbers[who][view] or 0.0 for view in (by, against) for who in (a, b)]
                found.append(Flip(a, b, by, against, (four[0], four[1], four[2], four[3])))
    return tuple(found)


def _gaps(a: Mapping[str, float | None], b: Mapping[str, float | None]) -> dict[str, float]:
    """How far a is above b in each view that both have."""
    pairs = {view: (value, b.get(view)) for view, value in a.items()}
    return {view: one - other for view, (one, other) in pairs.items() if one is not None and other is not None}
