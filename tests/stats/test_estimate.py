import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.core.benchmark import Metric
from measurand.core.errors import InputError
from measurand.core.identity import canonical
from measurand.stats.estimate import estimate, pooled
from measurand.stats.intervals import wilson
from measurand.stats.metrics import ACCURACY, BITS_PER_BYTE, MEAN, MICRO_F1, RATE, pass_at
from measurand.stats.missing import bounds, by_item
from measurand.stats.nested import over_nested
from tests.stats.simulated import explained

RIGHT = ((180, 200), (30, 100), (20, 50))
VALUES = np.concatenate([np.r_[np.ones(c), np.zeros(n - c)] for c, n in RIGHT])
GROUPS = np.repeat([0, 1, 2], [n for _, n in RIGHT])

binary = st.lists(st.sampled_from((0.0, 1.0, math.nan)), min_size=1, max_size=60).map(np.array)
real = st.lists(st.floats(0, 1, width=16) | st.just(math.nan), min_size=1, max_size=60).map(np.array)


def table(values, metric=ACCURACY, clusters=None):
    return by_item(metric, values[:, None], np.arange(len(values)), len(values), clusters)


def test_one_right_or_wrong_trial_each_is_wilson():
    made = estimate(VALUES, ACCURACY)
    assert made.value == pytest.approx(0.6571, abs=5e-5)
    assert (made.low, made.high) == pytest.approx(wilson(230 / 350, 350))
    assert made.method == "Wilson"


def test_macro_takes_the_groups_intervals_together():
    made = over_nested(table(VALUES), [GROUPS])
    assert made.value == pytest.approx(0.5333, abs=5e-5)
    assert made.low < made.value < made.high
    assert made.method == "MOVER of the groups' intervals"


def test_real_values_are_students_t():
    x = np.random.default_rng(1).uniform(0.2, 0.8, 40)
    theirs = stats.t.interval(0.95, 39, x.mean(), stats.sem(x))
    made = estimate(x, ACCURACY)
    assert (made.low, made.high) == pytest.approx(theirs, rel=1e-4)
    assert made.method == "Student's t on item means"
    assert "only 12 items" in estimate(x[:12], ACCURACY).method


def test_samples_of_one_item_are_not_items():
    rng = np.random.default_rng(2)
    x = np.repeat(rng.integers(0, 2, 50).astype(float), 10)
    x[::7] = 1 - x[::7]
    items = np.repeat(np.arange(50), 10)
    made = estimate(x, ACCURACY, items=items)
    means = x.reshape(50, 10).mean(axis=1)
    assert made.high - made.low == pytest.approx(2 * stats.t.ppf(0.975, 49) * stats.sem(means), rel=1e-4)
    assert (made.n_items, made.n_trials) == (50, 500)


def test_clusters_widen_the_interval_and_are_counted():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(30), 10)
    x = (rng.uniform(size=300) < rng.uniform(size=30)[clusters]).astype(float)
    alone, together = estimate(x, ACCURACY), estimate(x, ACCURACY, clusters=clusters)
    assert together.n_clusters == 30
    assert alone.n_clusters is None
    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_clustered_means_cover_from_twenty_clusters():
    """docs/statistics.md. Samples of one item are clusters too."""
    rng, held = np.random.default_rng(8), [0, 0]
    labels = np.repeat(np.arange(20), 6)
    for _ in range(300):
        right = (rng.uniform(size=120) < rng.beta(2, 2, 20)[labels]).astype(float)
        found = estimate(right, ACCURACY, clusters=labels), estimate(right, ACCURACY, items=labels)
        held = [count + (made.low <= 0.5 <= made.high) for count, made in zip(held, found, strict=True)]
    assert all(explained(count, 300, 0.93, 0.97) for count in held), held


def test_ratios_are_bootstrapped():
    rng = np.random.default_rng(4)
    made = estimate(rng.integers(0, 4, (60, 3)).astype(float), MICRO_F1)
    assert made.low < made.value < made.high
    assert made.method == "BCa bootstrap of items"
    nats = estimate(np.column_stack((-rng.exponential(50, 40), rng.integers(20, 90, 40))), BITS_PER_BYTE)
    assert nats.unit == "bits/byte"
    assert nats.low < nats.value < nats.high


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_no_spread_is_not_certainty(value):
    made = estimate(np.full(60, value), ACCURACY, items=np.repeat(np.arange(20), 3))
    assert (made.low, made.high) == pytest.approx(wilson(value, 20))
    assert estimate(np.full(9, 7.0), MEAN).low is None


def test_real_values_that_happen_to_be_one_are_no_proportion():
    assert estimate(np.ones(9), MEAN).high is None


def test_one_item_has_no_error():
    made = estimate(np.array([3.2]), MEAN)
    assert (made.value, made.low, made.high) == (3.2, None, None)
    assert estimate(np.array([[1.0, 4.0]]), RATE).low is None


def test_nothing_measured_is_no_number():
    for values in (np.array([]), np.full(3, math.nan)):
        made = estimate(values, ACCURACY)
        assert made.value is None
        assert made.method == "none: nothing is measured"
    assert estimate(np.array([[0.0, 0.0]]), RATE).value is None


