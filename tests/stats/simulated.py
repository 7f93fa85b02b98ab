"""What a simulation of a few hundred runs can say about a rate."""

from scipy.stats import binom

DOUBT = 1e-3


def explained(held: int, runs: int, low: float, high: float) -> bool:
    """Whether some rate from `low` to `high` explains `held` of `runs`: either binomial tail is above one in 1,000.

    So the bounds are those of the claim, and the luck of the simulation is added to them, whatever its size.
    """
    return bool(binom.cdf(held, runs, low) > DOUBT and binom.sf(held - 1, runs, high) > DOUBT)
