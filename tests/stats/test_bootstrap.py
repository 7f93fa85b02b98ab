import numpy as np
import pytest
from scipy import stats

from measurand.core.errors import InputError
from measurand.stats.bootstrap import FEWEST, bca, bootstrap, percentiles
from measurand.stats.metrics import MCC, MICRO_F1, RATE
from measurand.stats.sums import weighted_mean
from measurand.stats.units import UNITS
from tests.stats.simulated import explained, simulated


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


def covered(metric, draw, truth, runs):
    held = 0
    for _ in range(runs):
        rows, clusters = draw()
        low, high = bca(metric.over, rows, bootstrap(metric.over, rows, clusters, draws=1_000), clusters)
        held += low <= truth <= high
    return held


@simulated(100, 400)
def test_its_intervals_cover_from_the_sizes_that_the_docs_state(runs):
    """docs/statistics.md: ratios from 30 units, F1 and MCC from 50; the clustered ones from 30 clusters."""
    rng, cells = np.random.default_rng(5), np.array([0.4, 0.2, 0.1, 0.3])
    luck = np.repeat(np.arange(30), 4)

    def kinds(n, columns):
        return np.eye(4)[rng.choice(4, size=n, p=cells)][:, :columns], None

    def rates(n):
        of = rng.integers(1, 9, n)
        return np.column_stack((rng.binomial(of, 0.7), of)).astype(float), None

    def clustered():
        right = rng.uniform(size=120) < rng.beta(2, 2, 30)[luck]
        return np.column_stack((right, np.ones(120))), luck

    found = {
        "F1": covered(MICRO_F1, lambda: kinds(50, 3), 0.8 / 1.1, runs),
        "MCC": covered(MCC, lambda: kinds(50, 4), float(MCC.over(cells[None], np.ones(1))), runs),
        "rate": covered(RATE, lambda: rates(30), 0.7, runs),
        "clustered": covered(RATE, clustered, 0.5, runs),
    }
    assert all(explained(held, runs, 0.93, 0.97) for held in found.values()), found


def test_bca_is_scipys():
    rng = np.random.default_rng(8)
    x = rng.lognormal(0, 1, 40)
    theirs = stats.bootstrap(
        (x,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(9)
    ).confidence_interval
    ours = bca(weighted_mean, x[:, None], bootstrap(weighted_mean, x[:, None], draws=20_000))
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.03)
    assert ours[0] > percentiles(bootstrap(weighted_mean, x[:, None]))[0]


def test_all_alike_is_not_certain():
    rows = np.tile([1.0, 0.0, 0.0], (40, 1))
    assert bca(MICRO_F1.over, rows, bootstrap(MICRO_F1.over, rows)) is None
    with pytest.raises(InputError, match="no number"):
        bca(MICRO_F1.over, np.zeros((4, 3)), np.full(9, np.nan))


def test_strata_are_drawn_each_by_themselves():
    rng = np.random.default_rng(10)
    strata = np.repeat([0, 1], [40, 10])
    x = strata * 100.0 + rng.normal(size=50)
    draws = bootstrap(weighted_mean, x[:, None], strata=strata, draws=4_000)
    parts = [x[strata == s] for s in (0, 1)]
    error = np.sqrt(sum((len(part) / 50) ** 2 * part.var() / len(part) for part in parts))
    assert draws.std() == pytest.approx(error, rel=0.06)
    assert bootstrap(weighted_mean, x[:, None], draws=4_000).std() > 20 * error


def test_clusters_in_strata():
    rng = np.random.default_rng(11)
    clusters, strata = np.repeat(np.arange(60), 5), np.repeat([0, 1], [200, 100])
    x = rng.normal(size=60)[clusters] + 9 * strata
    centred = np.array([x[clusters == c][0] - 9 * (c >= 40) for c in range(60)])
    error = np.sqrt((40 / 60) ** 2 * centred[:40].var() / 40 + (20 / 60) ** 2 * centred[40:].var() / 20)
    assert bootstrap(weighted_mean, x[:, None], clusters, strata=strata).std() == pytest.approx(error, rel=0.06)


def test_adding_the_rows_of_a_unit_first_changes_nothing():
    """The sums that are taken early must give the draws that the rows themselves give."""
    rng = np.random.default_rng(12)
    rows, clusters = rng.integers(0, 3, (90, 3)).astype(float), rng.integers(0, 20, 90)
    quick = bootstrap(MICRO_F1.over, rows, clusters, draws=50)
    slow = bootstrap(lambda r, w: MICRO_F1.over(r, w), rows, clusters, draws=50)
    assert quick == pytest.approx(slow, abs=1e-12)
    assert bca(MICRO_F1.over, rows, quick, clusters) == bca(lambda r, w: MICRO_F1.over(r, w), rows, slow, clusters)


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
