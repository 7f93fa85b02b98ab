"""Decision rules: how they are read, and how each one comes out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.stats.intervals import clopper_pearson
from measurand.stats.sequential import rate_at
from measurand.study import rules as forms
from measurand.study.guarding import guarded, guarded_always
from measurand.study.judging import check_rules, judge, narrowest_pass
from measurand.study.rules import FORMS, NotWorse, Quantity, Threshold, WorstSlice, parse
from tests.study.world import evidence, many, result, shares, table


def judged(rule: str, *results, **study):
    (made,) = judge(evidence(results, rules=(rule,), **study))
    return made


def test_every_form_that_an_error_shows_can_be_read():
    assert {type(parse(form)) for form in FORMS} == {
        forms.Threshold,
        forms.WorstSlice,
        forms.NoneBehind,
        forms.NotWorse,
        forms.Better,
        forms.Quantity,
    }


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("accuracy on loan_support >= 0.80", Threshold("accuracy", "loan_support", ">=", 0.8)),
        ("accuracy on a:b ≥ 80%", Threshold("accuracy", "a:b", ">=", 0.8)),
        ("accuracy  on x is at least 80 percent", Threshold("accuracy", "x", ">=", 0.8)),
        ("f1 < 0.5", Threshold("f1", "", "<", 0.5)),
        ("score on x where kind is late payment >= 0.5", Threshold("score", "x", ">=", 0.5, "kind", "late payment")),
        ("worst slice of language*kind >= 70 points", WorstSlice("language*kind", "", ">=", 0.7)),
        ("not worse than the present model by more than 2 points", NotWorse("", 0.02, "")),
        ("Not worse than my model by more than 0.5 points on x", NotWorse("my model", 0.005, "x")),
        ("p99 latency on x <= 300 ms", Quantity("latency", "p99", "<=", 0.3, "x")),
        ("median latency <= 1.5 seconds", Quantity("latency", "median", "<=", 1.5)),
        ("cost per 1000 <= $2", Quantity("cost", "mean", "<=", 2.0)),
        ("missing <= 5 %", Quantity("missing", "share", "<=", 0.05)),
    ],
)
def test_rules_are_read_as_people_write_them(text, read):
    assert parse(text) == read


@pytest.mark.parametrize(
    "text", ["", "accuracy", "accuracy >=", "accurate please", "p95 latency soon", "x >= -3", "a >= 0.8 >= 0.7"]
)
def test_what_cannot_be_read_is_told_in_one_sentence_with_the_forms(text):
    with pytest.raises(InputError, match=r"Rules have these forms: accuracy on loan_support >= 0\.80"):
        parse(text)


def test_the_nearest_form_is_suggested():
    with pytest.raises(InputError, match="did you mean a rule like 'worst slice of language"):
        parse("worst slice of language on loans above 0.70")


@pytest.mark.parametrize(
    ("right", "verdict"),
    [(100, "pass"), (90, "pass"), (86, "undecided"), (80, "undecided"), (72, "undecided"), (70, "fail"), (0, "fail")],
)
def test_a_threshold_is_decided_by_the_whole_interval(right, verdict):
    made = judged("accuracy on x >= 0.80", result("m", "x", shares((right, 100))))
    assert made.verdict == verdict
    low, high = clopper_pearson(right, 100)
    assert (made.estimate.low, made.estimate.high) == (low, high)
    assert (verdict == "pass") == (low >= 0.8)
    assert (verdict == "fail") == (high < 0.8)


def test_an_undecided_rule_says_how_many_further_items_would_decide():
    near, far = (judged("accuracy on x >= 0.80", result("m", "x", shares((right, 100)))) for right in (83, 86))
    assert near.needs > far.needs > 0
    exact = judged("accuracy on x >= 0.80", result("m", "x", shares((80, 100))))
    assert exact.needs is None, "at the threshold itself no number of items decides"


def test_with_the_items_that_it_needs_the_rule_is_decided():
    made = judged("accuracy on x >= 0.80", result("m", "x", shares((86, 100))))
    n = 100 + made.needs
    rng = np.random.default_rng(3)
    draws = rng.binomial(made.needs, 0.86, 2000) + 86
    decided = np.mean([clopper_pearson(int(k), n)[0] >= 0.8 for k in draws])
    assert 0.76 <= decided <= 0.9, "four times in five, as it says"


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.data())
def test_missing_trials_can_only_take_a_verdict_away(n, data):
    right = data.draw(st.integers(0, n))
    gone = data.draw(st.integers(0, 10))
    whole = guarded(table(shares((right, n))).metrics["accuracy"])
    holes = guarded(table([*shares((right, n)), *([None] * gone)]).metrics["accuracy"])
    low = clopper_pearson(right, n + gone)[0]
    high = clopper_pearson(right + gone, n + gone)[1]
    assert (holes.low, holes.high) == (low, high)
    assert holes.low <= whole.low + 1e-12
    assert holes.high >= whole.high - 1e-12


def test_ten_percent_missing_keeps_a_rule_from_passing():
    assert judged("accuracy on x >= 0.80", result("m", "x", shares((180, 200)))).verdict == "pass"
    holed = [*shares((162, 180)), *([None] * 20)]
    made = judged("accuracy on x >= 0.80", result("m", "x", holed))
    assert made.verdict == "undecided"
    assert "20 missing items" in made.estimate.method


def test_the_false_pass_rate_of_a_threshold_is_at_most_half_of_five_percent():
    rng = np.random.default_rng(0)
    for n in (10, 50, 200):
        right = rng.binomial(n, 0.7999, 20_000)
        passes = {k: clopper_pearson(k, n)[0] >= 0.8 for k in set(right.tolist())}
        assert np.mean([passes[k] for k in right.tolist()]) <= 0.025 + 0.003


def test_the_worst_slice_decides_and_is_named():
    kinds = ["emi"] * 100 + ["list"] * 100
    good = result("m", "x", shares((95, 100), (97, 100)), slices={"kind": kinds})
    bad = result("m", "x", shares((40, 100), (97, 100)), slices={"kind": kinds})
    assert judged("worst slice of kind on x >= 0.80", good).verdict == "pass"
    made = judged("worst slice of kind on x >= 0.80", bad)
    assert made.verdict == "fail"
    assert "emi" in made.because
    assert made.estimate.n_items == 100


def test_many_slices_make_a_fail_harder_but_no_pass_easier():
    """Of equal slices, one looks bad by luck: it fails only beyond what looking at all of them explains."""
    rng = np.random.default_rng(5)
    failed = 0
    for _ in range(60):
        values = rng.binomial(1, 0.82, 400).astype(float).tolist()
        labels = [f"s{at % 20}" for at in range(400)]
        failed += (
            judged("worst slice of kind on x >= 0.80", result("m", "x", values, slices={"kind": labels})).verdict
            == "fail"
        )
    assert failed <= 4, "5 % of 60, and binomial luck"


def test_crossed_and_derived_slices_can_be_ruled_on():
    values = shares((30, 30), (30, 30), (10, 30))
    slices = {"kind": ["a"] * 60 + ["b"] * 30, "language": (["en"] * 30 + ["hi"] * 30) + ["hi"] * 30}
    one = result("m", "x", values, slices=slices)
    made = judged("worst slice of language*kind on x >= 0.80", one)
    assert made.verdict == "fail"
    assert "hi * b" in made.because
    long = result("m", "x", shares((50, 50), (5, 50)), texts=["short"] * 50 + ["long " * 200] * 50)
    assert "long" in judged("worst slice of length on x >= 0.80", long).because


def test_no_slice_behind_a_reference():
    slices = {"language": ["en"] * 150 + ["hi"] * 150}
    far = result("m", "x", shares((140, 150), (90, 150)), slices=slices)
    near = result("m", "x", shares((140, 150), (141, 150)), slices=slices)
    rule = "no slice of language more than 10 points behind en on x"
    assert judged(rule, far).verdict == "fail"
    assert judged(rule, near).verdict == "pass"
    assert "hi is 33.3 points behind en" in judged(rule, far).because


def test_not_worse_is_paired_and_needs_its_margin():
    base = many(400, 0.7)
    same = result("old", "x", base)
    flipped = list(base)
    for at in [i for i, value in enumerate(base) if value == 1.0][:4]:
        flipped[at] = 0.0
    rule = "not worse than the present model by more than 3 points on x"
    close = judged(rule, result("new", "x", flipped), same, present="old")
    assert (close.subject, close.verdict) == ("new", "pass"), "the present one is not judged against itself"
    worse = judged(rule, result("new", "x", many(400, 0.5, seed=1)), same, present="old")
    assert worse.verdict == "fail"
    shuffled = judged("not worse than old by more than 3 points on x", result("new", "x", many(400, 0.7, seed=2)), same)
    assert shuffled.verdict == "undecided"
    assert shuffled.needs > 0 or shuffled.needs is None


def test_two_protocols_are_not_held_against_each_other():
    other = result("old", "x", many(50, 0.7), score_truncated=True)
    made = judged("better than old on x", result("new", "x", many(50, 0.9)), other)
    assert made.verdict == "undecided"
    assert "scoring.score_truncated" in made.because


def test_latency_and_cost_carry_their_intervals():
    one = result("m", "x", many(200, 0.9))
    fast = judged("p95 latency on x <= 3 s", one)
    assert (fast.verdict, fast.estimate.value, fast.estimate.unit) == ("pass", 0.5, "s")
    assert judged("p95 latency on x <= 400 ms", one).verdict == "fail"
    assert judged("cost per 1,000 on x <= 2 USD", one).verdict == "pass"
    few = judged("p95 latency on x <= 3 s", result("m", "x", many(40, 0.9)))
    assert (few.verdict, few.needs) == ("undecided", 32), "the 95th percentile has an upper end from 72 values on"


def test_missing_is_counted():
    one = result("m", "x", [*shares((80, 90)), *([None] * 10)])
    assert judged("missing on x <= 5 %", one).verdict == "fail"
    assert judged("missing on x <= 10 %", one).verdict == "pass"


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("accuracy on y >= 0.8", "no scenario 'y'"),
        ("accuracy on x >= 80", "write 0.8 or 80 %"),
        ("accurracy on x >= 0.8", "the scenario has accuracy"),
        ("not worse than the present model by more than 2 points", "needs present ="),
        ("better than nobody on x", "'nobody', which is no subject"),
    ],
)
def test_rules_that_nothing_could_decide_are_refused_before_anything_is_paid(rule, complaint):
    with pytest.raises(InputError, match=complaint):
        check_rules(evidence([result("m", "x", [1.0, 0.0])], rules=(rule,)))


def test_the_narrowest_pass_is_found():
    kinds = {"kind": ["a"] * 100 + ["b"] * 100}
    rules = ("accuracy on x >= 0.80", "accuracy on x where kind is b >= 0.80")
    made = judge(evidence([result("m", "x", shares((99, 100), (91, 100)), slices=kinds)], rules=rules))
    assert [one.verdict for one in made] == ["pass", "pass"]
    assert narrowest_pass(made, "m") is made[1]


def test_what_was_not_measured_is_undecided_with_its_reason():
    made = judge(
        evidence(
            [result("m", "x", [1.0])], rules=("accuracy on x where kind is z >= 0.5", "worst slice of kind >= 0.1")
        )
    )
    assert [one.verdict for one in made] == ["undecided", "undecided"]
    assert "no item" in made[0].because


def test_a_sequential_study_keeps_its_error_over_ten_looks():
    """At the threshold itself: an ordinary gate passes it somewhere far more often than 5 %, the sequential one does not."""
    rng = np.random.default_rng(21)
    passed = {"once": 0, "always": 0}
    for _ in range(400):
        right = np.cumsum(rng.random(500) < 0.8)
        looks = [(int(right[n - 1]), n) for n in range(50, 501, 50)]
        passed["once"] += any(clopper_pearson(k, n)[0] >= 0.8 for k, n in looks)
        passed["always"] += any(rate_at(k, n)[0] >= 0.8 for k, n in looks)
    assert passed["always"] / 400 <= 0.05
    assert passed["once"] > 2 * max(1, passed["always"])


def test_a_sequential_rule_uses_the_wider_interval():
    one = result("m", "x", shares((92, 100)))
    once = judged("accuracy on x >= 0.80", one)
    always = judged("accuracy on x >= 0.80", one, sequential=True)
    assert (once.verdict, always.verdict) == ("pass", "pass" if rate_at(92, 100)[0] >= 0.8 else "undecided")
    assert always.estimate.low == pytest.approx(rate_at(92, 100)[0])
    assert always.estimate.high - always.estimate.low > once.estimate.high - once.estimate.low
    assert "every look" in always.estimate.method


def test_values_within_a_range_have_a_sequence_too():
    made = guarded_always(table([0.25, 0.75] * 300).metrics["accuracy"])
    assert made.low < 0.5 < made.high
    holes = guarded_always(table([*([None] * 30), *([0.25, 0.75] * 300)]).metrics["accuracy"])
    assert holes.low < made.low
    assert holes.high > made.high
