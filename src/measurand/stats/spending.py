"""Planned looks: an error of 5 % spent over them, so that all together cost no more.

A look at a share t of the planned items may spend what a function of t allows. Lan and DeMets 1983, "Discrete
sequential boundaries for clinical trials"; the integrals are those of Armitage, McPherson and Rowe 1969, "Repeated
significance tests on accumulating data". For a z-statistic of accumulating items: two-sided, large samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

import numpy as np

from measurand.core.errors import InputError
from measurand.stats.intervals import edge, legendre
from measurand.stats.means import Array

Kind = Literal["obrien_fleming", "pocock"]
NODES = 200
FARTHEST = 9.0
"""Standard errors beyond which nothing happens."""


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
    _check(fractions)
    path, found, used = _Path(), list[float](), 0.0
    for fraction in fractions:
        allowed = spent(fraction, alpha, kind) - used
        bound = edge(lambda z: path.crossing(fraction, z) <= allowed, FARTHEST, 0.0)  # noqa: B023 -- used at once
        used += path.crossing(fraction, bound)
        path = path.after(fraction, bound)
        found.append(bound)
    return np.array(found)


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
