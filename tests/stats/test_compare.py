import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.core.identity import canonical
from measurand.stats.compare import better, compare, compare_unpaired
from measurand.stats.estimate import estimate
from measurand.stats.mcnemar import mcnemar, tango
from measurand.stats.metrics import ACCURACY, MEAN, MICRO_F1, RATE
from measurand.stats.missing import by_item
from tests.stats.simulated import explained, simulated


def table(values, metric=ACCURACY, clusters=None, items=None):
    rows = np.asarray(values, dtype=float)
    rows = rows[:, None] if rows.ndim == 1 else rows
    items = np.arange(len(rows)) if items is None else items
    return by_item(metric, rows, items, int(items.max()) + 1, clusters)


def discordant(wins, losses, n):
    a, b = np.ones(n), np.ones(n)
    b[:wins] = 0
    a[wins : wins + losses] = 0
    return compare(table(a), table(b), names=("A", "B"))


@pytest.mark.parametrize(
    ("wins", "losses", "n", "says"),
    [(29, 15, 448, "A"), (30, 16, 448, ""), (5, 0, 10, ""), (6, 0, 10, "A"), (0, 6, 10, "B")],
)
def test_one_trial_each_is_mcnemar_and_the_interval_agrees(wins, losses, n, says):
    made = discordant(wins, losses, n)
    assert made.paired
    assert made.p == mcnemar(wins, losses)
    assert made.difference.value == pytest.approx((wins - losses) / n)
    assert better(made) == says
    assert (made.difference.low <= 0 <= made.difference.high) == (says == "")
    assert made.test == f"McNemar, exact, {wins} against {losses}"
    assert ("widened to the test" in made.difference.method) == ((wins, losses) in {(30, 16), (5, 0)})


def test_test_and_interval_never_contradict_each_other():
    for wins in range(60):
        for losses in range(wins + 1):  # turned round they are the same: see test_properties
            made = discordant(wins, losses, 130).difference
            assert (mcnemar(wins, losses) < 0.05) == (made.low > 0 or made.high < 0)


def test_the_difference_that_would_be_found_is_connors():
    assert discordant(29, 15, 448).detectable == pytest.approx(0.0413, abs=5e-4)
    assert discordant(0, 0, 10).detectable is None


def test_real_values_are_the_paired_t_test():
    rng = np.random.default_rng(1)
    a = rng.normal(0.2, 1, 60)
    b = a * 0.5 + rng.normal(0, 1, 60)
    theirs = stats.ttest_rel(a, b)
    made = compare(table(a, MEAN), table(b, MEAN))
    assert made.p == pytest.approx(theirs.pvalue, rel=1e-10)
    interval = theirs.confidence_interval()
    assert (made.difference.low, made.difference.high) == pytest.approx((interval.low, interval.high), abs=1e-10)
    assert made.test == "Student's t"


def test_samples_of_one_item_are_taken_together_before_pairing():
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(40), 5)
    a, b = (rng.integers(0, 2, 200).astype(float) for _ in range(2))
    made = compare(table(a, items=items), table(b, items=items))
    d = (a - b).reshape(40, 5).mean(axis=1)
    assert made.p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-10)
    assert (made.difference.n_items, made.difference.n_trials) == (40, 400)


def test_clusters_count_not_items():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 10)
    a = (rng.uniform(size=400) < rng.uniform(size=40)[clusters]).astype(float)
    b = np.zeros(400)
    alone, together = compare(table(a), table(b)), compare(table(a, clusters=clusters), table(b, clusters=clusters))
    assert together.difference.n_clusters == 40
    assert together.difference.method == "paired, Student's t, clustered"
    width = [made.difference.high - made.difference.low for made in (alone, together)]
    assert width[1] > 1.5 * width[0]
    assert together.detectable > alone.detectable


def test_few_units_are_permuted_and_five_cannot_say():
    a = np.array([0.9, 0.8, 0.7, 0.9, 0.8])
    made = compare(table(a), table(a - np.array([0.3, 0.2, 0.1, 0.3, 0.2])))
    assert made.p == 2 / 2**5
    assert better(made) == ""
    assert made.difference.low <= 0
    six = np.append(a, 0.85)
    again = compare(table(six), table(six - np.array([0.3, 0.2, 0.1, 0.3, 0.2, 0.4])))
    assert better(again) == "a"
    assert (again.difference.low, again.difference.high) == pytest.approx((0.1, 0.4))


