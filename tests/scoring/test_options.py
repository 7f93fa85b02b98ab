"""Options by their log-probabilities: by length, against what they are worth alone, in every order, and how surely."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.asking.orders import cyclic, every, in_own_order
from measurand.core.errors import InputError
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.letters import ARGMAX
from measurand.scoring.options import (
    ACCURACY_OVER_ORDERS,
    ARGMAX_BYTES,
    ARGMAX_CHARACTERS,
    ARGMAX_PMI,
    ARGMAX_TOKENS,
    BY_ORDER,
    CONFIDENCE,
    OPTION_SHARES,
    SAME_IN_ALL_ORDERS,
)

VALUES = st.lists(st.floats(-1000, -1e-6), min_size=4, max_size=4)


def asked(*options, gold=0):
    return Item("x", Question("q", options), gold=gold)


def found(reader, item, *values, counts=()):
    finding = reader.read(item, Answer(values=values, counts=counts))
    return finding.value if isinstance(finding, Found) else finding


def test_lengths_are_in_the_unit_that_the_name_says():
    item = asked("ёлка", "tree")
    assert found(ARGMAX, item, -4.0, -3.0) == 1
    assert found(ARGMAX_CHARACTERS, item, -4.0, -3.0) == 1
    assert found(ARGMAX_BYTES, item, -4.0, -3.0) == 0
    assert found(ARGMAX_TOKENS, item, -4.0, -3.0, counts=(4, 1)) == 0
    assert found(ARGMAX_PMI, item, -4.0, -3.0, -9.0, -5.0) == 0


@given(values=VALUES)
def test_letters_are_chosen_alike_by_any_length(values):
    item = asked(*"abcd")
    for reader in (ARGMAX_BYTES, ARGMAX_CHARACTERS):
        assert found(reader, item, *values) == found(ARGMAX, item, *values)
    assert found(ARGMAX_TOKENS, item, *values, counts=(1,) * 4) == found(ARGMAX, item, *values)
    assert found(ARGMAX_PMI, item, *values, *(-7.0,) * 4) == found(ARGMAX, item, *(value + 7.0 for value in values))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_ties_are_shared(k):
    values = (-1.0,) * k + (-2.0,) * (4 - k)
    tied = found(ARGMAX, asked(*"abcd"), *values)
    assert tied == list(range(k))
    assert CHOICE_SCORE.score(asked(*"abcd", gold=0), Found(tied)) == Measured((1 / k,))
    assert CHOICE_SCORE.score(asked(*"abcd", gold="a"), Found(tied)) == Measured((1 / k,))
    shares = found(OPTION_SHARES, asked(*"abcd"), *values)
    confidence = CONFIDENCE.score(asked(*"abcd", gold=0), Found(shares))
    assert isinstance(confidence, Measured)
    assert confidence.row[1] == 1 / k


def test_what_is_not_there_chooses_nothing():
    item = asked("a", "b")
    for reader in (ARGMAX_BYTES, ARGMAX_CHARACTERS, ARGMAX_TOKENS, ARGMAX_PMI, OPTION_SHARES, BY_ORDER):
        assert isinstance(found(reader, item), Absent)
        assert isinstance(found(reader, item, math.nan, -1.0), Absent)
    assert isinstance(found(ARGMAX_TOKENS, item, -1.0, -2.0), Absent)
    assert isinstance(found(ARGMAX_BYTES, item, -1.0, -2.0, -3.0), Absent)
    assert isinstance(found(ARGMAX_PMI, item, -1.0, -2.0, -3.0), Absent)
    assert isinstance(found(OPTION_SHARES, item, -math.inf, -math.inf), Absent)
    assert isinstance(CONFIDENCE.score(item, Absent()), Missing)
    assert ACCURACY_OVER_ORDERS.score(item, Absent()) == Measured((0.0,))


@given(values=VALUES)
def test_confidence_is_the_share_of_the_chosen_option(values):
    item = asked(*"abcd", gold=2)
    shares = found(OPTION_SHARES, item, *values)
    assert math.fsum(shares) == pytest.approx(1)
    score = CONFIDENCE.score(item, Found(shares))
    assert isinstance(score, Measured)
    assert score.row[0] == max(shares) >= 0.25
    far = [value - 900 for value in values]
    assert found(OPTION_SHARES, item, *far) == pytest.approx(shares, abs=1e-9)  # nothing underflows


def test_orders():
    assert cyclic(3) == ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    assert len(set(every(4))) == 24
    assert every(4)[0] == (0, 1, 2, 3)
    for place in range(4):
        assert sorted(order[place] for order in cyclic(4)) == [0, 1, 2, 3]
    with pytest.raises(InputError, match="cyclic"):
        every(6)


@given(values=VALUES, gold=st.integers(0, 3))
def test_who_knows_the_answer_keeps_it_in_every_order(values, gold):
    """Log-probabilities that belong to options, not to places, give one choice whatever the order."""
    item = asked(*"abcd", gold=gold)
    shown = [[values[option] for option in order] for order in every(4)]
    joined = in_own_order(shown, every(4))
    assert joined == tuple(values) * 24
    finding = BY_ORDER.read(item, Answer(values=joined))
    alone = CHOICE_SCORE.score(item, Found(found(ARGMAX, item, *values)))
    assert isinstance(alone, Measured)
    score = ACCURACY_OVER_ORDERS.score(item, finding)
    assert isinstance(score, Measured)
    assert score.row == pytest.approx(alone.row)
    single = isinstance(found(ARGMAX, item, *values), int)
    assert SAME_IN_ALL_ORDERS.score(item, finding) == Measured((float(single),))


def test_who_always_takes_the_first_is_right_once_in_four_and_never_the_same():
    item = asked(*"abcd", gold=3)
    orders = cyclic(4)
    joined = in_own_order([(-1.0, -2.0, -3.0, -4.0)] * 4, orders)
    finding = BY_ORDER.read(item, Answer(values=joined))
    assert finding == Found({"choices": [0, 1, 2, 3]})
    assert ACCURACY_OVER_ORDERS.score(item, finding) == Measured((0.25,))
    assert SAME_IN_ALL_ORDERS.score(item, finding) == Measured((0.0,))
