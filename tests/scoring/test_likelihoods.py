"""The share of probability that true answers get, however long they are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Measured, Missing
from measurand.scoring.likelihoods import LOG_PROBABILITIES, TRUE_MASS


def mass(gold: object, *values: float) -> Measured | Missing:
    item = Item("1", Question("q"), gold=gold)
    return TRUE_MASS.score(item, LOG_PROBABILITIES.read(item, Answer(values=values)))


@given(st.lists(st.floats(-30, 0), min_size=2, max_size=6), st.floats(-1e5, 0))
def test_it_is_the_normalised_sum_and_does_not_move_with_length(values: list[float], shift: float) -> None:
    gold = [1, *[0] * (len(values) - 1)]
    expected = math.exp(values[0]) / sum(map(math.exp, values))
    for by in (0.0, shift):
        score = mass(gold, *(value + by for value in values))
        assert isinstance(score, Measured)
        assert score.row[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_ties_are_shared_and_what_cannot_be_scored_is_missing() -> None:
    assert mass([1, 1, 0], -5.0, -5.0, -5.0) == Measured((2 / 3,))
    assert mass([1, 0, 0], *[-math.inf] * 3) == Measured((1 / 3,))
    assert mass([1, 0]) == Measured((0.0,))
    assert mass([1, 0], math.nan, 0.0) == Measured((0.0,))
    assert isinstance(mass([0, 0], -1.0, -1.0), Missing)
    assert isinstance(mass([1, 0], -1.0), Missing)
    assert isinstance(mass("A", -1.0), Missing)
