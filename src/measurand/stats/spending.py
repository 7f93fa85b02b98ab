"""Planned looks: an error of 5 % spent over them, so that all together cost no more.

A look at a share t of the planned items may spend what a function of t allows. Lan and DeMets 1983, "Discrete
sequential boundaries for clinical trials"; the integrals are those of Armitage, McPherson and Rowe 1969, "Repeated
significance tests on accumulating data". For a z-statistic of accumulating items: two-sided, large samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np

from measurand.core.errors import InputError
from measurand.core.looks import Looks
from measurand.stats.intervals import Interval, clopper_pearson, edge, legendre, student
from measurand.stats.means import Array, micro
from measurand.stats.sequential import added, check_follows

Kind = Literal["obrien_fleming", "pocock"]
NODES = 200
FARTHEST = 9.0
"""Standard errors beyond which nothing happens."""
SUREST = 1 - 1e-12
"""A look that is early asks for more, which costs nothing to forgo."""


def spent(fraction: float, alpha: float = 0.05, kind: Kind = "obrien_fleming") -> float:
    """The part of `alpha` that may be used up when a share `fraction` of the items is in.

    `obrien_fleming` saves nearly all for the end, so the last look is almost an ordinary test; `pocock` spends evenly,
    so early looks can stop. Lan and DeMets 1983, section 3; each of two sides spends half.
    """
    if kind == "pocock":
        return alpha * math.log(1 + (math.e - 1) * fraction)
    normal = NormalDist()
    return 4 * (1 - normal.cdf(normal.inv_cdf(1 - alpha / 4) / math.sqrt(fraction)))


def boundaries(fractions: Sequence[float], alpha: float = 0.05, kind: Kind = "obrien_fleming") -> Array:
    """The |z| that each look has to exceed: [looks]. `fractions` are shares of the planned items, growing up to 1.

    Raises InputError for shares that do not grow, or leave 0 to 1.
    """
    return np.array(_boundaries(tuple(fractions), alpha, kind))


@lru_cache(maxsize=256)
def _boundaries(fractions: tuple[float, ...], alpha: float, kind: Kind) -> tuple[float, ...]:
    _check(fractions)
    path, found, used = _Path(), list[float](), 0.0
    for fraction in fractions:
        allowed = spent(fraction, alpha, kind) - used
        bound = edge(lambda z: path.crossing(fraction, z) <= allowed, FARTHEST, 0.0)  # noqa: B023 -- used at once
        used += path.crossing(fraction, bound)
        path = path.after(fraction, bound)
        found.append(bound)
    return tuple(found)


def crossing_chance(fractions: Sequence[float], bounds: Sequence[float]) -> float:
    """How often at least one look exceeds its bound where nothing differs: 1.96 at each of ten looks gives 19 %.

    Raises InputError as `boundaries`.
    """
    _check(fractions)
    path, chance = _Path(), 0.0
    for fraction, bound in zip(fractions, bounds, strict=True):
        chance += path.crossing(fraction, bound)
        path = path.after(fraction, bound)
    return chance


def looked_as_planned(
    so_far: Looks, successes: int, n: int, planned: int, *, kind: Kind = "obrien_fleming", at: str = ""
) -> Looks:
    """The record with one more look at `successes` of `n` items so far, of `planned` items in all.

    The same use as `sequential.looked`, for an evaluation whose largest size is fixed beforehand: its intervals are
    narrower late, and it cannot go on beyond the plan. When to look may be settled on the way, though not by the
    scores. Raises InputError for more items than planned, or no more than before.
    """
    check_follows(so_far, successes, n)
    sizes = [*(look.n for look in so_far.looks), n]
    return added(so_far, successes, n, rate_at_look(successes, sizes, planned, level=so_far.level, kind=kind), at)


def rate_at_look(
    successes: int, sizes: Sequence[int], planned: int, *, level: float = 0.95, kind: Kind = "obrien_fleming"
) -> Interval:
    """The interval of a rate at the last of the looks at `sizes` items; those of all looks hold together.

    Clopper and Pearson's, at the level that the look's bound stands for: Jennison and Turnbull 1989, "Interim analyses:
    the repeated confidence interval approach". Raises InputError for sizes that do not grow up to `planned`, and
    impossible counts.
    """
    return clopper_pearson(successes, sizes[-1], _level(sizes, planned, level, kind))


def mean_at_looks(
    values: Array, sizes: Sequence[int], planned: int, *, level: float = 0.95, kind: Kind = "obrien_fleming"
) -> tuple[Array, Array]:
    """The interval of a mean at each look: low [looks] and high [looks], which hold together and never widen.

    `values` [n] in their order, one for each item (paired differences, grades); `sizes` [looks] the items seen at each
    look. Student's t at the level of each look's bound, as `rate_at_look`. Raises InputError as it does.
    """
    lows, highs = [], []
    for number, n in enumerate(sizes, 1):
        mean = micro(values[:n])
        if mean.error is None or n > len(values):
            raise InputError(f"a look at {n} items needs at least two values, and as many: there are {len(values)}")
        low, high = student(mean.value, mean.error, mean.df, _level(sizes[:number], planned, level, kind))
        lows.append(low)
        highs.append(high)
    return np.maximum.accumulate(lows), np.minimum.accumulate(highs)


def _level(sizes: Sequence[int], planned: int, level: float, kind: Kind) -> float:
    """What the last of these looks has to be sure at, for all together to be sure at `level`."""
    bound = _boundaries(tuple(n / planned for n in sizes), 1 - level, kind)[-1]
    return min(SUREST, 1 - 2 * NormalDist().cdf(-bound))


@dataclass(frozen=True, slots=True)
class _Path:
    """The sum of what has not crossed yet, at the share `fraction`: it has the chance `mass` [points] to be `at`."""

    at: Array = field(default_factory=lambda: np.zeros(1))
    mass: Array = field(default_factory=lambda: np.ones(1))
    fraction: float = 0.0

    def crossing(self, fraction: float, z: float) -> float:
        """The chance to be beyond z standard errors at the next look."""
        from scipy.special import ndtr

        step, end = math.sqrt(fraction - self.fraction), z * math.sqrt(fraction)
        return float(self.mass @ (ndtr((self.at - end) / step) + ndtr((-end - self.at) / step)))

    def after(self, fraction: float, z: float) -> _Path:
        """The rest, once what lies beyond z has stopped."""
        nodes, weights = legendre(NODES)
        step, end = math.sqrt(fraction - self.fraction), z * math.sqrt(fraction)
        apart = (end * nodes[:, None] - self.at) / step
        density = np.exp(-(apart**2) / 2) @ self.mass / (step * math.sqrt(2 * math.pi))
        return _Path(end * nodes, density * weights * end, fraction)


def _check(fractions: Sequence[float]) -> None:
    if not fractions or any(b <= a for a, b in zip((0.0, *fractions), fractions, strict=False)) or fractions[-1] > 1:
        raise InputError(f"looks are at growing shares of the planned items, above 0 up to 1, not {list(fractions)}")
