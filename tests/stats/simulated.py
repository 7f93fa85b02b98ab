"""Simulations of a few hundred runs, and what they can say about a rate."""

import pytest
from scipy.stats import binom

DOUBT = 1e-3


def simulated(short: int, long: int) -> pytest.MarkDecorator:
    """A test of `runs` runs: few of them each time, many where slow tests are run."""
    return pytest.mark.parametrize("runs", [short, pytest.param(long, marks=pytest.mark.slow)])


def explained(held: int, runs: int, low: float, high: float) -> bool:
    """Whether some rate from `low` to `high` explains `held` of `runs`: either binomial tail is above one in 1,000.

    So the bounds are those of the claim, and the luck of the simulation is added to them, whatever its size.
    """
    return bool(binom.cdf(held, runs, low) > DOUBT and binom.sf(held - 1, runs, high) > DOUBT)
