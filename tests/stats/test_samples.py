import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.mixed_linear_model import MixedLM

from measurand.core.errors import InputError
from measurand.stats.estimate import estimate
from measurand.stats.means import micro
from measurand.stats.metrics import ACCURACY
from measurand.stats.power import design_effect
from measurand.stats.samples import components, intraclass


def drawn(rng, n, k, between=0.04, within=0.09):
    items = np.repeat(np.arange(n), k)
    return rng.normal(0, between**0.5, n)[items] + rng.normal(0.5, within**0.5, n * k), items


def test_the_parts_are_found():
    values, items = drawn(np.random.default_rng(1), 4_000, 5)
    parts = components(values, items)
    assert parts.between == pytest.approx(0.04, rel=0.1)
    assert parts.within == pytest.approx(0.09, rel=0.05)


def test_equal_numbers_of_samples_are_restricted_likelihood():
    """With as many samples of each item, the analysis of variance is statsmodels' REML."""
    values, items = drawn(np.random.default_rng(2), 60, 4)
    theirs = MixedLM(values, np.ones((240, 1)), items).fit(reml=True)
    parts = components(values, items)
    assert parts.within == pytest.approx(theirs.scale, rel=1e-4)
    assert parts.between == pytest.approx(float(np.asarray(theirs.cov_re)[0, 0]), rel=1e-3)


def test_the_error_of_as_many_samples_is_the_estimates():
    values, items = drawn(np.random.default_rng(3), 50, 6)
    means = values.reshape(50, 6).mean(axis=1)
    assert components(values, items).error() == pytest.approx(micro(means).error)


def test_it_foretells_what_more_samples_bring():
    rng = np.random.default_rng(4)
    truth = rng.uniform(size=3_000)
    first = rng.uniform(size=(3_000, 2)) < truth[:, None]
    parts = components(first.astype(float).ravel(), np.repeat(np.arange(3_000), 2))
    many = rng.uniform(size=(3_000, 50)) < truth[:, None]
    assert parts.error(50) == pytest.approx(micro(many.mean(axis=1)).error, rel=0.05)
    assert parts.floor < parts.error(50) < parts.error() < parts.error(1)
    assert 1 < parts.worth < 2


def test_different_numbers_of_samples():
    rng = np.random.default_rng(5)
    count = rng.integers(1, 7, 3_000)
    items = np.repeat(np.arange(3_000), count)
    values = rng.normal(0, 0.2, 3_000)[items] + rng.normal(0, 0.3, len(items))
    parts = components(values, items)
    assert (parts.between, parts.within) == pytest.approx((0.04, 0.09), rel=0.1)
    assert parts.samples == pytest.approx(3_000 / (1 / count).sum())


def test_samples_that_always_agree_add_nothing():
    values, items = np.repeat([1.0, 0.0, 1.0], 4), np.repeat(np.arange(3), 4)
    parts = components(values, items)
    assert parts.within == 0
    assert parts.error(100) == parts.error(1) == parts.floor
    assert parts.worth == 1


def test_the_design_effect_foretells_the_clustered_error():
    rng = np.random.default_rng(6)
    values, clusters = drawn(rng, 300, 8)
    alone, together = micro(values), micro(values, clusters)
    effect = design_effect(8, intraclass(values, clusters))
    assert (together.error / alone.error) ** 2 == pytest.approx(effect, rel=0.05)


@given(st.integers(2, 20), st.integers(2, 5), st.integers(0, 99))
def test_no_part_is_negative(n, k, seed):
    values = np.random.default_rng(seed).integers(0, 2, n * k).astype(float)
    items = np.repeat(np.arange(n), k)
    parts = components(values, items)
    assert min(parts.between, parts.within) >= 0
    assert 0 <= intraclass(values, items) <= 1
    assert estimate(values, ACCURACY, items=items).n_items == parts.n


@pytest.mark.parametrize("items", [[0, 1, 2], [0, 0, 0]])
def test_what_cannot_be_split_is_refused(items):
    with pytest.raises(InputError, match="two items"):
        components(np.ones(3), np.array(items))
