import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.power import detectable, detectable_paired, detectable_unpaired, items_needed


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
    ],
)
def test_impossible_input_is_refused(call):
    with pytest.raises(InputError):
        call()
