import math
from functools import cache

import numpy as np
import pytest

from measurand.core.identity import canonical
from measurand.stats.bootstrap import bootstrap, percentiles
from measurand.stats.calibration import (
    DEBIASED,
    calibration_errors,
    floor,
    reliability_curve,
    rms_estimate,
    selective_accuracy,
)
from measurand.stats.confidence import aurc, ece, equal_mass, equal_width, rms_calibration_error
from measurand.stats.intervals import wilson
from measurand.stats.metrics import AURC
from measurand.stats.samples import measured_effect
from tests.stats.simulated import explained, simulated

TRUTHS = {
    "calibrated": lambda c: c,
    "slightly overconfident": lambda c: 0.9 * c,
    "overconfident": lambda c: 0.6 * c,
    "wrong in one bin": lambda c: np.where((c > 0.6) & (c <= 0.7), c - 0.3, c),
}


def drawn(n, rng, truth=TRUTHS["overconfident"]):
    confidence = rng.beta(4, 2, n)
    return confidence, (rng.random(n) < truth(confidence)).astype(float)


@cache
def true_rms(truth):
    confidence = np.random.default_rng(9).beta(4, 2, 400_000)
    return rms_calibration_error(confidence, truth(confidence))


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("n", [50, 200, 1_000])
@simulated(120, 600)
def test_the_interval_of_the_rms_error_covers(name, n, runs):
    rng, truth = np.random.default_rng(n), TRUTHS[name]
    right, held = true_rms(truth), 0
    for _ in range(runs):
        made = rms_estimate(*drawn(n, rng, truth))
        held += made.low <= right <= made.high
    assert explained(held, runs, 0.935, 0.99), held


def test_the_ece_of_few_items_is_biased_and_the_floor_says_by_how_much():
    rng = np.random.default_rng(1)
    shown = [ece(*drawn(100, rng, TRUTHS["calibrated"])) for _ in range(300)]
    under = floor(*drawn(100, rng, TRUTHS["calibrated"]))
    assert np.mean(shown) == pytest.approx(under.mean, abs=0.015)
    assert under.mean > 0.07
    debiased = [rms_estimate(*drawn(100, rng, TRUTHS["calibrated"])).value for _ in range(300)]
    assert np.mean(np.square(debiased)) < 0.4 * np.mean(np.square(shown))


@simulated(60, 400)
def test_the_test_of_calibration_keeps_its_level_and_finds_what_is_there(runs):
    rng = np.random.default_rng(2)
    alarms = [floor(*drawn(80, rng, TRUTHS["calibrated"]), equal_mass(5), seed=n).p <= 0.05 for n in range(runs)]
    assert explained(sum(alarms), runs, 0.03, 0.06), sum(alarms)
    assert floor(*drawn(200, rng)).p < 0.01


def test_the_curve_has_wilsons_intervals_and_counts():
    confidence, correct = drawn(400, np.random.default_rng(3))
    curve = reliability_curve(confidence, correct, equal_width(5))
    assert sum(one.correct.n_items for one in curve) == 400
    last = curve[-1].correct
    assert (last.low, last.high) == pytest.approx(wilson(last.value, last.n_items))
    assert [one.confidence for one in curve] == sorted(one.confidence for one in curve)


def test_errors_come_as_records_with_what_is_missing():
    confidence, correct = drawn(300, np.random.default_rng(4))
    confidence[:7], correct[290:] = math.nan, math.nan
    made = {one.metric: one for one in calibration_errors(confidence, correct)}
    assert list(made) == ["ece", DEBIASED, "brier", "log_loss"]
    assert all((one.n_items, one.n_missing) == (283, 17) for one in made.values())
    assert all(canonical(one) for one in made.values())
    assert made["ece"].low is None
    assert "perfect calibration would show 0.0" in made["ece"].method
    assert made["brier"].low < made["brier"].value < made["brier"].high
    assert (made["brier"].unit, made["log_loss"].unit) == ("score", "nats")
    assert made[DEBIASED].low > 0.1


