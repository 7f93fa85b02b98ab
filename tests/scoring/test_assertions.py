"""Assertions and thresholds: a value is a value, False is 0, and nothing is passed for want of a word."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.core.item import Item, Question
from measurand.core.trial import Found, Measured
from measurand.scoring.assertions import (
    CHECKS,
    Asserted,
    assert_all,
    assert_most,
    assert_score,
    assert_text,
    assertion,
    passes,
)

TEXTS = st.text(st.sampled_from('ab{}[]":1, \n'), max_size=20)


@pytest.mark.parametrize(
    ("score", "threshold", "passed"),
    [
        (0.0, 0, True),
        (0.5, 0.5, True),
        (0.49, 0.5, False),
        (0.0, None, False),
        (1.0, None, True),
        (-0.1, 0, False),
        (None, 0, None),
        (math.nan, 0.5, None),
    ],
)
def test_a_threshold_of_nothing_is_one_and_no_number_is_neither(score, threshold, passed):
    assert passes(score, threshold) is passed


@pytest.mark.parametrize(
    ("given_back", "passed", "score"),
    [
        (False, False, 0.0),
        (True, True, 1.0),
        (0, False, 0.0),
        ("false", False, 0.0),
        ("0.7", True, 0.7),
        ("hello", None, None),
        (None, None, None),
        ([], None, None),
        ({"score": 0.2, "pass": False}, False, 0.2),
        ({"pass": False}, False, 0.0),
        ({"score": 0.9}, True, 0.9),
        ({"reason": "fine"}, None, None),
        ({"score": math.nan}, None, None),
    ],
)
def test_what_a_custom_check_gives_back(given_back, passed, score):
    made = assert_score(given_back)
    assert (made.passed, made.score) == (passed, score)


@given(st.sampled_from(sorted(CHECKS)), TEXTS, st.sampled_from(["a", "ab", "{"]))
def test_not_turns_every_assertion_round(kind, text, value):
    plain, turned = assert_text(kind, text, value), assert_text(f"not-{kind}", text, value)
    assert plain.passed is not turned.passed
    assert plain.score == 1 - turned.score


@pytest.mark.parametrize(
    ("kind", "text", "value", "passed"),
    [
        ("contains-json", 'result: {"a": 1}', None, True),
        ("contains-json", "result: none", None, False),
        ("contains-json", 'result: {"a": 1}', {"required": ["b"]}, False),
        ("is-json", 'result: {"a": 1}', None, False),
        ("is-json", '{"a": 1}', None, True),
        ("is-json", "[NaN]", None, False),
        ("is-json", " 7 ", None, True),
        ("icontains", "HELLO", "hello", True),
        ("contains", "HELLO", "hello", False),
        ("contains-all", "a b", "a, b", True),
        ("contains-all", "a", ["a", "b"], False),
        ("contains-any", "b", "a,b", True),
        ("icontains-any", "B", ["a", "b"], True),
        ("starts-with", "hello", "he", True),
        ("ends-with", "hello", "he", False),
        ("equals", " 7 ", 7, True),
        ("regex", "abc", "b.$", True),
    ],
)
def test_the_assertions_of_a_text(kind, text, value, passed):
    assert assert_text(kind, text, value).passed is passed


def test_an_unknown_assertion_is_told_when_it_is_made():
    with pytest.raises(InputError, match="there are equals, contains"):
        assertion("contians")


def test_spending_is_asserted_from_above():
    assert assert_most(0.0, 0).passed is True
    assert assert_most(0.1, 0).passed is False
    assert assert_most(None, 3).passed is None


def test_several_assertions_as_one():
    good, bad, unknown = Asserted(True, 1.0), Asserted(False, 0.0), Asserted(None, None)
    assert assert_all([good, bad]).passed is False
    assert assert_all([good, bad], 0.5).passed is True
    assert assert_all([good, bad], 0.5, [1, 3]).passed is False
    assert assert_all([good, bad], weights=[1, 0]).passed is True
    assert assert_all([good, unknown]).passed is None
    assert assert_all([]).passed is True


def test_an_assertion_is_a_scorer():
    item = Item("1", Question("?"), "sorry")
    assert assertion("not-icontains").score(item, Found("Sorry, no.")) == Measured((0.0,))
    assert assertion("not-icontains").score(item, Found("Yes.")) == Measured((1.0,))
