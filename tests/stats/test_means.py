import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS

from measurand.core.errors import InputError
from measurand.stats.intervals import student
from measurand.stats.means import dense, macro, micro
from tests.stats.simulated import explained, simulated

RIGHT = {"a": (180, 200), "b": (30, 100), "c": (20, 50)}
VALUES = np.concatenate([np.r_[np.ones(c), np.zeros(n - c)] for c, n in RIGHT.values()])
GROUPS = np.concatenate([np.full(n, number) for number, (_, n) in enumerate(RIGHT.values())])

values = st.lists(st.integers(0, 4).map(float), min_size=2, max_size=60).map(np.array)


def test_micro_and_macro_of_unequal_groups():
    assert micro(VALUES).value == pytest.approx(0.6571, abs=5e-5)
    assert macro(VALUES, GROUPS).value == pytest.approx(0.5333, abs=5e-5)


@given(values)
def test_the_error_of_a_mean_is_the_textbooks(x):
    mean = micro(x)
    assert mean.value == pytest.approx(x.mean())
    assert mean.error == pytest.approx(stats.sem(x), abs=1e-12)
    assert mean.df == pytest.approx(len(x) - 1)


def test_the_error_of_the_macro_mean_is_stratified():
    parts = [VALUES[number == GROUPS] for number in range(3)]
    expected = np.sqrt(sum(stats.sem(part) ** 2 for part in parts)) / 3
    assert macro(VALUES, GROUPS).error == pytest.approx(expected)


def test_two_groups_have_welchs_degrees_of_freedom():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 9), rng.normal(1, 3, 23)
    theirs = stats.ttest_ind(a, b, equal_var=False)
    mean = macro(np.r_[a, b], np.r_[np.zeros(9), np.ones(23)])
    assert mean.df == pytest.approx(theirs.df)


@given(values, st.integers(2, 4), st.randoms())
def test_neither_order_nor_labels_matter(x, many, random):
    groups = np.arange(len(x)) % many
    order = list(range(len(x)))
    random.shuffle(order)
    before, after = macro(x, groups), macro(x[order], groups[order] * 7 - 3)
    assert after.value == pytest.approx(before.value)
    assert after.error == (None if before.error is None else pytest.approx(before.error, abs=1e-12))


@given(values)
def test_macro_of_equal_groups_is_micro(x):
    double = np.r_[x, x[::-1]]
    assert macro(double, np.repeat([0, 1], len(x))).value == pytest.approx(micro(double).value)


def test_the_clustered_error_is_statsmodels():
    rng = np.random.default_rng(9)
    clusters = rng.integers(0, 25, 200)
    x = rng.normal(size=200) + rng.normal(size=25)[clusters]
    theirs = OLS(x, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    mean = micro(x, clusters)
    assert (mean.value, mean.error) == pytest.approx((theirs.params[0], theirs.bse[0]), abs=1e-10)
    assert student(mean.value, mean.error, mean.df) == pytest.approx(theirs.conf_int()[0], abs=1e-10)


def test_a_mean_without_clusters_is_the_mean_of_one_group():
    x = np.random.default_rng(10).normal(size=60)
    one = macro(x, np.zeros(60, dtype=int))
    assert (micro(x).value, micro(x).error, micro(x).df) == pytest.approx((one.value, one.error, one.df), abs=1e-12)


def test_repeating_every_item_tells_nothing_new():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 50).astype(float)
    again = micro(np.repeat(x, 10), np.repeat(np.arange(50), 10))
    assert again.error == pytest.approx(micro(x).error)
    assert again.df == 49


def covers(groups_of, seed: int, runs: int, *, clustered: bool) -> int:
    """How often of `runs` the 95 % interval holds the true mean 0.5, when items of a cluster share their luck."""
    rng, held = np.random.default_rng(seed), 0
    clusters = np.repeat(np.arange(40), 5)
    for _ in range(runs):
        luck = rng.uniform(0, 1, 40)[clusters]
        x = (rng.uniform(size=200) < luck).astype(float)
        mean = macro(x, groups_of(clusters), clusters if clustered else None)
        half = stats.t.ppf(0.975, mean.df) * mean.error
        held += abs(mean.value - 0.5) <= half
    return held


@pytest.mark.parametrize("groups_of", [np.zeros_like, lambda c: c % 4, lambda c: np.arange(len(c)) % 5])
@simulated(300, 1_500)
def test_clustered_errors_cover(groups_of, runs):
    """Pooled, macro over groups that hold whole clusters, and macro over groups that cut across them."""
    assert explained(covers(groups_of, 8, runs, clustered=True), runs, 0.94, 0.96)


def test_errors_that_ignore_clusters_do_not_cover():
    assert covers(np.zeros_like, 8, 300, clustered=False) < 0.9 * 300


def test_one_unit_shows_no_spread():
    assert micro(np.array([1.0])).error is None
    assert macro(np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1])).error is None


def test_the_mean_of_nothing_is_refused():
    with pytest.raises(InputError, match="no values"):
        micro(np.array([]))


def test_dense_labels():
    assert dense(np.array([7, -2, 7, 30])).tolist() == [1, 0, 1, 2]
