import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import normal_power
from statsmodels.stats.proportion import power_proportions_2indep

from measurand.core.errors import InputError
from measurand.stats.power import (
    design_effect,
    detectable,
    detectable_paired,
    detectable_single,
    detectable_unpaired,
    discordance,
    items_needed,
    items_needed_unpaired,
    power_quantile,
)


@pytest.mark.parametrize(("n", "psi"), [(164, 0.25), (1_319, 0.2), (400, 0.5)])
def test_the_paired_difference_is_found_four_times_in_five(n, psi):
    delta = detectable_paired(n, psi)
    rng = np.random.default_rng(11)
    up, down = (psi + delta) / 2, (psi - delta) / 2
    counts = rng.multinomial(n, (up, down, 1 - psi), size=20_000)
    difference = counts[:, 0] - counts[:, 1]
    found = np.abs(difference) / np.sqrt(counts[:, 0] + counts[:, 1]) > 1.959964
    assert found.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("n", "p"), [(164, 0.5), (1_319, 0.9), (14_042, 0.7)])
def test_the_unpaired_difference_is_found_four_times_in_five(n, p):
    delta = detectable_unpaired(n, p)
    rng = np.random.default_rng(12)
    a, b = (rng.binomial(n, p + side * delta / 2, size=20_000) / n for side in (1, -1))
    pooled = (a + b) / 2
    found = np.abs(a - b) / np.sqrt(2 * pooled * (1 - pooled) / n) > 1.959964
    assert found.mean() == pytest.approx(0.8, abs=0.02)


def test_a_difference_beyond_what_is_possible_is_not_promised():
    assert detectable_paired(10, 0.1) is None
    assert detectable_unpaired(5, 0.99) is None


@given(st.integers(50, 10**6), st.floats(0.05, 1.0))
def test_more_items_find_smaller_differences_and_both_ways_agree(n, psi):
    delta = detectable_paired(n, psi)
    if delta is not None:
        assert detectable_paired(2 * n, psi) < delta
        assert items_needed(delta * (1 - 1e-9), psi) - n in (0, 1)


def test_from_a_known_error():
    assert detectable(0.01) == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * 0.01)
    assert math.isclose(detectable(0.02), 2 * detectable(0.01))


@pytest.mark.parametrize(
    "call",
    [
        lambda: detectable_paired(0),
        lambda: detectable_unpaired(10, 1.5),
        lambda: items_needed(0.3, 0.2),
        lambda: detectable(0.1, power=0.4),
        lambda: items_needed_unpaired(0.3, 0.9),
        lambda: design_effect(0.5, 0.1),
    ],
)
def test_impossible_input_is_refused(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(("n", "threshold"), [(100, 0.8), (448, 0.5), (2_000, 0.97)])
def test_the_single_rate_is_found_four_times_in_five(n, threshold):
    delta = detectable_single(n, threshold)
    needed = n * threshold + stats.norm.ppf(0.975) * np.sqrt(n * threshold * (1 - threshold))
    assert stats.norm.sf(
        needed, n * (threshold + delta), np.sqrt(n * (threshold + delta) * (1 - threshold - delta))
    ) == (pytest.approx(0.8, abs=1e-9))
    assert detectable_single(3, 0.9) is None


@pytest.mark.parametrize(("p", "delta"), [(0.5, 0.05), (0.55, 0.03), (0.9, 0.1)])
def test_unpaired_items_are_statsmodels(p, delta):
    n = items_needed_unpaired(delta, p)
    theirs = [normal_power(delta, size / 2, 0.05, sigma=(p * (1 - p)) ** 0.5) for size in (n - 1, n)]
    assert theirs[0] < 0.8 <= theirs[1] + 1e-6
    exact = power_proportions_2indep(delta, p - delta / 2, nobs1=n, return_results=False)
    assert exact == pytest.approx(0.8, abs=0.01)
    assert detectable_unpaired(n, p) == pytest.approx(delta, rel=0.01)


def test_three_points_at_gpqa_size():
    """448 questions find 9.3 points between two subjects around 55 %, and 65 of them 24.4."""
    assert detectable_unpaired(448, 0.55) == pytest.approx(0.093, abs=5e-4)
    assert detectable_unpaired(65, 0.55) == pytest.approx(0.244, abs=5e-4)
    assert 0.03 / np.sqrt(2 * 0.55 * 0.45 / 448) == pytest.approx(0.90, abs=0.005)


def test_discordance_from_accuracies_and_correlation():
    rng = np.random.default_rng(13)
    a, b = rng.uniform(size=(2, 200_000)) < np.clip(rng.normal(0.6, 0.3, 200_000), 0, 1)
    made = discordance(a.mean(), b.mean(), np.corrcoef(a, b)[0, 1])
    assert made == pytest.approx((a != b).mean(), abs=1e-9)
    assert discordance(0.5, 0.5, 0.5) == 0.25
    assert discordance(0.7, 0.7, 1.0) == pytest.approx(0)
    with pytest.raises(InputError, match="cannot correlate"):
        discordance(0.9, 0.2, 1.0)


def test_clusters_cost_items():
    assert design_effect(1, 0.3) == 1
    assert design_effect(10, 0.1) == pytest.approx(1.9)
    assert power_quantile() == pytest.approx(stats.norm.ppf(0.8))
