import numpy as np
import pytest
from scipy import stats

from measurand.stats.bootstrap import FEWEST, UNITS, bootstrap, percentiles
from measurand.stats.metrics import MICRO_F1, RATE, weighted_mean


def test_it_draws_n_of_n_with_replacement():
    """Half the data without replacement would give 0.144 (aggregation-013)."""
    draws = bootstrap(weighted_mean, np.array([[0.0], [1.0], [1.0], [1.0]]), draws=20_000)
    assert draws.std() == pytest.approx(0.2165, abs=0.003)


def test_few_different_rows_and_many_are_drawn_alike():
    """Both ways of drawing give the error of the textbook."""
    rng = np.random.default_rng(1)
    coarse = rng.integers(0, 2, (3_000, 1)).astype(float)
    fine = coarse + rng.normal(0, 1e-9, (3_000, 1))
    expected = stats.sem(coarse[:, 0])
    for rows in (coarse, fine):
        assert bootstrap(weighted_mean, rows).std() == pytest.approx(expected, rel=0.06)


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(2)
    luck = rng.integers(0, 2, (60, 1)).astype(float)
    clusters = np.repeat(np.arange(60), 9)
    draws = bootstrap(weighted_mean, luck[clusters], clusters)
    assert draws.std() == pytest.approx(luck.std() / np.sqrt(60), rel=0.06)


def test_the_ratio_agrees_with_scipys_bootstrap():
    rng = np.random.default_rng(3)
    of = rng.integers(1, 9, 80).astype(float)
    rows = np.column_stack((rng.binomial(of.astype(int), 0.4).astype(float), of))
    theirs = stats.bootstrap(
        (rows[:, 0], rows[:, 1]),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=4_000,
        rng=np.random.default_rng(4),
    ).confidence_interval
    assert percentiles(bootstrap(RATE.over, rows)) == pytest.approx((theirs.low, theirs.high), abs=0.008)


def test_its_intervals_cover_f1():
    rng, held, runs = np.random.default_rng(5), 0, 400
    for _ in range(runs):
        kinds = rng.choice(4, size=120, p=(0.4, 0.2, 0.1, 0.3))
        low, high = percentiles(bootstrap(MICRO_F1.over, np.eye(4)[kinds][:, :3], draws=600))
        held += low <= 0.8 / (0.8 + 0.3) <= high
    assert 0.92 < held / runs < 0.98


def test_the_same_seed_gives_the_same_draws():
    rows = np.random.default_rng(6).normal(size=(50, 1))
    assert np.array_equal(bootstrap(weighted_mean, rows, seed=1), bootstrap(weighted_mean, rows, seed=1))
    assert not np.array_equal(bootstrap(weighted_mean, rows, seed=1), bootstrap(weighted_mean, rows, seed=2))


def test_many_items_are_joined_without_losing_the_error():
    rows = np.random.default_rng(7).normal(size=(200_000, 1))
    draws = bootstrap(weighted_mean, rows)
    assert len(rows) > UNITS
    assert FEWEST <= len(draws) <= 2_000
    assert draws.std() == pytest.approx(stats.sem(rows[:, 0]), rel=0.12)
