import math

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from scipy import stats
from statsmodels.stats.anova import AnovaRM

from measurand.core.errors import InputError
from measurand.core.identity import canonical
from measurand.stats.factorial import effects, taken_apart
from tests.stats.simulated import explained, simulated

TWO = {"model": ("old", "new"), "prompt": ("long", "short")}


def drawn(rng, n=60, shape=(2, 2)):
    """Items of their own difficulty, a model effect of 0.2, a prompt effect of -0.1, and together 0.15 more."""
    values = rng.normal(0, 1, (n, 1, 1)) + rng.normal(0, 0.3, (n, *shape))
    values[:, 1, :] += 0.2
    values[:, :, 1] -= 0.1
    values[:, 1, 1] += 0.15
    return values


def test_it_is_the_anova_of_repeated_measures():
    values = drawn(np.random.default_rng(1))
    rows = [
        {"item": i, "model": m, "prompt": p, "y": values[i, m, p]} for i in range(60) for m in (0, 1) for p in (0, 1)
    ]
    table = AnovaRM(pd.DataFrame(rows), "y", "item", within=["model", "prompt"]).fit().anova_table
    for effect, (_, row) in zip(effects(values, TWO), table.iterrows(), strict=True):
        assert effect.p == pytest.approx(row["Pr > F"], abs=1e-10)


def test_effects_of_two_by_two():
    values = drawn(np.random.default_rng(2), n=400)
    model, prompt, both = effects(values, TWO)
    assert [one.name for one in (model, prompt, both)] == ["model: new", "prompt: short", "model: new x prompt: short"]
    assert model.estimate.value == pytest.approx(values[:, 1].mean() - values[:, 0].mean())
    assert both.estimate.value == pytest.approx(
        (values[:, 1, 1] - values[:, 0, 1]).mean() - (values[:, 1, 0] - values[:, 0, 0]).mean()
    )
    theirs = stats.ttest_1samp(values[:, 1].mean(axis=1) - values[:, 0].mean(axis=1), 0)
    ends = theirs.confidence_interval(0.95)
    assert model.p == pytest.approx(theirs.pvalue, abs=1e-10)
    assert (model.estimate.low, model.estimate.high) == pytest.approx((ends.low, ends.high), abs=1e-9)
    assert all(canonical(one.estimate) for one in (model, prompt, both))


def test_what_a_release_owes_to_each_change_adds_up():
    values = drawn(np.random.default_rng(3))
    parts = taken_apart(values, TWO)
    total = values[:, 1, 1].mean() - values[:, 0, 0].mean()
    assert parts.total.estimate.value == pytest.approx(total)
    assert parts.first.estimate.value + parts.second.estimate.value == pytest.approx(total)
    assert parts.total.name == "model: new x prompt: short"


def test_three_factors_and_three_levels():
    rng = np.random.default_rng(4)
    factors = {"model": ("a", "b", "c"), "prompt": ("x", "y"), "tools": ("off", "on")}
    values = rng.normal(size=(30, 3, 2, 2))
    found = effects(values, factors)
    assert len(found) == (2 + 1 + 1) + (2 + 2 + 1) + 2
    last = found[-1]
    assert last.of == {"model": "c", "prompt": "y", "tools": "on"}
    cells = values.mean(axis=0)
    change = cells[2] - cells[0]
    assert last.estimate.value == pytest.approx((change[1, 1] - change[0, 1]) - (change[1, 0] - change[0, 0]))


@pytest.mark.parametrize("clustered", [False, True])
@simulated(200, 600)
def test_the_intervals_cover(clustered, runs):
    rng = np.random.default_rng(5)
    held = np.zeros(3)
    truth = np.array([0.2 + 0.15 / 2, -0.1 + 0.15 / 2, 0.15])
    clusters = np.repeat(np.arange(30), 4) if clustered else None
    for _ in range(runs):
        values = drawn(rng, n=120)
        if clustered:
            values += rng.normal(0, 0.3, (30, 2, 2))[clusters]
        found = effects(values, TWO, clusters)
        held += [one.estimate.low <= true <= one.estimate.high for one, true in zip(found, truth, strict=True)]
    assert all(explained(int(count), runs, 0.94, 0.96) for count in held), held


def test_only_items_of_every_cell_count():
    values = np.random.default_rng(6).integers(0, 2, (20, 2, 2)).astype(float)
    values[3, 0, 1] = math.nan
    found = effects(values, TWO)
    assert {(one.estimate.n_items, one.estimate.n_missing, one.estimate.unit) for one in found} == {(19, 4, "")}
    again = effects(np.delete(values, 3, axis=0), TWO)
    assert [one.estimate.value for one in found] == [one.estimate.value for one in again]


def test_no_spread_is_not_certainty():
    found = effects(np.ones((9, 2, 2)), TWO)
    assert [(one.estimate.value, one.estimate.low, one.p) for one in found] == [(0.0, None, None)] * 3
    assert effects(np.full((3, 2, 2), math.nan), TWO)[0].estimate.value is None


def test_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="do not fit"):
        effects(np.ones((5, 2)), TWO)
    with pytest.raises(InputError, match="two levels"):
        effects(np.ones((5, 1)), {"model": ("only",)})
    with pytest.raises(InputError, match="two factors"):
        taken_apart(np.ones((5, 3, 2)), {"model": ("a", "b", "c"), "prompt": ("x", "y")})
