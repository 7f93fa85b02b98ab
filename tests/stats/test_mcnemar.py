from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import xlogy
from statsmodels.stats.contingency_tables import mcnemar as theirs

from measurand.core.errors import InputError
from measurand.stats.mcnemar import WHOLE, mcnemar, tango, tango_z

counts = st.integers(0, 60)


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(29, 15, 0.0488), (30, 16, 0.0541), (5, 0, 0.0625), (6, 0, 0.03125), (2, 0, 0.5), (0, 0, 1.0)],
)
def test_what_small_counts_can_say(wins, losses, p):
    """Net 14 of 448 items is significant for 29 against 15, not for 30 against 16; ten items need 6 against 0."""
    assert mcnemar(wins, losses) == pytest.approx(p, abs=5e-5)
    assert mcnemar(losses, wins) == mcnemar(wins, losses)


def test_net_two_of_65_items_never_says_anything():
    assert min(mcnemar(losses + 2, losses) for losses in range(32)) == 0.5


@given(counts, counts)
def test_it_is_statsmodels(wins, losses):
    assert mcnemar(wins, losses) == pytest.approx(theirs([[3, wins], [losses, 5]], exact=True).pvalue, abs=1e-10)


@pytest.mark.parametrize("m", [WHOLE - 1, WHOLE + 1, 100_000])
def test_many_discordant_items_are_summed_as_well(m):
    wins = m // 2 + round(m**0.5)
    assert mcnemar(wins, m - wins) == pytest.approx(stats.binomtest(wins, m).pvalue, rel=1e-9)


@given(counts, counts, st.integers(1, 80))
def test_tangos_interval_encloses_the_difference_and_ends_at_its_score(wins, losses, others):
    n = wins + losses + others
    low, high = tango(wins, losses, n)
    assert -1 <= low < (wins - losses) / n < high <= 1
    for end in (low, high):
        assert abs(tango_z(wins, losses, n, end)) == pytest.approx(1.959964, abs=1e-5)
    mirrored = tango(losses, wins, n)
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize(("wins", "losses", "n", "difference"), [(7, 3, 40, 0.2), (1, 0, 44, 0.09), (0, 5, 12, -0.1)])
def test_its_score_is_that_of_the_likelihood(wins, losses, n, difference):
    """The share of losses that is likeliest under the true difference, found by search instead of by the quadratic."""
    rest = n - wins - losses

    def unlikely(share):
        return -(xlogy(wins, share + difference) + xlogy(losses, share) + xlogy(rest, 1 - 2 * share - difference))

    ends = max(0.0, -difference), (1 - difference) / 2
    share = optimize.minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    error = (n * (2 * share + difference - difference**2)) ** 0.5
    assert tango_z(wins, losses, n, difference) == pytest.approx((wins - losses - n * difference) / error, rel=1e-5)


def test_the_sign_of_tangos_interval_is_that_of_the_test_without_correction():
    for wins in range(40):
        for losses in range(wins):
            low, _ = tango(wins, losses, 100)
            assert (low > 0) == ((wins - losses) / (wins + losses) ** 0.5 > 1.959964)


@pytest.mark.parametrize("extreme", [(9, 0, 9), (0, 9, 9), (0, 0, 9), (1, 0, 1)])
def test_all_and_nothing_are_not_certain(extreme):
    low, high = tango(*extreme)
    assert high - low > 0.2


@pytest.mark.parametrize(("n", "psi", "tau"), [(20, 0.3, 0.0), (50, 0.2, 0.1), (50, 0.5, 0.3), (164, 0.1, 0.05)])
def test_tango_covers_by_exact_sums(n, psi, tau):
    up, down = (psi + tau) / 2, (psi - tau) / 2
    covered = 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            chance = comb(n, wins) * comb(n - wins, losses) * up**wins * down**losses * (1 - psi) ** (n - wins - losses)
            if chance > 1e-9:
                low, high = tango(wins, losses, n)
                covered += chance * (low <= tau <= high)
    assert 0.93 < covered < 0.975


@pytest.mark.parametrize("call", [lambda: mcnemar(-1, 2), lambda: tango(3, 3, 5), lambda: tango_z(0, 0, 0, 0.1)])
def test_impossible_counts_are_refused(call):
    with pytest.raises(InputError, match=r"\w+ \w+"):
        call()


def test_it_errs_no_more_often_than_it_says():
    for m in range(60):
        p = np.array([mcnemar(k, m - k) for k in range(m + 1)])
        assert stats.binom.pmf(np.arange(m + 1), m, 0.5)[p <= 0.05].sum() <= 0.05
