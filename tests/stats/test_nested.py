import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import DescrStatsW

from measurand.core.errors import InputError
from measurand.stats.compare import compare
from measurand.stats.estimate import estimate
from measurand.stats.intervals import combined, student, student_p
from measurand.stats.means import macro, micro
from measurand.stats.metrics import ACCURACY, MEAN, RATE
from measurand.stats.missing import by_item
from measurand.stats.nested import leaves, nested, over_nested, weighted
from tests.stats.simulated import explained, simulated

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


def test_each_kind_has_the_interval_of_its_parts_or_of_its_shares():
    rng, levels = np.random.default_rng(2), tree()
    n = len(levels[0])
    groups, shares = leaves(levels)
    right = rng.integers(0, 2, n).astype(float)
    made = over_nested(table(right), levels)
    parts = [estimate(right[groups == group], ACCURACY) for group in range(len(shares))]
    theirs = combined([one.value for one in parts], [(one.low, one.high) for one in parts], shares.tolist())
    assert (made.low, made.high) == pytest.approx(theirs)
    assert made.method == "MOVER of the groups' intervals"
    for clusters, kind in ((None, "stratified"), (np.arange(n) % 40, "stratified and clustered")):
        values = rng.normal(size=n)
        made, mean = over_nested(table(values, MEAN, clusters), levels), nested(values, levels, clusters)
        assert (made.low, made.high) == pytest.approx(student(mean.value, mean.error, mean.df))
        assert made.method == f"Student's t, {kind}"
    ratio = by_item(RATE, np.column_stack((right, np.ones(n))), np.arange(n), n, np.arange(n) % 40)
    assert over_nested(ratio, levels).method == "BCa bootstrap of clusters"


def test_a_metric_that_applies_to_no_item_has_no_nested_number():
    nothing = by_item(ACCURACY, np.zeros((0, 1)), np.zeros(0, dtype=int), 3)
    made = over_nested(nothing, [np.arange(3)])
    assert (made.value, made.bounds, made.method) == (None, None, "none: nothing is measured")
    assert compare(nothing, nothing, levels=[np.arange(3)]).difference.value is None


def test_a_nested_number_that_lacks_a_group_is_none():
    values = np.array([1.0, 0.0, 1.0, math.nan, math.nan])
    made = over_nested(table(values), [np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2])])
    assert made.value is None
    assert made.method == "none: 2 of 3 groups are measured"
    assert made.bounds == pytest.approx(((0.5 + 1) / 4, (0.5 + 1) / 4 + 0.5))


@pytest.mark.parametrize("clustered", [False, True])
@simulated(150, 500)
def test_nested_intervals_cover(clustered, runs):
    """Right or wrong by MOVER; with samples, and in clusters that cross the subjects, by the stratified error."""
    rng, levels, held = np.random.default_rng(3), tree(), 0
    rates = np.random.default_rng(4).uniform(0.15, 0.9, 20)[levels[2]]
    truth = nested(rates, levels).value
    clusters = np.arange(len(rates)) % 60 if clustered else None
    for _ in range(runs):
        luck = rng.uniform(size=60)[clusters] if clustered else rng.uniform(size=len(rates))
        values = ((luck + rng.uniform(size=len(rates)) * clustered) % 1 < rates).astype(float)
        made = over_nested(table(values, clusters=clusters), levels)
        held += made.low <= truth <= made.high
    assert explained(held, runs, 0.94, 0.97), held


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
    assert explained(held, runs, 0.94, 0.96), held


@pytest.mark.parametrize("weights", [[1.0, -1.0], [0.0, 0.0], [1.0]])
def test_unusable_weights_are_refused(weights):
    with pytest.raises(InputError, match="weight"):
        weighted(np.array([1.0, 0.0]), np.array(weights))


def test_one_unit_shows_no_spread_and_no_levels_are_refused():
    assert weighted(np.array([1.0]), np.array([2.0])).error is None
    with pytest.raises(InputError, match="level"):
        nested(np.ones(3), [])


def test_the_difference_of_nested_numbers_is_the_nested_number_of_differences():
    rng, levels = np.random.default_rng(7), tree()
    n = len(levels[0])
    a, b = (rng.uniform(size=(2, n)) < [[0.6], [0.5]]).astype(float)
    for clusters, kind in ((None, "stratified"), (np.arange(n) % 50, "stratified, clustered")):
        ours, theirs = table(a, clusters=clusters), table(b, clusters=clusters)
        made, mean = compare(ours, theirs, levels=levels), nested(a - b, levels, clusters)
        d = made.difference
        assert d.value == pytest.approx(over_nested(ours, levels).value - over_nested(theirs, levels).value)
        assert (d.low, d.high) == pytest.approx(student(mean.value, mean.error, mean.df))
        assert made.p == pytest.approx(student_p(mean.value / mean.error, mean.df))
        assert d.method == f"paired, Student's t, {kind}"
    one = compare(table(a), table(b), levels=levels[2:]).difference
    assert one.value == pytest.approx(macro(a - b, levels[2]).value)
    assert one.value != pytest.approx(nested(a - b, levels).value)
    rates = (by_item(RATE, np.column_stack((side, np.ones(n))), np.arange(n), n) for side in (a, b))
    ratio, plain = compare(*rates, levels=levels), compare(table(a), table(b), levels=levels)
    assert ratio.difference.value == pytest.approx(plain.difference.value)
    assert ratio.difference.low == pytest.approx(plain.difference.low, abs=0.03)
    assert ratio.p == pytest.approx(plain.p, abs=0.05)


def test_missing_trials_bound_a_nested_difference_by_what_they_weigh():
    levels = [np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2])]
    a, b = np.array([1.0, 1, 0, math.nan, 1, 0]), np.array([0.0, 1, 0, 0, 0, 0])
    d = compare(table(a), table(b), levels=levels).difference
    assert d.n_missing == 1
    # A category is half, the inner group a half of it, and the missing item a half of that.
    assert d.bounds == pytest.approx((0.375, 0.375 + 1 / 8))
    lacking = np.where(levels[1] == 1, math.nan, b)
    assert compare(table(a), table(lacking), levels=levels).difference.method.startswith("none: a group has no item")


@pytest.mark.parametrize("clustered", [False, True])
@simulated(120, 500)
def test_nested_differences_cover(clustered, runs):
    rng, levels, held = np.random.default_rng(8), tree(), 0
    n = len(levels[0])
    hard = np.random.default_rng(9).uniform(0.1, 0.7, 20)[levels[2]]
    gain = np.where(levels[0] == 0, 0.25, 0.05)
    clusters = np.arange(n) % 60 if clustered else None
    for _ in range(runs):
        luck = rng.uniform(size=60)[clusters] if clustered else rng.uniform(size=n)
        luck = (luck + 0.6 * rng.uniform(size=(2, n))) % 1
        a, b = (luck < [hard + gain, hard]).astype(float)
        d = compare(table(a, clusters=clusters), table(b, clusters=clusters), levels=levels).difference
        held += d.low <= nested(gain, levels).value <= d.high
    assert explained(held, runs, 0.93, 0.97), held
