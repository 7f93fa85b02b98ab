import math

import numpy as np
import pytest

from measurand.core.errors import InputError
from measurand.stats.pareto import Dimension, standings
from tests.stats.simulated import explained, simulated

NAMES = ("small", "large", "waste")


def drawn(rng, n=200, quality=(0.6, 0.8, 0.6), cost=(1.0, 3.0, 3.0)):
    ease = rng.normal(0, 1, n)
    luck = rng.normal(0, 1, (3, n))
    cut = -np.sqrt(2) * np.array([_normal(q) for q in quality])[:, None]
    right = (ease + luck > cut).astype(float)
    costs = np.array(cost)[:, None] * rng.lognormal(0, 0.3, (3, n))
    return Dimension("accuracy", right, higher_is_better=True), Dimension("cost", costs)


def _normal(q):
    from statistics import NormalDist

    return NormalDist().inv_cdf(q)


def test_a_clear_frontier():
    quality, cost = drawn(np.random.default_rng(1))
    small, large, waste = standings(NAMES, (quality, cost), alpha=0.05)
    assert (small.verdict, large.verdict) == ("on the frontier", "on the frontier")
    assert small.numbers == pytest.approx((quality.values[0].mean(), cost.values[0].mean()))
    assert large.dominated_by == small.dominated_by == ()
    assert waste.verdict != "on the frontier"


def test_dominated_is_a_tested_statement():
    """Measured worse in both is not enough: with few items nobody can say."""
    rng = np.random.default_rng(2)
    many = standings(NAMES, drawn(rng, 600, quality=(0.75, 0.8, 0.55)))
    assert many[2].verdict == "dominated"
    assert {name for name, _ in many[2].dominated_by} >= {"small"}
    few = standings(NAMES, drawn(rng, 20, quality=(0.62, 0.8, 0.6)))
    assert few[2].verdict != "dominated"


def test_a_margin_lets_no_worse_be_good_enough():
    rng = np.random.default_rng(3)
    right = rng.integers(0, 2, 400).astype(float)
    other = right.copy()
    other[:2] = 1 - other[:2]
    values, costs = np.stack((right, other)), np.stack((rng.lognormal(1, 0.2, 400), rng.lognormal(0, 0.2, 400)))
    strict = standings("ab", (Dimension("quality", values, True), Dimension("cost", costs)))
    loose = standings("ab", (Dimension("quality", values, True, margin=0.03), Dimension("cost", costs)))
    assert strict[0].verdict != "dominated"
    assert loose[0].verdict == "dominated"


def test_equal_is_shown_to_be_no_worse_by_a_margin_only_and_a_list_price_is_a_fact():
    values = np.random.default_rng(4).integers(0, 2, 50).astype(float)
    both = np.stack((values, values))
    price = Dimension("price", np.stack((np.full(50, 2.0), np.full(50, 1.0))), fixed=True)
    strict = standings("ab", (Dimension("quality", both, True), price))
    assert [one.verdict for one in strict] == ["cannot say", "on the frontier"]
    loose = standings("ab", (Dimension("quality", both, True, margin=0.01), price))
    assert [one.verdict for one in loose] == ["dominated", "on the frontier"]
    alone = standings("ab", (Dimension("quality", both, True, margin=0.01),))
    assert [one.verdict for one in alone] == ["on the frontier", "on the frontier"]


def test_no_spread_is_not_certainty():
    """Three items that one gets and the other does not are three coins; ten are not."""
    for n, verdict in ((1, "cannot say"), (3, "cannot say"), (10, "dominated")):
        values = np.stack((np.zeros(n), np.ones(n)))
        worse, better = standings("ab", (Dimension("quality", values, True),))
        assert worse.verdict == verdict
        assert better.dominated_by == ()


@pytest.mark.parametrize("gap", [0.0, 1.5])
@simulated(40, 200)
def test_false_claims_are_rare(gap, runs):
    """Equal in quality, and equal or far apart in cost: quality alone is in doubt, so 5 % is reached, not passed."""
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(runs):
        luck = rng.normal(size=60)
        quality = Dimension("quality", luck + rng.normal(size=(2, 60)), True)
        cost = Dimension("cost", rng.normal(size=(2, 60)) + np.array([[gap], [0.0]]))
        alarms += standings("ab", (quality, cost))[0].verdict == "dominated"
    assert explained(alarms, runs, 0.0, 0.05), alarms


def test_latency_by_its_95th_percentile_and_gaps_left_out():
    rng = np.random.default_rng(6)
    steady, spiky = rng.normal(2, 0.1, 400), np.where(rng.random(400) < 0.1, 9.0, 1.0)
    values = np.stack((steady, spiky))
    mean = standings("ab", (Dimension("latency", values),))
    slow = standings("ab", (Dimension("latency", values, quantile=0.95),))
    assert mean[0].on_frontier is False
    assert slow[1].on_frontier is False
    assert slow[0].numbers[0] == pytest.approx(np.quantile(steady, 0.95, method="inverted_cdf"))
    values[0, :10] = math.nan
    assert standings("ab", (Dimension("latency", values),))[1].numbers[0] == pytest.approx(values[1, 10:].mean())


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(8), 25)
    shift = rng.normal(0, 1, 8)[clusters]
    values = np.stack((np.zeros(200), shift + 0.4)) + rng.normal(0, 0.1, (2, 200))
    alone = standings("ab", (Dimension("quality", values, True),))
    together = standings("ab", (Dimension("quality", values, True),), clusters)
    assert (alone[0].verdict, together[0].verdict) == ("dominated", "cannot say")


def test_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="subjects by items"):
        standings("abc", (Dimension("x", np.ones((2, 5))),))
    with pytest.raises(InputError, match="needs an item"):
        standings("ab", (Dimension("x", np.array([[1.0, math.nan], [math.nan, 1.0]])),))
