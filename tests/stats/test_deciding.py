import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.core.errors import InputError
from measurand.core.estimate import Comparison, Estimate
from measurand.stats.compare import compare
from measurand.stats.deciding import at_least, further_items, further_items_of_rate, not_worse, verdict
from measurand.stats.estimate import estimate
from measurand.stats.metrics import ACCURACY, MEAN
from measurand.stats.missing import by_item


def table(values, metric=ACCURACY):
    return by_item(metric, np.asarray(values, float)[:, None], np.arange(len(values)), len(values))


@pytest.mark.parametrize(
    ("successes", "n", "threshold", "says"),
    [
        (95, 100, 0.8, "pass"),
        (84, 100, 0.8, "undecided"),
        (60, 100, 0.8, "fail"),
        (10, 10, 0.8, "undecided"),
        (17, 17, 0.8, "pass"),
        (0, 3, 0.8, "fail"),
    ],
)
def test_a_gate_says_pass_fail_or_undecided(successes, n, threshold, says):
    assert at_least(successes, n, threshold) == says


@pytest.mark.parametrize("n", [5, 41, 164, 500])
def test_a_gate_passes_what_is_below_at_most_as_often_as_it_says(n):
    """Exact: the chance, at the threshold itself, of a count that passes."""
    counts = np.arange(n + 1)
    for threshold in (0.5, 0.8, 0.97):
        says = np.array([at_least(c, n, threshold) for c in counts.tolist()])
        chance = stats.binom.pmf(counts, n, threshold)
        assert chance[says == "pass"].sum() <= 0.025
        assert chance[says == "fail"].sum() <= 0.025


@pytest.mark.parametrize(
    ("successes", "n", "threshold"), [(84, 100, 0.8), (76, 100, 0.8), (10, 10, 0.8), (50, 60, 0.8), (3, 4, 0.99)]
)
def test_the_further_items_decide_four_times_in_five(successes, n, threshold):
    more = further_items_of_rate(successes, n, threshold)
    rng = np.random.default_rng(1)
    totals, counts = np.unique(successes + rng.binomial(more, successes / n, size=4_000), return_counts=True)
    decided = sum(
        m
        for c, m in zip(totals.tolist(), counts.tolist(), strict=True)
        if at_least(c, n + more, threshold) != "undecided"
    )
    assert decided / 4_000 > 0.77
    if more > 40:
        assert decided / 4_000 < 0.86


def test_a_rate_at_the_threshold_is_never_decided_and_a_decided_one_needs_nothing():
    assert further_items_of_rate(80, 100, 0.8) is None
    assert further_items_of_rate(95, 100, 0.8) == 0
    assert further_items_of_rate(800_001, 1_000_000, 0.8) is None


def test_further_items_of_a_difference():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.1, 1, 100), rng.normal(0, 1, 100)
    found = compare(table(a, MEAN), table(b, MEAN)).difference
    more = further_items(found)
    decided = 0
    for _ in range(400):
        d = np.r_[a - b, rng.normal(found.value, np.std(a - b, ddof=1), more)]
        decided += abs(np.mean(d)) > 1.96 * np.std(d, ddof=1) / len(d) ** 0.5
    assert 0.74 < decided / 400 < 0.86


def test_further_items_agree_with_the_exact_ones():
    made = estimate(np.r_[np.ones(252), np.zeros(48)], ACCURACY)
    exact = further_items_of_rate(252, 300, 0.8)
    assert further_items(made, 0.8) == pytest.approx(exact, rel=0.2)


def test_further_items_are_not_promised_where_they_cannot_help():
    none = Estimate("m", 0.0, -1.0, 1.0, 0.95, "t", 10, 10)
    assert further_items(none) is None
    assert further_items(Estimate("m", 0.5, None, None, 0.95, "none", 1, 1)) is None
    assert further_items(Estimate("m", 0.5, 0.4, 0.6, 0.95, "t", 10, 10)) == 0


def difference(low, high):
    return Comparison("a", "b", True, Estimate("m", (low + high) / 2, low, high, 0.95, "t", 10, 10))


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (-0.01, 0.05, "pass"),
        (-0.03, 0.05, "undecided"),
        (-0.09, -0.03, "fail"),
        (0.01, 0.02, "pass"),
        (-0.02, 0.1, "pass"),
    ],
)
def test_not_worse_by_more_than_two_points(low, high, says):
    assert not_worse(difference(low, high), 0.02) == says
    assert not_worse(difference(-high, -low), 0.02, higher_is_better=False) == says


def test_what_is_worse_by_the_margin_seldom_passes():
    """At the margin itself; exact over the wins and losses of 120 items."""
    n, psi, margin = 120, 0.2, 0.05
    up, down = (psi - margin) / 2, (psi + margin) / 2
    passed = failed = 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            chance = (
                stats.multinomial.pmf((wins, losses, n - wins - losses), n, (up, down, 1 - psi))
                if wins + losses < 60
                else 0
            )
            if chance > 1e-8:
                a, b = np.ones(n), np.ones(n)
                a[:losses] = 0
                b[losses : losses + wins] = 0
                says = not_worse(compare(table(a), table(b)), margin)
                passed += chance * (says == "pass")
                failed += chance * (says == "fail")
    assert passed < 0.03
    assert failed < 0.03


def test_without_an_interval_nothing_is_said():
    nothing = Comparison("a", "b", True, Estimate("m", None, None, None, 0.95, "none", 0, 0))
    assert not_worse(nothing, 0.02) == "undecided"
    with pytest.raises(InputError, match="margin"):
        not_worse(nothing, -0.02)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_verdict_has_one_of_three_values_and_grows_with_the_number(a, b, threshold):
    low, high = sorted((a, b))
    order = ["fail", "undecided", "pass"]
    assert order.index(verdict(low, high, threshold)) <= order.index(verdict(low + 0.1, high + 0.1, threshold))
