import math

import numpy as np
import pytest

from measurand.core.errors import InputError
from measurand.core.identity import canonical
from measurand.stats.correction import (
    Confusion,
    Graded,
    alike,
    corrected_rate,
    corrected_rates,
    prediction_powered,
    prediction_powered_means,
)
from measurand.stats.samples import measured_effect
from tests.stats.simulated import explained, simulated

GOOD = Confusion(tp=90, fn=10, tn=80, fp=20)


def test_the_rate_is_rogans_and_gladens():
    made = corrected_rate(520, 1000, GOOD)
    assert made.value == pytest.approx((0.52 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert made.low < made.value < made.high
    assert canonical(made)
    assert corrected_rate(520, 1000, Confusion(100, 0, 100, 0)).value == 0.52


def test_it_stays_within_0_and_1():
    assert corrected_rate(10, 100, GOOD).value == 0.0
    assert corrected_rate(99, 100, GOOD).value == 1.0


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (Confusion(50, 50, 55, 45), "is 1.05, at most 1.05"),
        (Confusion(10, 90, 50, 50), "is 0.60"),
        (Confusion(0, 0, 5, 5), "no yes"),
        (Confusion(5, 5, 0, 0), "no no"),
    ],
)
def test_a_judge_that_cannot_tell_cannot_be_corrected(judge, why):
    made = corrected_rate(50, 100, judge)
    assert (made.value, made.low, made.high) == (None, None, None)
    assert made.method.startswith("cannot be corrected: ")
    assert why in made.method
    assert corrected_rate(50, 100, Confusion(506, 494, 545, 455)).value is not None


def test_impossible_counts_are_refused():
    with pytest.raises(InputError, match="not counts"):
        corrected_rate(5, 4, GOOD)
    with pytest.raises(InputError, match="not counts"):
        corrected_rate(1, 4, Confusion(-1, 1, 1, 1))
    with pytest.raises(InputError, match=r"design effect of 0.5"):
        corrected_rate(1, 4, GOOD, design=0.5)


def judged_by(rng, truth, sensitivity, specificity, n, labels):
    seen = truth * sensitivity + (1 - truth) * (1 - specificity)
    tp, tn = rng.binomial(labels, sensitivity), rng.binomial(labels, specificity)
    return rng.binomial(n, seen), n, Confusion(tp, labels - tp, tn, labels - tn)


@pytest.mark.parametrize("truth", [0.1, 0.6, 0.9])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.9, 0.8), (0.98, 0.95), (0.75, 0.7)])
@pytest.mark.parametrize("labels", [25, 100])
@simulated(100, 400)
def test_the_intervals_cover(truth, sensitivity, specificity, labels, runs):
    rng, held, delta, useless = np.random.default_rng(labels), 0, 0, 0
    for _ in range(runs):
        case = judged_by(rng, truth, sensitivity, specificity, 400, labels)
        made, other = corrected_rate(*case), corrected_rate(*case, by="delta")
        if made.low is None:  # a sample of labels that makes this judge look useless: about one in a hundred at most
            useless += 1
            continue
        held += made.low <= truth <= made.high
        delta += other.low <= truth <= other.high
    assert explained(held, runs - useless, 0.93, 0.98)
    assert explained(delta, runs - useless, 0.93, 1.0)
    assert explained(useless, runs, 0.0, 0.015)


def test_an_uncorrected_interval_does_not_cover():
    rng, held = np.random.default_rng(1), 0
    for _ in range(200):
        positive, n, _ = judged_by(rng, 0.3, 0.9, 0.8, 400, 100)
        held += abs(positive / n - 0.3) < 1.96 * math.sqrt(positive / n * (1 - positive / n) / n)
    assert held < 20


def test_a_pooled_correction_favours_the_subject_that_the_judge_favours():
    """Both subjects are right half of the time; the judge waves through a third of A's wrong answers."""
    judged = {"A": Confusion(95, 5, 67, 33), "B": Confusion(95, 5, 95, 5)}
    verdicts = {"A": (640, 1000), "B": (500, 1000)}
    own, pooled = corrected_rates(verdicts, judged), corrected_rates(verdicts, judged, pooled=True)
    assert own["A"].value == pytest.approx(0.5, abs=0.01)
    assert own["B"].value == pytest.approx(0.5, abs=0.01)
    assert pooled["A"].value - pooled["B"].value > 0.15
    assert alike(judged) < 1e-4
    assert "labels of its own" in own["A"].method
    assert "labels of all subjects" in pooled["A"].method
    with pytest.raises(InputError, match="no labels of people for C"):
        corrected_rates({"C": (1, 2)}, judged)


@simulated(150, 600)
def test_alike_keeps_its_level(runs):
    rng, alarms = np.random.default_rng(2), 0
    for _ in range(runs):
        judged = {}
        for name in "ABC":
            tp, tn = rng.binomial(80, 0.85), rng.binomial(80, 0.75)
            judged[name] = Confusion(tp, 80 - tp, tn, 80 - tn)
        alarms += alike(judged) < 0.05
    assert explained(alarms, runs, 0.03, 0.07), alarms
    assert math.isnan(alike({"A": GOOD}))
    assert alike({"A": Confusion(9, 0, 9, 0), "B": Confusion(9, 0, 9, 0)}) == 1.0


