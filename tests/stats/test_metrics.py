import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.benchmark import Metric
from measurand.core.errors import InputError
from measurand.stats.metrics import (
    ACCURACY,
    BITS_PER_BYTE,
    MCC,
    MEAN,
    MICRO_F1,
    PASS_AT_1,
    RATE,
    any_of,
    best_of,
    checked,
    find,
    majority_at,
    numbers,
    pass_at,
    pass_hat,
)

METRICS = (ACCURACY, MEAN, RATE, MICRO_F1, MCC, BITS_PER_BYTE, PASS_AT_1)


def tables(metric: Metric):
    row = st.lists(st.integers(0, 1).map(float), min_size=len(metric.columns), max_size=len(metric.columns))
    return st.lists(row, min_size=1, max_size=20).map(lambda rows: np.array(rows, dtype=np.float64))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@settings(max_examples=40)
@given(data=st.data())
def test_weights_count_rows(metric, data):
    """An item of weight two is the item twice, an item of weight zero is gone, and draws are done one by one."""
    rows = data.draw(tables(metric))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))), dtype=float)
    twice = np.repeat(rows, weights.astype(int), axis=0)
    expected = float(metric.over(twice, np.ones(len(twice))))
    assert float(metric.over(rows, weights)) == pytest.approx(expected, nan_ok=True)
    draws = np.stack([weights, np.ones(len(rows))])
    several = metric.over(rows, draws)
    assert several.shape == (2,)
    assert several.tolist() == pytest.approx([expected, float(metric.over(rows, np.ones(len(rows))))], nan_ok=True)


RULES = (pass_at, pass_hat, majority_at, best_of, any_of)


@pytest.mark.parametrize("metric", [*METRICS, *(rule(3) for rule in RULES)], ids=lambda metric: metric.name)
def test_within_takes_one_item_or_many(metric):
    blocks = np.random.default_rng(1).integers(0, 2, (7, 4, len(metric.columns))).astype(float)
    together = metric.within(blocks)
    assert together.shape == (7, len(metric.columns))
    assert np.array_equal(together, np.stack([metric.within(block) for block in blocks]))


def test_f1_and_rate_sum_before_they_divide():
    rows = np.array([[1.0, 0.0, 0.0], [1.0, 3.0, 4.0]])
    assert MICRO_F1.over(rows, np.ones(2)) == pytest.approx(2 * 2 / (2 * 2 + 3 + 4))
    assert RATE.over(np.array([[1.0, 1.0], [0.0, 9.0]]), np.ones(2)) == pytest.approx(0.1)


def test_mcc_is_the_correlation_of_the_two_labellings():
    rng = np.random.default_rng(3)
    true, said = rng.integers(0, 2, (2, 90))
    rows = np.column_stack((true & said, ~true & said & 1, true & ~said & 1, 1 - (true | said))).astype(float)
    assert float(MCC.over(rows, np.ones(90))) == pytest.approx(np.corrcoef(true, said)[0, 1])
    assert float(MCC.over(np.array([[9.0, 1.0, 0.0, 0.0]]), np.ones(1))) == 0.0
    assert math.isnan(float(MCC.over(np.zeros((1, 4)), np.ones(1))))


def test_bits_per_byte():
    rows = np.array([[-math.log(2) * 80, 10.0], [-math.log(2) * 20, 40.0]])
    assert BITS_PER_BYTE.over(rows, np.ones(2)) == pytest.approx(2.0)


def test_pass_at_k_within():
    block = np.array([[[1.0], [0.0], [1.0], [0.0], [0.0]]])
    assert pass_at(3).within(block)[0, 0] == pytest.approx(0.9)
    with pytest.raises(InputError, match="k greater than n"):
        pass_at(6).within(block)
    with pytest.raises(InputError, match="correct"):
        pass_at(2).within(block / 2)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_is_found_by_its_name(metric):
    found = find(f"{metric.name}@{metric.version}")
    assert (found.name, found.columns, found.over) == (metric.name, metric.columns, metric.over)


@pytest.mark.parametrize("rule", RULES)
def test_any_k_of_any_rule_is_found(rule):
    made = rule(17)
    assert find(f"{made.name}@1").name == made.name


def test_a_metric_says_how_many_samples_stand_behind_it():
    kinds = {rule(8).name: rule(8).kind for rule in RULES}
    assert kinds == {
        "pass_at_8": "search",
        "pass_hat_8": "every",
        "maj_at_8": "majority",
        "best_of_8": "search",
        "any_of_8": "search",
    }
    assert {metric.kind for metric in METRICS} == {"single pass"} == {rule(1).kind for rule in RULES}


@pytest.mark.parametrize("name", ["accuracy", "accuracy@2", "nonsense@1", "find@1", "array@1", "pass_at_0@1", "@"])
def test_unknown_metrics_are_refused_with_what_there_is(name):
    with pytest.raises(InputError, match=r"metric"):
        find(name)


@pytest.mark.parametrize("wrong", [2.0, math.inf, -math.inf, -0.01])
def test_values_out_of_range_are_refused_not_averaged(wrong):
    with pytest.raises(InputError, match="value out of range: row 1 of accuracy"):
        checked(ACCURACY, np.array([[1.0], [wrong]]))


def test_infinities_are_refused_without_a_range_too():
    with pytest.raises(InputError, match="finite"):
        checked(MEAN, np.array([[math.inf]]))
    assert checked(MEAN, np.array([[1e9], [-5.0], [math.nan]])).shape == (3, 1)


def test_rows_need_the_metrics_columns():
    with pytest.raises(InputError, match="columns"):
        checked(RATE, np.ones((3, 1)))


def test_numbers_as_other_tools_write_them():
    values = numbers(["C", "I", "P", "N", 1, True, "0.25", None, "NaN", "N/A", " inf "])
    assert values.tolist()[:7] == [1.0, 0.0, 0.5, 0.0, 1.0, 1.0, 0.25]
    assert np.isnan(values[7:10]).all()
    assert values[10] == math.inf


@pytest.mark.parametrize("wrong", ["X", "one", [1], {"score": 1}])
def test_what_is_no_score_is_refused(wrong):
    with pytest.raises(InputError, match="not a score"):
        numbers([wrong])