def test_all_alike_is_not_certain():
    items = np.repeat(np.arange(40), 3)
    alike = table(np.tile([1.0, 0.0, 1.0], 40), items=items)
    made = compare(alike, alike)
    assert (made.difference.low, made.difference.high) == tango(0, 0, 40)
    assert better(made) == ""
    near = compare(table(np.linspace(0.4, 0.9, 8)), table(np.linspace(0.4, 0.9, 8) - 0.3))
    assert (near.difference.low, better(near)) == (None, "")
    for n in (3, 50_000):
        real = compare(table(np.full(n, 7.0), MEAN), table(np.full(n, 6.0), MEAN))
        assert (real.difference.value, real.difference.low, better(real)) == (1.0, None, "")


def test_a_group_of_one_item_leaves_a_macro_difference_without_an_interval():
    a, b = np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    made = compare(table(a), table(b), levels=[np.array([0, 1, 2])])
    assert (made.difference.value, made.difference.low, made.p) == (0.0, None, None)
    assert made.difference.method == "none: a group has one unit, or none of them spreads"


def test_ratios_are_bootstrapped_in_pairs():
    rng = np.random.default_rng(4)
    easy = rng.integers(0, 3, (80, 3)).astype(float)
    a, b = easy + np.array([1.0, 0.0, 0.0]), easy
    made = compare(table(a, MICRO_F1), table(b, MICRO_F1))
    assert made.difference.value == pytest.approx(estimate(a, MICRO_F1).value - estimate(b, MICRO_F1).value)
    assert better(made) == "a"
    unpaired = compare_unpaired(estimate(a, MICRO_F1), estimate(b, MICRO_F1))
    assert made.difference.high - made.difference.low < 0.7 * (unpaired.difference.high - unpaired.difference.low)
    same = compare(table(a, MICRO_F1), table(a, MICRO_F1))
    assert (same.p, same.difference.value, same.difference.low) == (None, 0.0, None)


def test_macro_differences_count_groups_alike():
    rng = np.random.default_rng(5)
    groups = np.repeat([0, 1], [300, 60])
    a = np.where(groups == 0, 1.0, rng.uniform(size=360) < 0.5)
    b = np.where(groups == 0, rng.uniform(size=360) < 0.8, rng.uniform(size=360) < 0.9)
    pooled, macro = compare(table(a), table(b)), compare(table(a), table(b), levels=[groups])
    assert pooled.difference.value > 0 > macro.difference.value
    assert macro.difference.method == "paired, Student's t, stratified"
    of = np.column_stack((a, np.ones(360))), np.column_stack((b, np.ones(360)))
    ratio = compare(table(of[0], RATE), table(of[1], RATE), levels=[groups])
    assert ratio.difference.value == pytest.approx(macro.difference.value)
    assert ratio.difference.low == pytest.approx(macro.difference.low, abs=0.02)


def test_only_items_measured_for_both_are_paired_and_bounds_hold_the_rest():
    nan = math.nan
    a, b = np.array([1, 1, 0, nan, 1.0]), np.array([0, 1, nan, 0, 1.0])
    made = compare(table(a), table(b))
    assert (made.difference.n_items, made.difference.n_missing) == (3, 2)
    assert made.difference.bounds == pytest.approx((0.0, 0.4))
    assert compare(table(a[:2]), table(b[:2])).difference.bounds is None
    nothing = compare(table([nan, 1]), table([1, nan]))
    assert nothing.difference.value is None
    assert better(nothing) == ""
    lacking = compare(table(a), table(b), levels=[np.array([0, 0, 0, 1, 0])])
    assert lacking.difference.method == "none: a group has no item that is measured for both"


