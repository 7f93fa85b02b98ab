"""Effects of several things changed at once: how much came of the model, how much of the prompt, how much of both.

Every combination (cell) answers the same items, so every effect is one number for each item, a contrast of its cells,
and its error is that of a mean: paired by item, clustered where items are. Fisher 1935, "The design of experiments",
chapter 6; for repeated measures it is the t-test whose square is the F of the analysis of variance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.stats.estimate import spreads
from measurand.stats.intervals import student, student_p
from measurand.stats.means import Array, Labels, micro

MOST_FACTORS = 5


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one level of a factor against its first level, or of several such changes together.

    `of` names the factors and levels. With one it is a main effect: the difference, averaged over the levels of the
    others. With more it is their interaction: how much the difference of one changes with the other. `p` is two-sided.
    """

    of: Mapping[str, str]
    estimate: Estimate
    p: float | None

    @property
    def name(self) -> str:
        """As `model: new`, or `model: new x prompt: short`."""
        return " x ".join(f"{factor}: {level}" for factor, level in self.of.items())


def effects(
    values: Array, factors: Mapping[str, tuple[str, ...]], clusters: Labels | None = None, level: float = 0.95
) -> tuple[Effect, ...]:
    """All main effects, then all interactions of two factors, and so on.

    `values` is [items, levels of the first factor, levels of the second, ...], NaN where a cell of an item is
    unmeasured; `factors` names the factors and their levels in that order, each level compared with the first one;
    `clusters` is [items]. Only items measured in every cell count, so that each effect is of the same items;
    `n_missing` counts the cells of the others. Many effects are many tests: adjust them (`multiplicity`). Raises
    InputError for a shape that does not fit the factors, or more than five of them.
    """
    shape = tuple(len(levels) for levels in factors.values())
    if values.shape[1:] != shape or not factors or len(factors) > MOST_FACTORS or min(shape) < 2:  # noqa: PLR2004
        raise InputError(
            f"values of the shape {values.shape} do not fit {len(factors)} factors of {shape} levels: give one axis "
            f"for each factor, of two levels or more, and at most {MOST_FACTORS} factors"
        )
    whole = ~np.isnan(values).reshape(len(values), -1).any(axis=1)
    done, kept = values[whole], None if clusters is None else clusters[whole]
    missing = (len(values) - len(done)) * int(np.prod(shape))
    found = []
    for of, weights in _contrasts(factors):
        contrast = np.tensordot(done, weights, axes=weights.ndim)
        found.append(_effect(of, contrast, kept, missing, level))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Parts:
    """total = first + second: a change of two things at once, taken apart; and how much they are worth together only.

    `interaction` is half in each part. Where it is large, the parts describe the average road from old to new, and
    neither thing alone would have brought its part.
    """

    total: Effect
    first: Effect
    second: Effect
    interaction: Effect


def taken_apart(
    values: Array, factors: Mapping[str, tuple[str, ...]], clusters: Labels | None = None, level: float = 0.95
) -> Parts:
    """What a release that changed two things owes to each: a 2 x 2 of old and new, as [items, 2, 2].

    The parts are the main effects, which add up to the total exactly: Shapley 1953, "A value for n-person games", for
    two. Raises InputError for anything but two factors of two levels.
    """
    if tuple(len(levels) for levels in factors.values()) != (2, 2):
        raise InputError(f"two factors of two levels (old, new) can be taken apart, not {dict(factors)}")
    first, second, interaction = effects(values, factors, clusters, level)
    whole = ~np.isnan(values).reshape(len(values), -1).any(axis=1)
    gain, kept = (values[:, 1, 1] - values[:, 0, 0])[whole], None if clusters is None else clusters[whole]
    both = {name: levels[1] for name, levels in factors.items()}
    return Parts(_effect(both, gain, kept, first.estimate.n_missing, level), first, second, interaction)


def _contrasts(factors: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[dict[str, str], Array]]:
    """The weights of the cells for each effect: a difference along the factors it is of, a mean along the others."""
    for size in range(1, len(factors) + 1):
        for names in combinations(factors, size):
            for levels in product(*(range(1, len(factors[name])) for name in names)):
                changed = dict(zip(names, levels, strict=True))
                weights = np.ones(())
                for name, all_levels in factors.items():
                    along = np.full(len(all_levels), 1 / len(all_levels))
                    if name in changed:
                        along = np.zeros(len(all_levels))
                        along[[0, changed[name]]] = -1, 1
                    weights = np.multiply.outer(weights, along)
                yield {name: factors[name][at] for name, at in changed.items()}, weights


def _effect(of: dict[str, str], contrast: Array, clusters: Labels | None, missing: int, level: float) -> Effect:
    n = len(contrast)
    mean = micro(contrast, clusters) if n else None
    value, low, high, p = mean.value if mean else None, None, None, None
    method = f"none: {n} items show no spread"
    if mean and mean.error and spreads(mean, contrast):
        low, high = student(mean.value, mean.error, mean.df, level)
        p = student_p(mean.value / mean.error, mean.df)
        method = "Student's t on item contrasts" + ("" if clusters is None else ", clustered")
    unit = "" if not n or np.abs(contrast).max() <= 2 ** (len(of) - 1) else "score"
    made = Estimate("effect", value, low, high, level, method, n_items=n, n_trials=n, n_missing=missing, unit=unit)
    return Effect(of, made, p)