@pytest.mark.parametrize("values", [np.array([]), np.full(3, math.nan)])
def test_nothing_measured_is_no_number(values):
    made = calibration_errors(values, values)
    assert [one.value for one in made] == [None] * 4
    assert reliability_curve(values, values) == ()
    assert selective_accuracy(values, values, 0.5).value is None


def test_all_right_and_certain_is_not_certainty():
    made = rms_estimate(np.ones(40), np.ones(40))
    assert (made.value, made.low) == (0.0, 0.0)
    assert made.high > 0.01


def test_selective_accuracy_takes_ties_whole():
    confidence, correct = np.array([0.9, 0.8, 0.8, 0.1]), np.array([1.0, 1, 0, 0])
    made = selective_accuracy(confidence, correct, 0.5)
    assert (made.n_items, made.value) == (3, pytest.approx(2 / 3))
    assert selective_accuracy(confidence, correct, 0.25).value == 1.0
    assert selective_accuracy(confidence, correct, 1.0).value == 0.5


@simulated(50, 300)
def test_the_interval_of_the_aurc_covers(runs):
    rng = np.random.default_rng(5)
    truth = aurc(*drawn(100_000, np.random.default_rng(6)))
    held = 0
    for _ in range(runs):
        low, high = percentiles(bootstrap(AURC.over, np.column_stack(drawn(200, rng)), draws=300))
        held += low <= truth <= high
    assert explained(held, runs, 0.92, 0.97), held


def clustered(rng, truth):
    """Eight answers of each of 50 users, as likely right as in `drawn`; half of the users are lucky in all or none."""
    confidence = rng.beta(4, 2, 400)
    luck = np.where(np.repeat(rng.random(50) < 0.5, 8), np.repeat(rng.random(50), 8), rng.random(400))
    return confidence, (luck < truth(confidence)).astype(float), np.repeat(np.arange(50), 8)


@pytest.mark.parametrize("name", ["calibrated", "overconfident"])
@simulated(120, 400)
def test_clusters_widen_what_chance_explains(name, runs):
    rng, truth = np.random.default_rng(7), TRUTHS[name]
    right, held, bare, alarms = true_rms(truth), 0, 0, 0
    for _ in range(runs):
        confidence, correct, clusters = clustered(rng, truth)
        design = measured_effect(correct - confidence, clusters)
        made = [rms_estimate(confidence, correct, design=effect) for effect in (design, 1.0)]
        held += made[0].low <= right <= made[0].high
        bare += made[1].low <= right <= made[1].high
        alarms += made[0].low > 0
    assert explained(held, runs, 0.925, 1.0), held
    assert bare < held - 0.05 * runs
    if name == "calibrated":
        assert explained(alarms, runs, 0.0, 0.05), alarms


def test_the_errors_take_clusters_and_say_so():
    confidence, correct, clusters = clustered(np.random.default_rng(8), TRUTHS["calibrated"])
    confidence[0] = math.nan
    plain = {one.metric: one for one in calibration_errors(confidence, correct)}
    made = {one.metric: one for one in calibration_errors(confidence, correct, clusters=clusters)}
    assert all(made[name].value == one.value for name, one in plain.items() if name != DEBIASED)
    assert made[DEBIASED].value < plain[DEBIASED].value
    assert made["brier"].n_clusters == 50
    assert made["brier"].high - made["brier"].low > 1.2 * (plain["brier"].high - plain["brier"].low)
    assert all("by a design effect of" in made[name].method for name in ("ece", DEBIASED))
    curve = reliability_curve(confidence, correct, equal_width(2), clusters=clusters)
    assert curve[-1].correct.n_clusters == 50
    assert selective_accuracy(confidence, correct, 0.9, clusters=clusters).n_clusters == 50
