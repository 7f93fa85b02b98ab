"""Win rates over scenarios: how many of the other subjects one beats. A number about a pool, not about a subject.

The mean win rate adds up scenarios of different units, and pays for it: it says nothing of how far apart two subjects
are, and it moves when another subject joins or leaves, so that two may change places although neither was measured
again. `swaps` finds where that would happen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations

from measurand.core.errors import InputError

Board = Mapping[str, Mapping[str, float | None]]
"""Scenarios, and in each the number of every subject; None or absent where it is not measured."""
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class WinRate:
    """A subject's mean win rate; `scenarios` were counted, in `missing` it has no number. None where nothing counts."""

    subject: str
    value: float | None
    scenarios: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Swap:
    """`ahead` leads `behind` by mean win rate, and would not if `without` were not in the pool."""

    ahead: str
    behind: str
    without: str


def win_rates(values: Mapping[str, float | None], *, lower_is_better: bool = False) -> dict[str, float]:
    """For each subject of one scenario, the share of the others that it beats; a tie counts half.

    Subjects without a number are not in the pool. Empty where fewer than two have one. Liang et al. 2022, "Holistic
    evaluation of language models", section 8; ties as HELM's summary counts them.
    """
    known = {name: -value if lower_is_better else value for name, value in values.items() if value is not None}
    if len(known) < 2:  # noqa: PLR2004 -- one alone beats nobody
        return {}
    return {
        name: (sum(other < value for other in known.values()) + (list(known.values()).count(value) - 1) / 2)
        / (len(known) - 1)
        for name, value in known.items()
    }


def mean_win_rates(board: Board, *, lower_is_better: Collection[str] = ()) -> tuple[WinRate, ...]:
    """Every subject's win rate averaged over the scenarios that it has a number in, the highest first.

    `lower_is_better` names scenarios. A subject with missing cells is averaged over other scenarios than its rivals,
    which is why they are named. Raises InputError for a scenario in `lower_is_better` that is not on the board.
    """
    unknown = set(lower_is_better) - set(board)
    if unknown:
        raise InputError(f"no scenario {min(unknown)!r} on the board; there are {', '.join(board)}")
    each = {name: win_rates(values, lower_is_better=name in lower_is_better) for name, values in board.items()}
    subjects = dict.fromkeys(subject for values in board.values() for subject in values)
    made = []
    for subject in subjects:
        counted = tuple(name for name in board if subject in each[name])
        missing = tuple(name for name, values in board.items() if values.get(subject) is None)
        value = sum(each[name][subject] for name in counted) / len(counted) if counted else None
        made.append(WinRate(subject, value, counted, missing))
    return tuple(sorted(made, key=lambda one: -1.0 if one.value is None else one.value, reverse=True))


def swaps(board: Board, *, lower_is_better: Collection[str] = ()) -> tuple[Swap, ...]:
    """The pairs that would change places if one other subject had not been in the pool.

    A tie on either side is no change of places. Raises InputError as `mean_win_rates`.
    """
    before = _values(mean_win_rates(board, lower_is_better=lower_is_better))
    found = []
    for without in before:
        rest = {name: {s: v for s, v in values.items() if s != without} for name, values in board.items()}
        after = _values(mean_win_rates(rest, lower_is_better=lower_is_better))
        for ahead, behind in combinations(after, 2):
            lead, kept = before[ahead] - before[behind], after[ahead] - after[behind]
            if lead < -ROUNDING and kept > ROUNDING:
                found.append(Swap(behind, ahead, without))
    return tuple(found)


def _values(rates: tuple[WinRate, ...]) -> dict[str, float]:
    return {one.subject: one.value for one in rates if one.value is not None}
