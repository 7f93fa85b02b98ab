r"""The house rule of mathematical equality: what is the same answer, what is not, and texts that would take for ever."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.scoring.maths.answers import answers_equal, vote_of
from measurand.scoring.maths.expressions import NotReadError, parse
from measurand.scoring.maths.strings import hendrycks_equal
from measurand.scoring.maths.values import NoValueError, value_of
from tests.artifacts import artifact

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "pairs.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['gold']} | {pair['given']}")
def test_labelled_pairs_either_way_round(pair: dict[str, Any]) -> None:
    assert answers_equal(pair["gold"], pair["given"]) is pair["equal"]
    assert answers_equal(pair["given"], pair["gold"]) is pair["equal"]


def test_there_are_enough_of_both() -> None:
    assert sum(pair["equal"] for pair in PAIRS) > 60
    assert sum(not pair["equal"] for pair in PAIRS) > 40


def test_what_the_card_says_of_percent_and_of_bases() -> None:
    assert answers_equal(r"10\%", "10")
    assert not answers_equal(r"50\%", "0.5")
    assert answers_equal("2412_8", "2412")
    assert not answers_equal("2412", "2412_8")


def test_pairs_of_the_paper() -> None:
    pairs = json.loads(artifact("math/hendrycks_equivalence_pairs.json").read_text())
    assert len(pairs) == 16
    assert [one["name"] for one in pairs if hendrycks_equal(one["a"], one["b"]) != one["equivalent"]] == []


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("3,250", "3250", False),
        ("k = 5", "5", True),
        ("abc = 5", "5", False),
        (r"5\text{ cm}", "5", True),
        (r"5\text{ cm}\text{ long}", "5", False),
        (r"\sqrt3", r"\sqrt{3}", True),
        (r"x\sqrt", r"x\sqrt", True),
        (r"\frac", r"\frac", True),
        (r"\frac1", r"\frac1", True),
        (r"\frac1{2}", r"\frac12", True),
        ("1/2", r"\frac{1}{2}", True),
        ("01/2", r"\frac{1}{2}", False),
        ("", "", True),
    ],
)
def test_canonical_strings_and_their_odd_corners(one: str, other: str, equal: Any) -> None:
    assert hendrycks_equal(one, other) is equal


@pytest.mark.parametrize(
    "text",
    [
        "9^{9^{9^{9}}}", "1" * 900, "(" * 500, "2^" * 400 + "2", "1000000!", "\\binom{400}{200}^{99}", "1/0", "x" * 900,
        "((1,2)," * 90, "\\frac" * 100, "1,2," * 200, "1000^{1000^{-1000}}", "\\tan 90", "|" * 300, "1 or " * 200,
        "{" * 300 + "}" * 300, "=" * 300, "\\sqrt" * 200, "a_" * 300, "-" * 900, "2!" + "!" * 300, "\\ln\\ln\\ln 2" * 40,
    ],
)  # fmt: skip
def test_hard_texts_are_compared_in_time(text: str) -> None:
    for other in ("12", r"\pi"):
        assert not answers_equal(other, text)
        assert not answers_equal(text, other)
    assert answers_equal(text, text)


ANSWERS = st.recursive(
    st.one_of(st.integers(-99, 99).map(str), st.sampled_from(["x", "y", r"\pi", "0.5", r"\sqrt{2}"])),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"\\frac{{{two[0]}}}{{{two[1]}}}"),
        st.tuples(inner, st.sampled_from("+-"), inner).map(lambda one: f"({one[0]}{one[1]}{one[2]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]})({two[1]})"),
        inner.map(lambda one: f"({one})^2"),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(ANSWERS)
def test_an_answer_equals_itself_plus_nothing_and_not_plus_one(answer: str) -> None:
    assert answers_equal(answer, answer)
    try:
        value_of(parse(answer), {"x": Fraction(3, 7), "y": Fraction(5, 3)})
    except (NoValueError, NotReadError):
        return
    assert answers_equal(answer, f"({answer}) + 0")
    assert not answers_equal(answer, f"({answer}) + 1")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_raises(one: str, other: str) -> None:
    assert isinstance(answers_equal(one, other), bool)
    assert isinstance(hendrycks_equal(one, other), bool)
    assert isinstance(vote_of(one), str)


def test_equal_answers_vote_together() -> None:
    assert vote_of(r"\frac{1}{2}") == vote_of("0.5") == vote_of("1/2")
    assert vote_of("3,250") == vote_of(r"3250\text{ people}")
    assert vote_of("(x+1)^2") == vote_of("x^2+2x+1") != vote_of("(y+1)^2")
    assert vote_of(r"\sqrt{8}") == vote_of(r"2\sqrt{2}")
    assert vote_of("Monday") == vote_of(r"\text{Monday}")
