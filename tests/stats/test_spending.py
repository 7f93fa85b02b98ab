import numpy as np
import pytest
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.spending import boundaries, crossing_chance, spent

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)


def simulated(fractions, bounds, runs=20_000):
    steps = np.random.default_rng(1).normal(size=(runs, len(fractions))) * np.sqrt(np.diff((0, *fractions)))
    z = np.cumsum(steps, axis=1) / np.sqrt(fractions)
    return (np.abs(z) > bounds).any(axis=1).mean()


@pytest.mark.parametrize(("looks", "chance"), [(1, 0.05), (2, 0.083), (5, 0.142), (10, 0.193)])
def test_repeated_looks_at_1_96_are_armitages_table(looks, chance):
    fractions = np.arange(1, looks + 1) / looks
    assert crossing_chance(fractions.tolist(), [1.959964] * looks) == pytest.approx(chance, abs=5e-4)


@pytest.mark.parametrize("kind", ["obrien_fleming", "pocock"])
@pytest.mark.parametrize("fractions", [FIVE, (0.1, 0.5, 0.55, 1.0), tuple(np.arange(1, 11) / 10)])
def test_the_error_is_spent_and_no_more(kind, fractions):
    bounds = boundaries(fractions, kind=kind)
    assert crossing_chance(fractions, bounds.tolist()) == pytest.approx(0.05, abs=1e-6)
    assert simulated(fractions, bounds) == pytest.approx(0.05, abs=0.006)


def test_early_looks_cost_little_by_the_one_and_much_by_the_other():
    """The bounds that programs for clinical trials print for five looks."""
    late, even = boundaries(FIVE), boundaries(FIVE, kind="pocock")
    assert late == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=2e-4)
    assert even == pytest.approx([2.4380, 2.4268, 2.4101, 2.3966, 2.3859], abs=2e-4)
    assert crossing_chance((0.2,), late[:1].tolist()) == pytest.approx(spent(0.2), rel=1e-6)


def test_one_look_is_an_ordinary_test():
    for kind in ("obrien_fleming", "pocock"):
        assert boundaries((1.0,), kind=kind)[0] == pytest.approx(stats.norm.ppf(0.975), abs=1e-9)
        assert spent(1.0, 0.05, kind) == pytest.approx(0.05)


@pytest.mark.parametrize("fractions", [(), (0.5, 0.4), (0.0, 1.0), (0.5, 1.2)])
def test_looks_that_do_not_grow_are_refused(fractions):
    with pytest.raises(InputError, match="growing shares"):
        boundaries(fractions)
