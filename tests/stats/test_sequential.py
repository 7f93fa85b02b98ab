from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betaln

from measurand.core.errors import InputError
from measurand.core.looks import Looks
from measurand.stats.deciding import at_least
from measurand.stats.intervals import clopper_pearson
from measurand.stats.sequential import looked, mean_sequence, naive_false_pass, rate_at

once_at = cache(rate_at)
once_at_least = cache(at_least)
TEN = tuple(range(50, 501, 50))


def false_passes(rate, runs, says):
    rng, passed = np.random.default_rng(1), 0
    for _ in range(runs):
        counts = np.cumsum(rng.binomial(50, rate, 10))
        passed += any(says(c, n) for c, n in zip(counts.tolist(), TEN, strict=True))
    return passed / runs


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_ten_looks_pass_what_is_not_good_enough_seldom(rate):
    assert false_passes(rate, 1_000, lambda c, n: once_at(c, n)[0] >= rate) <= 0.05


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_the_naive_rule_passes_it_as_often_as_is_said(rate):
    found = false_passes(rate, 4_000, lambda c, n: once_at_least(c, n, rate) == "pass")
    said = naive_false_pass(TEN, rate)
    assert found == pytest.approx(said, abs=0.012)
    assert said > 2.5 * naive_false_pass(TEN[-1:], rate)


def test_the_naive_gate_of_one_look_keeps_its_promise():
    assert naive_false_pass((500,), 0.8) <= 0.025
    assert naive_false_pass(TEN, 0.8) > 0.05


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_look_after_every_item_still_holds(rate):
    rng, left = np.random.default_rng(2), 0
    for _ in range(300):
        counts = np.cumsum(rng.uniform(size=300) < rate)
        ends = [once_at(int(c), n) for n, c in enumerate(counts, 1) if n % 3 == 0]
        left += any(not low <= rate <= high for low, high in ends)
    assert left / 300 <= 0.05


def test_its_ends_are_those_of_the_mixture():
    low, high = rate_at(70, 100)
    for p in (low, high):
        log_likelihood = 70 * np.log(p) + 30 * np.log(1 - p)
        assert betaln(70.5, 30.5) - betaln(0.5, 0.5) - log_likelihood == pytest.approx(np.log(20))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_encloses_the_rate_and_is_wider_than_one_look_needs(count):
    c, n = count
    low, high = rate_at(c, n)
    assert 0 <= low <= c / n <= high <= 1
    once = clopper_pearson(c, n)
    assert (low, high) == pytest.approx(once, abs=0.2)
    if n > 20:
        assert high - low > once[1] - once[0]


@pytest.mark.parametrize("draw", ["beta", "skewed", "differences"])
def test_sequences_of_means_hold_at_all_looks(draw):
    rng, left = np.random.default_rng(3), 0
    for _ in range(300):
        if draw == "differences":
            x, truth, span = rng.choice((-1.0, 0.0, 1.0), 400, p=(0.1, 0.8, 0.1)), 0.0, (-1.0, 1.0)
        else:
            a, b = (2, 2) if draw == "beta" else (0.2, 2)
            x, truth, span = rng.beta(a, b, 400), a / (a + b), (0.0, 1.0)
        low, high = mean_sequence(x, span=span)
        left += bool(((low > truth) | (high < truth)).any())
    assert left / 300 <= 0.05


def test_sequences_of_means_narrow_as_they_should():
    x = np.random.default_rng(4).beta(2, 2, 5_000)
    low, high = mean_sequence(x)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    assert high[-1] - low[-1] < 3 * 2 * 1.96 * stats.sem(x)
    wide = mean_sequence(x * 10, span=(0.0, 10.0))
    assert wide[0] == pytest.approx(low * 10)


def test_a_sequence_uses_nothing_that_it_has_not_seen():
    x = np.random.default_rng(5).uniform(size=100)
    low, _ = mean_sequence(x)
    shorter, _ = mean_sequence(x[:60])
    assert low[:60] == pytest.approx(shorter)


def test_every_look_is_recorded_and_the_verdict_stays():
    looks = Looks(0.7)
    for successes, n in ((40, 50), (84, 100), (170, 200), (220, 300)):
        looks = looked(looks, successes, n, at="2026-01-01")
    assert [look.says for look in looks.looks] == ["undecided", "undecided", "pass", "pass"]
    assert [look.n for look in looks.looks] == [50, 100, 200, 300]
    lows = [look.low for look in looks.looks]
    assert lows == sorted(lows)


@pytest.mark.parametrize(("successes", "n"), [(45, 40), (30, 60), (65, 60), (55, 60)])
def test_a_look_that_cannot_follow_is_refused(successes, n):
    with pytest.raises(InputError, match="cannot follow"):
        looked(looked(Looks(0.8), 40, 50), successes, n)


@pytest.mark.parametrize(
    "call",
    [lambda: rate_at(3, 2), lambda: mean_sequence(np.array([0.5, 1.2])), lambda: naive_false_pass((50, 40), 0.8)],
)
def test_impossible_input_is_refused(call):
    with pytest.raises(InputError, match=r"\w+ \w+"):
        call()
