import numpy as np
import pytest
from scipy import stats

from measurand.core.errors import InputError
from measurand.core.looks import Looks
from measurand.stats.intervals import student
from measurand.stats.sequential import naive_false_pass, rate_at
from measurand.stats.spending import (
    boundaries,
    crossing_chance,
    looked_as_planned,
    mean_at_looks,
    rate_at_look,
    spent,
)
from tests.stats.simulated import explained, simulated

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)


def crossed(fractions, bounds, runs=20_000):
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
    assert crossed(fractions, bounds) == pytest.approx(0.05, abs=0.006)


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


TEN = range(50, 501, 50)


def first(sizes, wanted):
    """The fewest right at which the last of these looks says so; by halving."""
    low, high = 0, sizes[-1] + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wanted(middle, sizes) else (middle + 1, high)
    return low


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("kind", ["obrien_fleming", "pocock"])
def test_a_rule_that_is_extended_until_it_decides_keeps_its_error_in_ten_looks(threshold, kind):
    """Exact: the chance that a subject exactly at the threshold is passed, or failed, at any of ten looks."""
    chance, passed, failed = np.ones(1), 0.0, 0.0
    for number in range(1, 11):
        sizes = list(TEN)[:number]
        chance = np.convolve(chance, stats.binom.pmf(np.arange(51), 50, threshold))
        high = first(sizes, lambda right, sizes: rate_at_look(right, sizes, 500, kind=kind)[0] >= threshold)
        low = first(sizes, lambda right, sizes: rate_at_look(right, sizes, 500, kind=kind)[1] >= threshold)
        passed, failed = passed + chance[high:].sum(), failed + chance[:low].sum()
        chance[high:] = chance[:low] = 0
    assert passed < 0.025
    assert failed < 0.025
    assert naive_false_pass(TEN, threshold) > 0.05


@simulated(200, 2_000)
def test_means_keep_their_error_in_ten_looks_and_ordinary_intervals_do_not(runs):
    rng, claimed, naive = np.random.default_rng(2), 0, 0
    sizes = range(30, 301, 30)
    for _ in range(runs):
        values = rng.choice((-1.0, 0.0, 0.0, 1.0), 300)
        low, high = mean_at_looks(values, sizes, 300)
        claimed += (low > 0).any() or (high < 0).any()
        means, errors = zip(*((values[:n].mean(), values[:n].std(ddof=1) / n**0.5) for n in sizes), strict=True)
        naive += (np.abs(means) > 1.96 * np.array(errors)).any()
    assert explained(claimed, runs, 0.0, 0.05), claimed
    assert explained(naive, runs, 0.15, 0.25), naive


def test_the_last_planned_look_is_nearly_an_ordinary_interval_and_narrower_than_one_that_may_go_on():
    looks = Looks(0.8)
    for n in TEN:
        looks = looked_as_planned(looks, round(0.87 * n), n, 500)
    last = looks.looks[-1]
    low, high = rate_at(435, 500)
    assert last.high - last.low < 0.75 * (high - low)
    assert [one.says for one in looks.looks][-1] == "pass"
    assert looks.looks[0].says == "undecided"
    values = np.random.default_rng(3).normal(size=300)
    (low,), (high,) = mean_at_looks(values, [300], 300)
    assert (low, high) == pytest.approx(student(values.mean(), values.std(ddof=1) / 300**0.5, 299))
    wide = mean_at_looks(values, [2, 300], 300)
    assert wide[1][0] - wide[0][0] > 1e6, "nearly nothing may be spent on two items of three hundred"


@pytest.mark.parametrize(
    "call",
    [
        lambda: looked_as_planned(Looks(0.8), 5, 11, 10),
        lambda: looked_as_planned(looked_as_planned(Looks(0.8), 5, 6, 10), 5, 6, 10),
        lambda: looked_as_planned(looked_as_planned(Looks(0.8), 5, 6, 10), 4, 8, 10),
        lambda: mean_at_looks(np.ones(4), [2, 5], 10),
        lambda: mean_at_looks(np.ones(4), [1], 10),
    ],
)
def test_looks_beyond_the_plan_or_the_items_are_refused(call):
    with pytest.raises(InputError, match="look"):
        call()
