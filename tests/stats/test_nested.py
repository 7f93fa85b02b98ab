import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW

from measurand.core.errors import InputError
from measurand.stats.estimate import over_groups
from measurand.stats.means import macro, micro
from measurand.stats.metrics import ACCURACY, MEAN, RATE
from measurand.stats.missing import by_item
from measurand.stats.nested import leaves, nested, over_nested, weighted

SIZES = {("stem", "physics"): (40, 12), ("stem", "maths"): (25, 30), ("law", "law"): (90,), ("arts", "a"): (20, 20, 35)}


def tree():
    """Category, subcategory, subject of each item, as codes."""
    rows, subject = [], 0
    for number, (path, sizes) in enumerate(SIZES.items()):
        category = sorted({p for p, _ in SIZES}).index(path[0])
        for size in sizes:
            rows += [(category, number, subject)] * size
            subject += 1
    return [np.array(column) for column in zip(*rows, strict=True)]


def by_hand(values, levels):
    if not levels:
        return float(np.mean(values))
    return float(
        np.mean(
            [by_hand(values[levels[0] == g], [deep[levels[0] == g] for deep in levels[1:]]) for g in set(levels[0])]
        )
    )


def table(values, metric=ACCURACY, clusters=None):
    return by_item(metric, values[:, None], np.arange(len(values)), len(values), clusters)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_it_is_the_mean_of_means_of_means(rows):
    values, *levels = (np.array(column) for column in zip(*rows, strict=True))
    values = values.astype(float)
    assert nested(values, levels).value == pytest.approx(by_hand(values, levels))
    assert leaves(levels)[1].sum() == pytest.approx(1.0)
    assert nested(values, levels[:1]).value == pytest.approx(macro(values, levels[0]).value)
    once = nested(values, levels[:1])
    assert once.error == macro(values, levels[0]).error


def test_levels_differ_and_each_has_its_own_error():
    levels = tree()
    values = np.random.default_rng(1).uniform(size=len(levels[0])) * (1 + levels[0]) / 3
    found = [micro(values), nested(values, levels[2:]), nested(values, levels[1:]), nested(values, levels)]
    assert len({round(mean.value, 6) for mean in found}) == 4
    assert len({round(mean.error, 6) for mean in found}) == 4


def test_one_level_is_over_groups():
    rng = np.random.default_rng(2)
    groups = np.repeat([0, 1, 2], [30, 50, 9])
    crossing = np.arange(89) % 20
    whole = rng.integers(0, 2, 89).astype(float)
    gaps = np.where(rng.uniform(size=89) < 0.1, math.nan, whole)
    for values, metric in ((whole, ACCURACY), (gaps, ACCURACY), (rng.normal(size=89), MEAN), (np.ones(89), MEAN)):
        for clusters in (None, crossing):
            made = table(values, metric, clusters)
            ours, theirs = over_nested(made, [groups]), over_groups(made, groups)
            for name in type(theirs).__struct_fields__:
                expected = getattr(theirs, name)
                if name in {"value", "low", "high", "bounds"} and expected is not None:
                    expected = pytest.approx(expected, abs=1e-12)
                assert getattr(ours, name) == expected, name
    rows = np.column_stack((whole, np.ones(89)))
    ratio = by_item(RATE, rows, np.arange(89), 89, crossing)
    assert over_nested(ratio, [groups]).method == "BCa bootstrap of clusters"
    assert over_nested(ratio, [groups]).low == pytest.approx(over_groups(ratio, groups).low)


def test_a_nested_number_that_lacks_a_group_is_none():
    values = np.array([1.0, 0.0, 1.0, math.nan, math.nan])
    made = over_nested(table(values), [np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2])])
    assert made.value is None
    assert made.method == "none: 2 of 3 groups are measured"
    assert made.bounds == pytest.approx(((0.5 + 1) / 4, (0.5 + 1) / 4 + 0.5))


@pytest.mark.parametrize("clustered", [False, True])
def test_nested_intervals_cover(clustered):
    """Right or wrong by MOVER; with samples, and in clusters that cross the subjects, by the stratified error."""
    rng, levels, held, runs = np.random.default_rng(3), tree(), 0, 500
    rates = np.random.default_rng(4).uniform(0.15, 0.9, 20)[levels[2]]
    truth = nested(rates, levels).value
    clusters = np.arange(len(rates)) % 60 if clustered else None
    for _ in range(runs):
        luck = rng.uniform(size=60)[clusters] if clustered else rng.uniform(size=len(rates))
        values = ((luck + rng.uniform(size=len(rates)) * clustered) % 1 < rates).astype(float)
        made = over_nested(table(values, clusters=clusters), levels)
        held += made.low <= truth <= made.high
    assert 0.93 < held / runs < 0.98


def test_a_weighted_mean_is_statsmodels():
    rng = np.random.default_rng(5)
    values, weights = rng.normal(size=40), rng.integers(1, 5, 40).astype(float)
    assert weighted(values, weights).value == pytest.approx(DescrStatsW(values, weights).mean, abs=1e-12)
    assert weighted(values, np.full(40, 2.5)).error == pytest.approx(micro(values).error, abs=1e-12)
    clusters = np.repeat(np.arange(8), 5)
    assert weighted(values, np.ones(40), clusters).error == pytest.approx(micro(values, clusters).error, abs=1e-12)


def test_weighted_means_cover():
    rng, held, runs = np.random.default_rng(6), 0, 1_000
    for _ in range(runs):
        kind = rng.integers(0, 2, 150)
        values = (rng.uniform(size=150) < np.where(kind, 0.8, 0.3)).astype(float)
        mean = weighted(values, np.where(kind, 1.0, 3.0))
        held += abs(mean.value - (0.8 + 3 * 0.3) / 4) <= 1.976 * mean.error
    assert 0.93 < held / runs < 0.97


@pytest.mark.parametrize("weights", [[1.0, -1.0], [0.0, 0.0], [1.0]])
def test_unusable_weights_are_refused(weights):
    with pytest.raises(InputError, match="weight"):
        weighted(np.array([1.0, 0.0]), np.array(weights))


def test_one_unit_shows_no_spread_and_no_levels_are_refused():
    assert weighted(np.array([1.0]), np.array([2.0])).error is None
    with pytest.raises(InputError, match="level"):
        nested(np.ones(3), [])
