import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.mcnemar import mcnemar
from measurand.stats.metrics import RATE
from measurand.stats.permutation import EXACT, label_swap, sign_flip, typical_values
from measurand.stats.sums import weighted_mean
from tests.stats.simulated import explained, simulated

few = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=9).map(np.array)


@given(few)
def test_it_is_scipys(d):
    theirs = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=10_000).pvalue
    assert sign_flip(d) == pytest.approx(theirs, abs=1e-10)


@given(st.integers(0, 7), st.integers(0, 7))
def test_of_right_and_wrong_it_is_mcnemar(wins, losses):
    if wins + losses:
        assert sign_flip(np.r_[np.ones(wins), -np.ones(losses)]) == pytest.approx(mcnemar(wins, losses))


@given(few)
def test_its_interval_excludes_zero_where_it_rejects(d):
    low, high = typical_values(d)
    if low != 0 != high:
        assert (sign_flip(d) <= 0.05) == (low > 0 or high < 0)


def test_clusters_flip_together():
    d, clusters = np.repeat([0.3, 0.2, 0.1, 0.4], 5), np.repeat(np.arange(4), 5)
    assert sign_flip(d, clusters) == 2 / 2**4
    assert typical_values(d, clusters) == (-np.inf, np.inf)
    assert sign_flip(d) < 0.001


def test_many_units_are_drawn_and_agree_with_all():
    rng = np.random.default_rng(1)
    d = rng.normal(0.4, 1, EXACT + 1)
    theirs = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=2**16).pvalue
    assert sign_flip(d) == pytest.approx(theirs, abs=0.01)
    assert sign_flip(np.ones(100)) > 0


@simulated(120, 400)
def test_its_interval_covers_with_few_units(runs):
    rng, held = np.random.default_rng(2), {8: 0, 20: 0}
    for n in held:
        for _ in range(runs):
            low, high = typical_values(rng.standard_t(3, n) + 1)
            held[n] += low <= 1 <= high
    assert all(explained(count, runs, 0.94, 0.965) for count in held.values()), held


def test_labels_are_swapped_in_any_metric():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.3, 1, (12, 1)), rng.normal(0, 1, (12, 1))
    assert label_swap(weighted_mean, (a, b), draws=20_000) == pytest.approx(sign_flip((a - b)[:, 0]), abs=0.015)
    of = rng.integers(1, 9, 40).astype(float)
    low, high = (np.column_stack((rng.binomial(of.astype(int), rate), of)).astype(float) for rate in (0.3, 0.7))
    assert label_swap(RATE.over, (low, high)) < 0.01


def test_it_rejects_five_in_a_hundred_where_nothing_differs():
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(15), 3)
    hits = [0, 0]
    for _ in range(300):
        luck = rng.normal(size=15)[clusters] + rng.normal(size=45)
        a, b = (np.column_stack((rng.poisson(3, 45), np.full(45, 5.0))) for _ in range(2))
        hits[0] += sign_flip(luck, clusters) <= 0.05
        hits[1] += label_swap(RATE.over, (a, b), draws=400) <= 0.05
    assert all(0.02 <= count / 300 <= 0.085 for count in hits), hits


def test_no_differences_are_refused():
    with pytest.raises(InputError, match="says nothing"):
        sign_flip(np.array([]))
