from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.intervals import clopper_pearson, combined, normal_quantile, student, student_quantile, wilson

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"
counts = st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from((0.8, 0.9, 0.95, 0.99))


@given(counts, levels)
def test_wilson_is_scipys(count, level):
    c, n = count
    theirs = stats.binomtest(c, n).proportion_ci(level, method="wilson")
    assert wilson(c / n, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(counts, levels)
def test_clopper_pearson_is_scipys(count, level):
    c, n = count
    theirs = stats.binomtest(c, n).proportion_ci(level, method="exact")
    assert clopper_pearson(c, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(counts, levels)
def test_intervals_of_proportions_enclose_the_value_and_stay_in_range(count, level):
    c, n = count
    for low, high in (wilson(c / n, n, level), clopper_pearson(c, n, level)):
        assert 0 <= low <= c / n <= high <= 1
        assert high - low > 0


@pytest.mark.parametrize("n", [1, 3, 20, 1_000])
def test_none_right_and_all_right_are_not_certain(n):
    for interval in (lambda c: wilson(c / n, n), lambda c: clopper_pearson(c, n)):
        assert interval(0)[0] == 0.0
        assert interval(0)[1] > 0.0
        assert interval(n)[1] == 1.0
        assert interval(n)[0] < 1.0


def coverage(interval, n, rates):
    """The exact chance that the interval holds the true rate: a sum over all outcomes, not a simulation."""
    ends = np.array([interval(c, n) for c in range(n + 1)])
    chance = stats.binom.pmf(np.arange(n + 1)[None, :], n, rates[:, None])
    held = (ends[:, 0] <= rates[:, None]) & (rates[:, None] <= ends[:, 1])
    return (chance * held).sum(axis=1)


def covered(interval, n):
    """The mean coverage over all rates, and the least with its rate: it jumps only where an interval ends."""
    jumps = np.unique([interval(c, n) for c in range(n + 1)])
    jumps = jumps[(jumps > 0) & (jumps < 1)]
    beside = np.concatenate((jumps - 1e-9, jumps + 1e-9))
    least = coverage(interval, n, beside)
    rate = float(beside[least.argmin()])
    return coverage(interval, n, np.linspace(0.0005, 0.9995, 1_999)).mean(), least.min(), min(rate, 1 - rate)


@pytest.mark.parametrize("n", [5, 10, 20, 30, 50, 65, 100, 164, 198, 448, pytest.param(1_000, marks=pytest.mark.slow)])
def test_coverage_is_as_promised_and_as_the_page_says(n):
    """Exact for every n: Wilson's holds 95 % on average, Clopper and Pearson's everywhere, between any two jumps."""
    mean, least, rate = covered(lambda c, n: wilson(c / n, n), n)
    mean_exact, least_exact, rate_exact = covered(clopper_pearson, n)
    assert 0.94 < mean < 0.965
    assert least > 0.83
    assert least_exact >= 0.95 - 1e-9
    row = (
        f"| {n:,} | {mean:.1%} | {least:.1%} at p = {rate:.4f} "
        f"| {mean_exact:.1%} | {least_exact:.2%} at p = {rate_exact:.4f} |"
    )
    print(row)
    assert row in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("df", [1, 1.5, 2, 2.5, 3, 4, 5, 7.3, 10, 29, 99.9, 100, 1e4, 1e6])
def test_student_quantile_is_scipys(level, df):
    assert student_quantile(level, df) == pytest.approx(stats.t.ppf((1 + level) / 2, df), rel=1e-10)


def test_normal_quantile_is_scipys():
    assert normal_quantile(0.95) == pytest.approx(stats.norm.ppf(0.975), abs=1e-12)


def test_student_interval_is_scipys():
    values = np.random.default_rng(1).normal(size=12)
    theirs = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert student(values.mean(), stats.sem(values), 11) == pytest.approx(theirs, rel=1e-4)


def test_combined_intervals_cover_the_mean_of_groups():
    rng, rates, sizes = np.random.default_rng(5), np.array([0.97, 0.5, 0.1]), [15, 40, 60]
    held = 0
    for _ in range(1_500):
        values = [rng.binomial(n, p) / n for n, p in zip(sizes, rates, strict=True)]
        ends = [wilson(v, n) for v, n in zip(values, sizes, strict=True)]
        low, high = combined(values, ends, [1 / 3] * 3)
        held += low <= rates.mean() <= high
    assert 0.935 < held / 1_500 < 0.975


def test_a_weight_may_be_negative():
    """Newcombe 1998, table II: 56 of 70 against 48 of 80."""
    ends = [wilson(0.8, 70), wilson(0.6, 80)]
    assert combined([0.8, 0.6], ends, [1, -1]) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(0.5, 0),
        lambda: wilson(1.1, 10),
        lambda: wilson(0.5, 10, 1.0),
        lambda: clopper_pearson(11, 10),
        lambda: student_quantile(0.95, 0.5),
    ],
)
def test_impossible_input_is_refused_in_a_sentence(call):
    with pytest.raises(InputError, match=r"\w+ \w+"):
        call()
