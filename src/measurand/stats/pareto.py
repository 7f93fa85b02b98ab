"""Which subjects are worth a look when quality, cost and latency all count, and which are beaten in every respect.

The frontier of the measured numbers is itself uncertain: a subject may be on it by luck. So `standings` tells three
things apart: on the frontier, dominated (a tested statement), and cannot say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measurand.core.errors import InputError
from measurand.stats.bootstrap import bootstrap
from measurand.stats.intervals import student_p
from measurand.stats.means import Array, Labels
from measurand.stats.multiplicity import adjusted

SHOWN = 0.95
"""On the frontier in at least this share of the resamples: called so without doubt."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that counts: `values` [subjects, items], NaN where unmeasured.

    Its number is the mean over items, or the `quantile` (0.95 for a latency that is felt). `margin` is how much worse
    still counts as no worse, in the unit of the values; without one, equal is not shown to be no worse. `fixed` is for
    what has no luck in it, such as a list price: then the numbers are facts.
    """

    name: str
    values: Array
    higher_is_better: bool = False
    quantile: float | None = None
    margin: float = 0.0
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """One subject: its numbers, the share of resamples in which it is on the frontier, and who is shown to beat it.

    The share is NaN where one item, or one cluster, shows no spread.

    `dominated_by` holds names and adjusted p-values of subjects that are no worse in every dimension and better in one,
    beyond chance. `on_frontier` is of the measured numbers alone.
    """

    subject: str
    numbers: tuple[float, ...]
    on_frontier: bool
    share: float
    dominated_by: tuple[tuple[str, float], ...] = ()

    @property
    def verdict(self) -> str:
        """`dominated`, `on the frontier`, or `cannot say`."""
        if self.dominated_by:
            return "dominated"
        return "on the frontier" if self.on_frontier and self.share >= SHOWN else "cannot say"


def standings(
    subjects: Sequence[str],
    dimensions: Sequence[Dimension],
    clusters: Labels | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> tuple[Standing, ...]:
    """Where each subject stands, over the items that were measured for all subjects in all dimensions.

    Items (or `clusters` [items]) are resampled together for all, so their difficulty cancels. "b dominates a" is tested
    by intersection and union: Berger 1982, "Multiparameter hypothesis testing and acceptance sampling". Its p-value is
    the largest over the dimensions of that of "b is no worse by the margin", so no dimension may be in doubt; each is
    Student's t with the error of the bootstrap, or, where all units say the same, the chance that coins would. The
    p-values of all pairs are adjusted by Holm. Raises InputError for shapes that do not match, or no item at all.
    """
    table, kept = _table(subjects, dimensions, clusters)
    units = len(table) if kept is None else len(np.unique(kept))
    if not units:
        raise InputError("a frontier needs an item that is measured for all subjects in all dimensions")
    shape = (len(dimensions), len(subjects))

    def over(rows: Array, weights: Array) -> Array:
        """All numbers at once: [draws, dimensions x subjects]."""
        columns = np.split(rows, len(dimensions), axis=1)
        made = [_number(part, weights, one.quantile) for part, one in zip(columns, dimensions, strict=True)]
        return np.concatenate(made, axis=-1)

    signs = np.array([1.0 if one.higher_is_better else -1.0 for one in dimensions])[:, None]
    numbers = over(table, np.ones((1, len(table)))).reshape(shape)
    drawn = bootstrap(over, table, kept, seed=seed).reshape(-1, *shape)
    pairs = [(a, b) for a in range(len(subjects)) for b in range(len(subjects)) if a != b]
    tested = [_dominates(dimensions, signs * numbers, signs * drawn, pair, units) for pair in pairs]
    ps = dict(zip(pairs, adjusted(tested), strict=True))
    frontier, shares = _frontier((signs * numbers)[None]), _frontier(signs * drawn).mean(axis=0)
    if units == 1:
        shares = np.full(len(subjects), np.nan)
    return tuple(
        Standing(
            name,
            tuple(numbers[:, a].tolist()),
            bool(frontier[0, a]),
            float(shares[a]),
            tuple((subjects[b], float(ps[a, b])) for b in range(len(subjects)) if a != b and ps[a, b] <= alpha),
        )
        for a, name in enumerate(subjects)
    )


def _table(
    subjects: Sequence[str], dimensions: Sequence[Dimension], clusters: Labels | None
) -> tuple[Array, Labels | None]:
    """The items as rows, with one column for each dimension and subject; only those without a gap."""
    shapes = {one.values.shape for one in dimensions}
    if len(shapes) != 1 or next(iter(shapes))[:1] != (len(subjects),) or len(next(iter(shapes))) != 2:  # noqa: PLR2004
        raise InputError(f"each dimension needs the values of {len(subjects)} subjects by items, not {sorted(shapes)}")
    table = np.concatenate([one.values.T for one in dimensions], axis=1)
    whole = ~np.isnan(table).any(axis=1)
    return table[whole], None if clusters is None else clusters[whole]


def _number(values: Array, weights: Array, quantile: float | None) -> Array:
    """Means, or quantiles, of weighted items: `values` [items, subjects], `weights` [draws, items]."""
    if quantile is None:
        return np.asarray(weights @ values / weights.sum(axis=-1, keepdims=True))
    made = []
    for column in values.T:
        order = np.argsort(column)
        mass = np.cumsum(weights[..., order], axis=-1)
        place = (mass >= quantile * mass[..., -1:] - 1e-9).argmax(axis=-1)
        made.append(column[order][place])
    return np.stack(made, axis=-1)


def _dominates(
    dimensions: Sequence[Dimension], numbers: Array, drawn: Array, pair: tuple[int, int], units: int
) -> float:
    """The p-value of b dominating a, from numbers [dimensions, subjects] of which more is better."""
    a, b = pair
    gaps, errors = numbers[:, b] - numbers[:, a], (drawn[:, :, b] - drawn[:, :, a]).std(axis=0)
    better, no_worse = [], []
    for one, gap, error in zip(dimensions, gaps.tolist(), errors.tolist(), strict=True):
        better.append(float(gap <= 0) if one.fixed else _above_zero(gap, error, units))
        no_worse.append(float(gap + one.margin < 0) if one.fixed else _above_zero(gap + one.margin, error, units))
    # A dimension that has no margin has already shown b to be better in it; otherwise one has to be looked for.
    shown = any(not one.fixed and not one.margin for one in dimensions)
    return max(*no_worse, 0.0 if shown else min(1.0, len(better) * min(better)))


def _above_zero(gap: float, error: float, units: int) -> float:
    """The one-sided p-value of a gap; where the units do not differ, no t is to be had, and a sign test remains."""
    if units == 1 or (not error and gap <= 0):
        return 1.0
    if not error:
        return float(0.5**units)
    two = student_p(gap / error, units - 1)
    return two / 2 if gap > 0 else 1 - two / 2


def _frontier(numbers: Array) -> NDArray[np.bool_]:
    """Who is dominated by nobody, for each draw: `numbers` is [draws, dimensions, subjects], more is better."""
    a, b = numbers[..., :, None], numbers[..., None, :]
    beaten = (b >= a).all(axis=1) & (b > a).any(axis=1)
    return np.asarray(~beaten.any(axis=-1))