def test_a_rate_in_which_every_item_counts_once_is_a_mean() -> None:
    right = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    mean, rate = estimate(right, ACCURACY), estimate(np.stack([right, np.ones(6)], axis=1), RATE)
    assert (rate.value, rate.low, rate.high, rate.method) == (mean.value, mean.low, mean.high, "Wilson")
    twice = estimate(np.stack([2 * right, np.full(6, 2.0)], axis=1), RATE)
    assert twice.value == mean.value
    assert twice.method.startswith("BCa bootstrap of items")


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_rate_without_spread_has_the_interval_of_its_items(share: float) -> None:
    one = estimate(np.array([[2 * share, 2.0], [share, 1.0], [3 * share, 3.0]]), RATE)
    assert (one.low, one.high) == wilson(share, 3)
    assert one.method == "Wilson on 3 items without spread"


def test_nan_is_unmeasured_and_bounds_say_what_it_could_have_been():
    made = estimate(np.array([0.9, 0.8, math.nan, 0.7]), ACCURACY)
    assert made.value == pytest.approx(0.8)
    assert (made.n_items, made.n_missing) == (3, 1)
    assert made.bounds == pytest.approx((0.6, 0.85))
    assert estimate(np.array([1.0, 0.0]), ACCURACY).bounds is None


@given(st.one_of(binary, real), st.data())
def test_properties(values, data):
    """Bounds enclose the value whatever the missing were; order does not matter; every record is storable."""
    clusters = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values))))
    order = np.array(data.draw(st.permutations(range(len(values)))))
    for labels in (None, clusters):
        made = estimate(values, ACCURACY, clusters=labels)
        again = estimate(values[order], ACCURACY, clusters=None if labels is None else labels[order])
        assert canonical(made)
        assert made.n_trials + made.n_missing == len(values)
        if made.value is None:
            continue
        for name in ("value", "low", "high"):
            theirs = getattr(again, name)
            assert theirs == (None if theirs is None else pytest.approx(getattr(made, name), abs=1e-9))
        assert made.low is None or 0 <= made.low <= made.value + 1e-12
        assert made.high is None or made.value - 1e-12 <= made.high <= 1
        filled = np.where(np.isnan(values), data.draw(st.sampled_from((0.0, 0.3, 1.0))), values)
        low, high = made.bounds or (made.value, made.value)
        assert low - 1e-12 <= np.mean(filled) <= high + 1e-12
        assert low - 1e-12 <= made.value <= high + 1e-12


@given(binary, st.integers(2, 4))
def test_macro_of_equal_groups_is_micro(values, many):
    whole = np.tile(values, many)
    macro = over_nested(table(whole), [np.repeat(np.arange(many), len(values))])
    micro = pooled(table(whole))
    assert macro.value == (None if micro.value is None else pytest.approx(micro.value))


def test_a_macro_that_lacks_a_group_is_no_number():
    values = VALUES.copy()
    values[300:] = math.nan
    made = over_nested(table(values), [GROUPS])
    assert made.value is None
    assert made.method == "none: 2 of 3 groups are measured"
    assert made.bounds == pytest.approx(((0.9 + 0.3) / 3, (0.9 + 0.3 + 1) / 3))


def test_macro_of_real_values_is_stratified_and_of_singletons_none():
    rng = np.random.default_rng(5)
    made = over_nested(table(rng.uniform(size=30)), [np.arange(30) % 3])
    assert made.method == "Student's t, stratified"
    assert over_nested(table(rng.uniform(size=3), MEAN), [np.arange(3)]).low is None
    assert over_nested(table(np.array([1.0, 0.0, 1.0])), [np.arange(3)]).low is not None


def test_macro_with_clusters_across_groups():
    rng = np.random.default_rng(6)
    clusters, groups = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    luck = rng.uniform(size=40)[clusters]
    x = (rng.uniform(size=120) < luck).astype(float)
    made = over_nested(table(x, clusters=clusters), [groups])
    assert made.method == "Student's t, stratified and clustered"
    rows = np.column_stack((x, np.ones(120)))
    ratio = over_nested(by_item(RATE, rows, np.arange(120), 120, clusters), [groups])
    assert ratio.method == "BCa bootstrap of clusters"
    assert (ratio.low, ratio.high) == pytest.approx((made.low, made.high), abs=0.03)


def test_macro_covers():
    rng, rates, held = np.random.default_rng(7), np.array([0.95, 0.6, 0.2]), 0
    groups = np.repeat([0, 1, 2], [20, 60, 35])
    for _ in range(400):
        made = over_nested(table((rng.uniform(size=115) < rates[groups]).astype(float)), [groups])
        held += made.low <= rates.mean() <= made.high
    assert explained(held, 400, 0.94, 0.97), held


def test_a_failed_sample_leaves_an_item_without_its_pass_at_k():
    rows = np.array([[1.0], [0.0], [1.0], [math.nan]])
    made = estimate(rows, pass_at(2), items=np.array([0, 0, 1, 1]))
    assert (made.n_items, made.n_trials, made.n_missing) == (1, 3, 1)
    assert made.value == 1.0
    with pytest.raises(InputError, match="k greater than n"):
        estimate(rows[:2], pass_at(3), items=np.array([0, 0]))


def test_bounds_of_ratios_are_their_range_or_unknown():
    rows = np.array([[1.0, 2.0], [math.nan, math.nan]])
    assert bounds(by_item(RATE, rows, np.arange(2), 2)) == (0.0, 1.0)
    assert bounds(by_item(BITS_PER_BYTE, -rows, np.arange(2), 2)) is None


def test_a_within_of_the_wrong_shape_is_refused():
    odd = Metric("odd", 1, ("x",), lambda rows: rows.mean(), ACCURACY.over)
    with pytest.raises(InputError, match="last axis but one"):
        estimate(np.ones(4), odd)
