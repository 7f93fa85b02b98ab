"""Calibration error: against a plain loop, by its weights, and zero where confidence is the share that is right."""

import math

import numpy as np
import pytest

from measurand.stats.calibration import BIN, rms_calibration
from measurand.stats.metrics import RMS_CALIBRATION_ERROR, find


def by_hand(rows: np.ndarray) -> float:
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    edges = [(i * BIN, (i + 1) * BIN) for i in range(max(1, len(rows) // BIN))]
    edges[-1] = (edges[-1][0], len(rows))
    parts = [(len(b := rows[i:j]) / len(rows)) * (b[:, 0].mean() - b[:, 1].mean()) ** 2 for i, j in edges]
    return math.sqrt(sum(parts))


@pytest.mark.parametrize("n", [1, 99, 100, 101, 250, 1000])
def test_it_is_what_a_plain_loop_gives(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = np.column_stack((rng.random(n), rng.random(n) < 0.3)).astype(float)
    assert float(rms_calibration(rows, np.ones(n))) == pytest.approx(by_hand(rows))
    draws = rms_calibration(rows, np.vstack((np.ones(n), np.full(n, 2.0))))
    assert draws == pytest.approx([by_hand(rows)] * 2)


def test_the_calibrated_have_little_error_and_the_sure_and_wrong_all() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.random(20_000)
    rows = np.column_stack((confidence, rng.random(20_000) < confidence)).astype(float)
    assert float(rms_calibration(rows, np.ones(len(rows)))) < 0.06
    assert float(rms_calibration(np.array([[1.0, 0.0]] * 150), np.ones(150))) == 1.0
    assert math.isnan(float(rms_calibration(rows, np.zeros(len(rows)))))


def test_it_is_found_by_its_name() -> None:
    assert find("rms_calibration_error@1") is RMS_CALIBRATION_ERROR