cells = st.sampled_from((0.0, 1.0, 0.5, math.nan))


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=40), st.data())
def test_properties(pairs, data):
    """Swapping the subjects mirrors everything, order does not matter, every record is storable."""
    a, b = np.array(pairs, dtype=float).T
    order = np.array(data.draw(st.permutations(range(len(a)))))
    clusters = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(a), max_size=len(a))))
    for labels in (None, clusters):
        made = compare(table(a, clusters=labels), table(b, clusters=labels))
        turned = compare(table(b, clusters=labels), table(a, clusters=labels))
        assert canonical(made)
        found, mirror = made.difference, turned.difference
        if found.value is None:
            continue
        assert mirror.value == pytest.approx(-found.value)
        assert turned.p == (None if made.p is None else pytest.approx(made.p, abs=0.02))
        assert found.low is None or -1 <= found.low <= found.value + 1e-9
        assert found.high is None or found.value - 1e-9 <= found.high <= 1
        if labels is None:
            moved = compare(table(a[order]), table(b[order]))
            assert moved.difference.value == pytest.approx(found.value)


def test_unpaired_is_newcombes():
    for c_a, n_a, c_b, n_b in ((56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 0, 20), (0, 30, 0, 30)):
        a, b = (estimate(np.r_[np.ones(c), np.zeros(n - c)], ACCURACY) for c, n in ((c_a, n_a), (c_b, n_b)))
        theirs = confint_proportions_2indep(c_a, n_a, c_b, n_b, method="newcomb")
        made = compare_unpaired(a, b, names=("A", "B"))
        assert (made.difference.low, made.difference.high) == pytest.approx(theirs, abs=1e-10)
        assert (made.p < 0.05) == (better(made) != "")
        assert not made.paired


def test_an_imported_share_gets_its_interval_from_its_count():
    imported = Estimate("accuracy", 0.8, None, None, 0.95, "imported", 70, 70)
    made = compare_unpaired(imported, Estimate("accuracy", 0.6, None, None, 0.95, "imported", 80, 80))
    assert made.difference.low == pytest.approx(confint_proportions_2indep(56, 70, 48, 80, method="newcomb")[0])
    unknown = compare_unpaired(imported, Estimate("accuracy", 0.6, None, None, 0.95, "imported", 0, 0))
    assert (unknown.difference.value, unknown.difference.low, better(unknown)) == (pytest.approx(0.2), None, "")
    with pytest.raises(InputError, match="not one scale"):
        compare_unpaired(imported, Estimate("accuracy", 61.0, None, None, 0.95, "imported", 9, 9, unit="points"))


def test_three_points_at_gpqa_size_are_noise_when_unpaired():
    a, b = (Estimate("accuracy", v, None, None, 0.95, "imported", 448, 448) for v in (0.565, 0.535))
    made = compare_unpaired(a, b)
    assert better(made) == ""
    assert abs(stats.norm.ppf(made.p / 2)) == pytest.approx(0.90, abs=0.01)
    assert made.detectable == pytest.approx(0.093, abs=0.001)


@pytest.mark.parametrize(
    "call",
    [
        lambda: compare(table([1, 0]), table([1, 0, 1])),
        lambda: compare(table([1, 0]), table([1, 0], MEAN)),
        lambda: compare(table([1, 0]), table([1, 0]), levels=[np.zeros(3, dtype=int)]),
        lambda: compare(table([1, 0], clusters=np.zeros(2, dtype=int)), table([1, 0])),
    ],
)
def test_tables_that_do_not_match_are_refused(call):
    with pytest.raises(InputError, match=r"\w+ \w+"):
        call()


@simulated(80, 300)
def test_paired_t_and_bootstrap_cover(runs):
    rng, held = np.random.default_rng(6), [0, 0]
    for _ in range(runs):
        skill = rng.uniform(size=60)
        a, b = (rng.binomial(5, np.clip(skill + shift, 0, 1)) / 5 for shift in (0.1, 0.0))
        truth = 0.095  # the mean of min(1, skill + 0.1) - skill
        ratio = [np.column_stack((x, np.ones(60))) for x in (a, b)]
        found = compare(table(a), table(b)).difference, compare(table(ratio[0], RATE), table(ratio[1], RATE)).difference
        held = [count + (one.low <= truth <= one.high) for count, one in zip(held, found, strict=True)]
    assert all(explained(count, runs, 0.93, 0.97) for count in held), held
