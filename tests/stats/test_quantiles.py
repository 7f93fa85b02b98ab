"""Quantiles with intervals from order statistics: equal to numpy, and covering whatever the distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.quantiles import items_for_upper_end, quantile_interval
from tests.stats.simulated import explained, simulated


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.sampled_from([0.1, 0.5, 0.95]))
def test_the_number_is_numpys_and_lies_between_its_ends(values, q):
    value, low, high = quantile_interval(np.array(values), q)
    assert value == np.quantile(values, q, method="inverted_cdf")
    assert low is None or low <= value
    assert high is None or value <= high


@pytest.mark.parametrize(("n", "q"), [(30, 0.5), (72, 0.95), (200, 0.95), (1000, 0.99), (500, 0.5)])
def test_the_ends_are_the_ranks_of_the_exact_binomial(n, q):
    """Between the ranks l and u the quantile lies with P(l <= X < u), X binomial: at least 95 %, by no more than one rank."""
    _, low, high = quantile_interval(np.arange(1, n + 1, dtype=float), q)
    below = stats.binom(n, q)
    covered = below.cdf((high or n + 1) - 1) - below.cdf((low or 0) - 1)
    assert covered >= 0.95 - 1e-12
    assert below.cdf((low or 0) - 1) <= 0.025 + 1e-12
    assert low is None or below.cdf(low) > 0.025
    assert high is None or below.sf(high - 2) > 0.025 - 1e-12


@pytest.mark.parametrize("law", [stats.expon, stats.cauchy], ids=lambda law: law.name)
@simulated(250, 1_000)
def test_it_covers_whatever_the_distribution(law, runs):
    covered = 0
    for values in law.rvs(size=(runs, 150), random_state=4):
        _, low, high = quantile_interval(values, 0.9)
        covered += low <= law.ppf(0.9) <= high
    assert explained(covered, runs, 0.95, 0.98), covered


def test_an_end_needs_values_beyond_it():
    assert items_for_upper_end(0.95) == 72
    assert quantile_interval(np.arange(71.0), 0.95)[2] is None
    assert quantile_interval(np.arange(72.0), 0.95)[2] is not None
    assert quantile_interval(np.array([3.0]), 0.5) == (3.0, None, None)


def test_nothing_has_no_quantile():
    for values, q in ((np.array([]), 0.5), (np.array([1.0]), 0.0), (np.array([1.0]), 1.0)):
        with pytest.raises(InputError):
            quantile_interval(values, q)
