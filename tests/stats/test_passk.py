from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.stats.passk import mean_pass_at_k, pass_at_k


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
