import numpy as np
import pytest
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.change import change_point, cusum, p_chart
from tests.stats.simulated import explained, simulated

N = np.full(30, 40.0)


def series(rng, rates, n=N):
    return rng.binomial(n.astype(int), rates).astype(float)


def test_a_change_is_found_where_it_is():
    rng, found = np.random.default_rng(1), []
    for _ in range(40):
        made = change_point(series(rng, np.r_[np.full(18, 0.85), np.full(12, 0.6)]), N)
        found.append(made)
        assert made.since[0] <= made.at <= made.since[1]
    assert np.mean([made.found for made in found]) > 0.95
    assert np.mean([abs(made.at - 18) <= 1 for made in found]) > 0.8
    assert np.mean([made.since[0] <= 18 <= made.since[1] for made in found]) > 0.85
    last = found[-1]
    assert last.before.n_items == last.at * 40
    assert last.before.low > last.after.high
    assert last.before.method == "Wilson, answers taken as independent"


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
@simulated(50, 300)
def test_false_alarms_are_as_rare_as_stated(rate, runs):
    """Also at rates near 1, since the test is exact given the sum."""
    rng, sizes = np.random.default_rng(2), np.random.default_rng(3).integers(5, 80, 12).astype(float)
    alarms = sum(change_point(series(rng, rate, sizes), sizes, seed=run).found for run in range(runs))
    assert explained(alarms, runs, 0.03 if rate < 0.95 else 0.0, 0.05), alarms


def test_one_split_is_the_likelihood_ratio_test():
    right, n = np.array([30.0, 18.0]), np.array([40.0, 40.0])
    made = change_point(right, n)
    assert made.at == 1
    table = [[30, 10], [18, 22]]
    assert made.p == pytest.approx(stats.fisher_exact(table).pvalue, abs=0.01)


@simulated(60, 300)
def test_the_cusum_keeps_its_rate_of_false_alarms_and_sees_a_drop(runs):
    rng = np.random.default_rng(4)
    alarms = sum(cusum(series(rng, 0.85), N, 0.85, 0.08, seed=run % 7).alarm is not None for run in range(runs))
    assert explained(alarms, runs, 0.03, 0.06), alarms
    drops = [cusum(series(rng, np.r_[np.full(10, 0.85), np.full(20, 0.72)]), N, 0.85, 0.08) for _ in range(40)]
    seen = [made.alarm for made in drops if made.alarm is not None and made.alarm >= 10]
    assert len(seen) > 35
    assert np.median(seen) <= 15
    assert drops[0].falls.max() > drops[0].rises.max()


def test_a_slow_drift_is_for_the_cusum_and_a_jump_for_the_chart():
    right = np.r_[np.full(10, 34.0), np.full(20, 31.0)]
    assert cusum(right, N, 0.85, 0.08).alarm is not None
    assert p_chart(right, N, centre=0.85).outside == ()
    jump = np.full(30, 34.0)
    jump[12] = 18
    assert p_chart(jump, N, centre=0.85).outside == (12,)


@pytest.mark.parametrize("centre", [0.5, 0.95])
def test_the_chart_keeps_its_rate_of_false_alarms(centre):
    """Exactly: the chance that no period lies outside, by the binomial distribution."""
    made = p_chart(np.full(30, 20.0), N, centre=centre)
    inside = stats.binom.cdf(made.high * N, N, centre) - stats.binom.cdf(made.low * N - 1, N, centre)
    assert 1 - np.prod(inside) <= 0.05
    assert made.centre == centre
    assert p_chart(np.full(30, 20.0), N).centre == 0.5


def test_a_constant_series_has_no_change():
    made = change_point(np.full(30, 40.0), N)
    assert (made.p, made.found) == (1.0, False)


@pytest.mark.parametrize(
    ("right", "n"), [([1.0], [2.0]), ([3.0, 1.0], [2.0, 2.0]), ([1.0, 1.0], [0.0, 2.0]), ([1.0, 0.5], [2.0, 2.0])]
)
def test_impossible_counts_are_refused(right, n):
    with pytest.raises(InputError, match="whole counts"):
        change_point(np.array(right), np.array(n))


def test_rates_that_leave_their_range_are_refused():
    with pytest.raises(InputError, match="smaller shift"):
        cusum(np.ones(3), np.full(3, 2.0), 0.95, 0.1)
    with pytest.raises(InputError, match="centre"):
        p_chart(np.ones(3), np.full(3, 2.0), centre=1.5)
