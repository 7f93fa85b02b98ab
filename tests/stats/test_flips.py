import numpy as np
import pytest

from measurand.stats.flips import flips
from measurand.stats.means import macro, micro

A, B = ((195, 200), (5, 100), (3, 50)), ((100, 200), (60, 100), (40, 50))


def numbers(counts):
    values = np.concatenate([np.r_[np.ones(c), np.zeros(n - c)] for c, n in counts])
    groups = np.repeat(np.arange(len(counts)), [n for _, n in counts])
    return {"pooled": micro(values).value, "macro:subject": macro(values, groups).value}


def test_the_ranking_flips_under_another_aggregation():
    found = {"A": numbers(A), "B": numbers(B)}
    assert found["A"] == pytest.approx({"pooled": 0.580, "macro:subject": 0.362}, abs=5e-4)
    assert found["B"] == pytest.approx({"pooled": 0.571, "macro:subject": 0.633}, abs=5e-4)
    (flip,) = flips(found)
    assert str(flip) == (
        "The ranking flips: A leads B by pooled (58.0 against 57.1 %), "
        "and B leads A by macro:subject (63.3 against 36.2 %)."
    )


def test_numbers_with_a_unit_are_no_percentages():
    (flip,) = flips({"A": {"x": 0.9, "y": 1.8}, "B": {"x": 1.5, "y": 1.2}}, higher_is_better=False, unit="bits/byte")[
        :1
    ]
    assert "A leads B by x (0.9 against 1.5 bits/byte), and B leads A by y (1.2 against 1.8 bits/byte)" in str(flip)


def test_no_flip_where_the_order_holds_is_tied_or_unknown():
    assert flips({"A": {"x": 0.9, "y": 0.8}, "B": {"x": 0.5, "y": 0.7}}) == ()
    assert flips({"A": {"x": 0.9, "y": 0.7}, "B": {"x": 0.5, "y": 0.7}}) == ()
    assert flips({"A": {"x": 0.9, "y": None}, "B": {"x": 0.5, "y": 0.7}}) == ()
    assert flips({"A": {"x": 0.9}, "B": {"y": 0.7}}) == ()


def test_each_pair_is_looked_at_and_lower_may_be_better():
    many = {"A": {"x": 1.0, "y": 3.0}, "B": {"x": 2.0, "y": 2.0}, "C": {"x": 3.0, "y": 1.0}}
    assert {(flip.first, flip.second) for flip in flips(many)} == {("A", "B"), ("A", "C"), ("B", "C")}
    down, up = (
        flips({"A": {"x": 1.0, "y": 3.0}, "B": {"x": 2.0, "y": 2.0}}, higher_is_better=False),
        flips({"A": {"x": 1.0, "y": 3.0}, "B": {"x": 2.0, "y": 2.0}}),
    )
    assert (down[0].by, up[0].by) == ("x", "y")
