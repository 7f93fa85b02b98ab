"""A series of numbers in order: does it rise, does it drift, and does its latest step stand out from those before?

The tests take the numbers as they come, noise of the training itself included, which no pairing on items can see.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from measurand.core.errors import InputError

MAD_TO_SIGMA = 1.4826
"""The median absolute deviation of a normal, inverted."""
MAD_EFFICIENCY = 0.37
"""How much of the data the median absolute deviation uses, of a normal: Rousseeuw and Croux 1993."""
MOST = 2_000
"""Numbers of a series that a trend is looked for in; of more, every n-th is taken."""

_ANGLES = 400
"""Points at which an integral over a quarter of a circle is summed; the sum is right to five digits and more."""


@dataclass(frozen=True, slots=True)
class Jump:
    """How far a value lies above the median of those before it, in robust standard deviations, and the chance of it."""

    z: float
    p: float


def jump(earlier: Sequence[float], value: float) -> Jump:
    """A value against the ones before it, one-sided upwards.

    The scale is the median absolute deviation, which earlier jumps do not blow up. Rousseeuw and Croux 1993,
    "Alternatives to the median absolute deviation", give its efficiency of 37 %; the chance is that of Student's t with
    as many degrees of freedom as the data so used have, and the error of the median is added to the scale. An
    approximation, for at least 8 numbers of a normal. Raises InputError for fewer than 3.
    """
    from scipy.stats import t

    if len(earlier) < 3:  # noqa: PLR2004 -- two numbers have no typical distance
        raise InputError(f"a jump is seen against at least 3 earlier numbers, not {len(earlier)}")
    known = np.asarray(earlier, dtype=np.float64)
    middle = float(np.median(known))
    n = len(known)
    # The factor n / (n - 0.8) takes out most of the bias in small samples: Croux and Rousseeuw 1992, section 2.
    scale = MAD_TO_SIGMA * float(np.median(np.abs(known - middle))) * n / (n - 0.8)
    scale *= math.sqrt(1 + math.pi / (2 * n))
    if scale == 0.0:
        return Jump(math.inf, 0.0) if value > middle else Jump(0.0, 1.0)
    z = (value - middle) / scale
    return Jump(z, float(t.sf(z, MAD_EFFICIENCY * (n - 1))))


def trend(values: Sequence[float], *, rises: bool) -> float:
    """The one-sided chance of so clear a rise (or fall) of a series whose numbers come in any order.

    Mann 1945, "Nonparametric tests against trend": Kendall's rank correlation with time, exact for short series without
    ties. Numbers are taken as independent given their level: a series that wanders has trends more often. Raises
    InputError for fewer than 3.
    """
    from scipy.stats import kendalltau

    if len(values) < 3:  # noqa: PLR2004 -- two numbers are no trend
        raise InputError(f"a trend needs at least 3 numbers, not {len(values)}")
    taken = np.asarray(values, dtype=np.float64)[:: max(1, -(-len(values) // MOST))]
    if np.ptp(taken) == 0:
        return 1.0
    found = kendalltau(np.arange(len(taken)), taken, alternative="greater" if rises else "less")
    return float(found.pvalue)


def drift(values: Sequence[float], *, rises: bool) -> float:
    """The one-sided chance of so steady a rise (or fall) of a series that wanders without aim.

    Steps are taken as independent of one another (a random walk), of a normal. Their mean is measured by their scale
    from successive differences, which a smooth bend does not blow up: von Neumann et al. 1941, "The mean square
    successive difference". The chance is exact: given the scale it is a normal's tail, and Craig's form of that tail
    (1991, equation 9) makes its mean over the scale one integral. For steps that follow one another in turns, as those
    of noise around a level or of an autoregression do, it is smaller than stated; for steps that carry on from one to
    the next, greater. Raises InputError for fewer than 3.
    """
    if len(values) < 3:  # noqa: PLR2004 -- one step has no scale
        raise InputError(f"a drift needs at least 3 numbers, not {len(values)}")
    steps = np.diff(np.asarray(values, dtype=np.float64)) * (1 if rises else -1)
    n = len(steps)
    mean, scale = float(steps.mean()), math.sqrt(float(np.square(np.diff(steps)).sum()) / (2 * (n - 1)))
    if mean <= 0:
        return 1.0
    if scale <= mean * np.finfo(np.float64).eps:
        return 0.0
    shares = 2 * np.sin(np.pi * np.arange(1, n) / (2 * n)) ** 2 / (n - 1)
    angles = (np.arange(_ANGLES) + 0.5) * np.pi / (2 * _ANGLES)
    tails = np.log1p(n * (mean / scale) ** 2 * shares / np.sin(angles)[:, None] ** 2).sum(axis=1)
    return float(np.exp(-tails / 2).mean() / 2)


def clearest(n: int) -> float:
    """The smallest chance that `trend` can give for `n` numbers: that of a perfect order, 1 in n!."""
    return 1 / math.factorial(n)