def drawn(rng, n, others, skill):
    """People's grades, and a judge that adds noise and kindness."""
    truth = rng.beta(2, 2, n + others)
    judge = skill * truth + (1 - skill) * rng.beta(2, 2, n + others) + 0.2
    return truth[:n], judge[:n], judge[n:]


@pytest.mark.parametrize("skill", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("tuned", [True, False])
@pytest.mark.parametrize(("n", "others"), [(30, 300), (200, 2_000)])
@simulated(120, 600)
def test_prediction_powered_means_cover(skill, tuned, n, others, runs):
    rng, held = np.random.default_rng(3), 0
    for _ in range(runs):
        made = prediction_powered(*drawn(rng, n, others, skill), tuned=tuned)
        held += made.low <= 0.5 <= made.high
    assert explained(held, runs, 0.94, 0.965), held


@pytest.mark.parametrize("right", [0.8, 0.95])
@simulated(120, 1_000)
def test_prediction_powered_rates_cover_from_a_hundred_labels(right, runs):
    """docs/statistics.md."""
    rng, held = np.random.default_rng(7), 0
    for _ in range(runs):
        people = (rng.random(1_600) < 0.7).astype(float)
        judge = np.where(rng.random(1_600) < right, people, 1 - people)
        made = prediction_powered(people[:100], judge[:100], judge[100:])
        held += made.low is not None and made.low <= 0.7 <= made.high
    assert explained(held, runs, 0.93, 0.96), held


def test_a_good_judge_narrows_the_interval_and_a_useless_one_costs_nothing():
    rng = np.random.default_rng(4)
    widths = {}
    for skill in (0.0, 0.9):
        labels, judged, others = drawn(rng, 200, 5_000, skill)
        alone = 2 * 1.972 * labels.std(ddof=1) / math.sqrt(200)
        made = prediction_powered(labels, judged, others)
        widths[skill] = (made.high - made.low) / alone
    assert widths[0.9] < 0.5
    assert widths[0.0] < 1.01


def test_a_constant_judge_is_ignored_and_two_labels_are_the_least():
    labels = np.array([1.0, 0.0, 1.0, 1.0])
    made = prediction_powered(labels, np.ones(4), np.ones(50))
    assert made.value == 0.75
    assert made.unit == ""
    one = prediction_powered(labels[:1], labels[:1], labels)
    assert (one.value, one.method) == (
        None,
        "cannot be corrected: people labelled 1 of the answers, and two are the least",
    )
    with pytest.raises(InputError, match="same items"):
        prediction_powered(labels, labels[:2], labels)


def test_the_same_on_every_label_is_not_certainty():
    labels = np.ones(12)
    made = prediction_powered(labels, labels, np.r_[np.ones(40), np.zeros(10)])
    assert (made.low, made.high) == (None, None)
    assert made.method == "none: nothing spreads between the judge and people on the 12 labelled answers"


def test_each_subject_is_corrected_by_labels_of_its_own():
    """Both are as good; the judge likes A. What it says alone puts A ahead, its correction does not."""
    rng = np.random.default_rng(5)
    graded = {}
    for name, kindness in (("A", 0.3), ("B", 0.0)):
        labels, judged, others = drawn(rng, 150, 3_000, 0.9)
        graded[name] = Graded(labels, judged + kindness, others + kindness)
    assert graded["A"].unlabelled.mean() - graded["B"].unlabelled.mean() > 0.25
    made = prediction_powered_means(graded)
    for name, one in graded.items():
        assert made[name] == prediction_powered(one.labels, one.judged, one.unlabelled)
        assert made[name].low <= 0.5 <= made[name].high
    nobody = Graded(np.zeros(0), np.zeros(0), np.ones(9))
    everything = Graded(np.array([0.2, 0.4, 0.9]), np.zeros(3), np.zeros(0))
    odd = prediction_powered_means({"C": nobody, "D": everything})
    assert odd["C"].method == "cannot be corrected: people labelled 0 of the answers, and two are the least"
    assert odd["D"].value == pytest.approx(0.5)
    assert odd["D"].n_items == 3


@simulated(150, 400)
def test_answers_in_clusters_are_divided_by_their_design_effect(runs):
    """Ten answers of each of 60 conversations, all alike in half of them: without the effect the interval is too sure."""
    rng, held, bare = np.random.default_rng(6), 0, 0
    clusters = np.repeat(np.arange(60), 10)
    judge = Confusion(950, 50, 900, 100)
    truth = 0.6
    for _ in range(runs):
        shared = np.repeat(rng.random(60) < 0.5, 10)
        luck = np.where(shared, np.repeat(rng.random(60), 10), rng.random(600))
        verdicts = (luck < truth * 0.95 + (1 - truth) * 0.1).astype(float)
        effect = measured_effect(verdicts, clusters)
        wide, narrow = (corrected_rate(int(verdicts.sum()), 600, judge, design=d) for d in (effect, 1.0))
        held += wide.low <= truth <= wide.high
        bare += narrow.low <= truth <= narrow.high
    assert explained(held, runs, 0.93, 0.98), held
    assert bare / runs < 0.8
    assert "divided by a design effect of" in wide.method
