from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.stats.passk import (
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
    saturated_share,
    saturates_at,
)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [(10, 4, 1, 0.4), (10, 4, 5, 0.9762), (10, 4, 10, 1.0), (20, 12, 5, 0.9964), (5, 2, 3, 0.9), (1000, 1, 100, 0.1)],
)
def test_published_values(n, c, k, value):
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=5e-5)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_is_the_share_of_draws_that_hold_a_correct_sample(case):
    n, c, k = case
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-15)


@pytest.mark.parametrize(("c", "k"), [(1, 1), (3, 9_997), (5_000, 2), (9_999, 1), (1, 5_000), (17, 100)])
def test_it_is_exact_for_ten_thousand_samples(c, k):
    n = 10_000
    assert pass_at_k(n, c, k) == float(1 - Fraction(comb(n - c, k), comb(n, k)))


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_hat_is_the_share_of_draws_that_are_all_correct(case):
    n, c, k = case
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws), abs=1e-15)


def test_pass_hat_is_exact_for_ten_thousand_samples_and_unbiased():
    assert pass_hat_k(10_000, 9_000, 500) == float(Fraction(comb(9_000, 500), comb(10_000, 500)))
    rng = np.random.default_rng(4)
    means = [(10, int(c)) for c in rng.binomial(10, 0.7, size=4_000)]
    assert mean_pass_hat_k(means, 3) == pytest.approx(0.7**3, abs=0.01)


def test_the_erratum_of_a_saturated_k_cannot_be_seen():
    """12 right of 20, of which three turn out wrong: pass@15 says 1 before and after."""
    before, after = (20, 12), (20, 9)
    assert (pass_at_k(*before, 1), pass_at_k(*after, 1)) == pytest.approx((0.6, 0.45))
    assert (pass_at_k(*before, 5), pass_at_k(*after, 5)) == pytest.approx((0.9964, 0.9702), abs=5e-5)
    assert pass_at_k(*before, 15) == pass_at_k(*after, 15) == 1.0
    assert (saturates_at(*before), saturates_at(*after)) == (9, 12)
    assert saturated_share([before, after], 15) == 1.0
    assert saturated_share([before, after], 10) == 0.5


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_saturation_is_the_first_k_at_which_pass_at_k_is_one(case):
    n, c = case
    ones = [k for k in range(1, n + 1) if pass_at_k(n, c, k) == 1]
    assert saturates_at(n, c) == (ones[0] if ones else None)


def test_it_is_unbiased():
    rng = np.random.default_rng(3)
    means = [pass_at_k(10, int(c), 3) for c in rng.binomial(10, 0.3, size=4_000)]
    assert np.mean(means) == pytest.approx(1 - 0.7**3, abs=0.01)


def test_problems_are_averaged_not_pooled():
    assert mean_pass_at_k([(2, 1), (4, 1)], 2) == 0.75


def test_more_draws_than_samples_are_refused():
    with pytest.raises(InputError, match="k greater than n"):
        pass_at_k(1, 1, 10)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 1, 0)])
def test_impossible_counts_are_refused(n, c, k):
    with pytest.raises(InputError):
        pass_at_k(n, c, k)
