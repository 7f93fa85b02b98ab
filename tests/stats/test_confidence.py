import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from measurand.core.errors import InputError
from measurand.stats.confidence import (
    aurc,
    brier,
    brier_of_choices,
    brier_parts,
    confidences,
    ece,
    equal_count,
    equal_mass,
    equal_width,
    gaps,
    hle_calibration_error,
    log_loss,
    maximum_calibration_error,
    risk_coverage,
    rms_calibration_error,
    rms_calibration_error_by_count,
    top_choice,
)
from measurand.stats.estimate import estimate
from measurand.stats.metrics import AURC, BRIER, HLE_CALIBRATION_ERROR, LOG_LOSS, RMS_CALIBRATION_ERROR, find

pairs = st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.integers(0, 1).map(float)), min_size=1).map(
    lambda rows: tuple(np.array(column) for column in zip(*rows, strict=True))
)


def drawn(n, seed=1):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 2, n)
    return confidence, (rng.random(n) < confidence * 0.8).astype(float)


@given(pairs, st.integers(1, 15), st.sampled_from(["uniform", "quantile"]))
def test_the_curve_is_scikit_learns(pair, bins, strategy):
    confidence, correct = pair
    found = gaps(confidence, correct, (equal_width if strategy == "uniform" else equal_mass)(bins))
    if strategy == "quantile":
        ours = (found.correct, found.confidence)
        edges = np.percentile(confidence, np.linspace(0, 100, bins + 1)[1:-1])
        place = np.unique(np.searchsorted(edges, confidence), return_inverse=True)[1]
        theirs = (np.bincount(place, correct) / np.bincount(place), np.bincount(place, confidence) / np.bincount(place))
    else:
        ours, theirs = (found.correct, found.confidence), calibration_curve(correct, confidence, n_bins=bins)
    for one, other in zip(ours, theirs, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_quantile_bins_are_scikit_learns_where_confidences_differ():
    confidence, correct = drawn(300)
    theirs = calibration_curve(correct, confidence, n_bins=7, strategy="quantile")
    found = gaps(confidence, correct, equal_mass(7))
    assert found.correct == pytest.approx(theirs[0], abs=1e-12)
    assert found.confidence == pytest.approx(theirs[1], abs=1e-12)


def test_certainty_falls_into_a_bin_and_bins_weigh_by_their_size():
    """calibration-002 and calibration-006."""
    assert ece(np.ones(2), np.zeros(2)) == 1.0
    assert ece(np.zeros(2), np.ones(2)) == 1.0
    assert ece(np.array([0.9, 0.9, 0.9, 0.1]), np.ones(4)) == pytest.approx(0.3)
    assert maximum_calibration_error(np.array([0.9, 0.9, 0.9, 0.1]), np.ones(4)) == pytest.approx(0.9)


@given(pairs, st.randoms())
def test_order_does_not_matter_and_norms_are_ordered(pair, random):
    order = list(range(len(pair[0])))
    random.shuffle(order)
    again = tuple(column[order] for column in pair)
    for binning in (equal_width(5), equal_mass(4), equal_count(7)):
        assert ece(*again, binning) == pytest.approx(ece(*pair, binning))
        low, middle, high = (
            number(*pair, binning) for number in (ece, rms_calibration_error, maximum_calibration_error)
        )
        assert low <= middle + 1e-12 <= high + 2e-12
    for number in (brier, log_loss, aurc):
        assert number(*again) == pytest.approx(number(*pair))


def test_bins_of_a_count_hold_all_and_fewer_than_the_count_is_one_bin():
    """calibration-007 and calibration-008."""
    confidence, correct = np.array([0.1, 0.2, 0.6, 0.7, 0.9]), np.array([0.0, 0, 1, 1, 0])
    assert ece(confidence, correct, equal_count(2)) == pytest.approx(0.38)
    assert ece(np.array([0.5, 0.7]), np.array([1.0, 0.0]), equal_count(100)) == pytest.approx(0.1)
    assert len(gaps(np.full(300, 0.9), np.ones(300), equal_count(100)).n) == 1


def theirs_of_hle(confidence, correct, size):
    """The published procedure, told again: bins of a size, the last with the rest, and the last left out."""
    order = np.argsort(confidence)
    confidence, correct = confidence[order], correct[order]
    starts = list(range(0, len(order) // size * size, size))
    total = 0.0
    for start in starts[:-1]:
        gap = confidence[start : start + size].mean() - correct[start : start + size].mean()
        total += size / len(order) * gap**2
    return math.sqrt(total)


@pytest.mark.parametrize("n", [200, 299, 350, 2_158])
def test_hles_own_error(n):
    confidence, correct = drawn(n)
    assert hle_calibration_error(confidence, correct) == pytest.approx(
        theirs_of_hle(confidence, correct, 100), abs=1e-12
    )
    assert math.isnan(hle_calibration_error(confidence[:199], correct[:199]))


def test_hles_own_error_forgets_the_most_confident():
    confidence = np.r_[np.full(100, 0.2), np.linspace(0.9, 1, 199)]
    correct = np.r_[np.tile([1.0, 0, 0, 0, 0], 20), np.zeros(199)]
    assert hle_calibration_error(confidence, correct) == pytest.approx(0, abs=1e-12)
    assert rms_calibration_error(confidence, correct, equal_count(100)) > 0.7


@given(pairs)
def test_brier_and_log_loss_are_scikit_learns(pair):
    confidence, correct = pair
    assert brier(*pair) == pytest.approx(brier_score_loss(correct, confidence), abs=1e-12)
    assert log_loss(*pair) == pytest.approx(sklearn_log_loss(correct, confidence, labels=[0, 1]), abs=1e-10)
    rows = np.column_stack((confidence, correct))
    assert estimate(rows, BRIER).value == pytest.approx(brier(*pair))
    assert estimate(rows, LOG_LOSS).value == pytest.approx(log_loss(*pair))


@given(pairs, st.sampled_from([None, equal_width(4)]))
def test_the_parts_of_brier_add_up(pair, binning):
    parts = brier_parts(*pair, binning)
    assert parts.reliability - parts.resolution + parts.uncertainty + parts.within == pytest.approx(brier(*pair))
    if binning is None:
        assert parts.within == pytest.approx(0, abs=1e-12)
    assert min(parts.reliability, parts.resolution, parts.uncertainty) >= 0


def test_risk_and_coverage():
    confidence, correct = np.array([0.9, 0.9, 0.5, 0.3]), np.array([1.0, 0, 1, 0])
    coverage, risk = risk_coverage(confidence, correct)
    assert coverage.tolist() == [0.5, 0.75, 1.0]
    assert risk == pytest.approx([0.5, 1 / 3, 0.5])
    assert aurc(confidence, correct) == pytest.approx(np.mean([0.5, 0.5, 1 / 3, 0.5]))


@given(pairs)
def test_aurc_ends_at_the_error_and_a_constant_confidence_gives_it_everywhere(pair):
    confidence, correct = pair
    _, risk = risk_coverage(confidence, correct)
    assert risk[-1] == pytest.approx(1 - correct.mean())
    assert aurc(np.full(len(correct), 0.5), correct) == pytest.approx(1 - correct.mean())
    best = aurc(correct, correct)
    assert best <= aurc(confidence, correct) + 1e-12


def test_metrics_reweight_the_same_numbers():
    confidence, correct = drawn(250)
    rows = np.column_stack((confidence, correct))
    for metric, number in (
        (AURC, aurc),
        (HLE_CALIBRATION_ERROR, hle_calibration_error),
        (RMS_CALIBRATION_ERROR, rms_calibration_error_by_count),
    ):
        made = estimate(rows, metric)
        assert made.value == pytest.approx(number(confidence, correct))
        assert made.low <= made.value <= made.high
        assert find(f"{metric.name}@1") is metric
        weights = np.random.default_rng(2).multinomial(250, np.full(250, 1 / 250), size=3).astype(float)
        twice = [np.repeat(rows, row.astype(int), axis=0) for row in weights]
        assert metric.over(rows, weights) == pytest.approx([number(some[:, 0], some[:, 1]) for some in twice])


def test_stated_confidence_is_read():
    """calibration-011."""
    read = confidences(["95%", "95", "0.95", "150", None, "-3", "high", " 80 % ", 1, "1", 0.0, "nan", "inf"])
    assert read[:3] == pytest.approx([0.95] * 3)
    assert np.isnan(read[[3, 4, 5, 6, 11, 12]]).all()
    assert read[7:11].tolist() == [0.8, 1.0, 1.0, 0.0]
    assert confidences(["1", "1%", "0.5"], "per cent") == pytest.approx([0.01, 0.01, 0.005])
    assert np.isnan(confidences(["95"], "share")).all()


def test_choices_give_a_confidence_and_briers_original_score():
    rng = np.random.default_rng(3)
    probabilities, gold = rng.dirichlet(np.ones(4), 60), rng.integers(0, 4, 60)
    theirs = brier_score_loss(gold, probabilities, labels=[0, 1, 2, 3], scale_by_half=False)
    assert brier_of_choices(probabilities, gold) == pytest.approx(theirs, abs=1e-12)
    confidence, correct = top_choice(probabilities, gold)
    assert correct.mean() == np.mean(probabilities.argmax(axis=1) == gold)
    assert confidence.tolist() == probabilities.max(axis=1).tolist()
    two = np.column_stack((1 - confidence, confidence))
    assert brier_of_choices(two, correct.astype(int)) == pytest.approx(2 * brier(confidence, correct))
    assert top_choice(np.array([[0.5, 0.5]]), np.array([1]))[1].tolist() == [0.5]


@pytest.mark.parametrize(
    ("probabilities", "gold", "why"),
    [([[0.5, 0.6]], [0], "add up"), ([[0.5, 0.5]], [2], "outside"), ([[0.5, 0.5]], [0, 1], "items by options")],
)
def test_what_are_no_choices_is_refused(probabilities, gold, why):
    for number in (top_choice, brier_of_choices):
        with pytest.raises(InputError, match=why):
            number(np.array(probabilities), np.array(gold))


@pytest.mark.parametrize(
    ("confidence", "correct"), [([1.2], [1.0]), ([0.5], [2.0]), ([math.nan], [1.0]), ([], []), ([0.5], [1.0, 0.0])]
)
def test_what_is_no_confidence_is_refused(confidence, correct):
    with pytest.raises(InputError):
        ece(np.array(confidence), np.array(correct))
