"""sympy and math-verify in their child: what they say, what they are known to get wrong, and that they cannot harm."""

from typing import Any

import pytest

from measurand.core.item import Item, Question
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.maths import libraries
from measurand.scoring.maths.answers import answers_equal
from measurand.scoring.maths.libraries import math_verify_equal, sympy_equal
from measurand.scoring.maths.scorers import MATH_VERIFY_EQUAL, MATHS_EQUAL, MATHS_VOTE, NO_VOTE
from tests.needs import needed

needed("math_verify", "'measurand[maths]'")


PATIENT = 300.0
"""Seconds for one comparison: where a verdict is tested, a slow machine is not to give another one."""


@pytest.fixture(scope="module", autouse=True)
def _one_patient_child():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libraries, "SECONDS", PATIENT)
        yield
    libraries._CHILD.stop()


@pytest.mark.parametrize(
    ("gold", "given"),
    [(r"\frac{1}{2}", "0.5"), ("x^2-1", "(x-1)(x+1)"), ("3,250", "3250"), (r"\{1,2\}", r"\{2,1\}")],
)
def test_what_all_three_get_right(gold: str, given: str) -> None:
    assert answers_equal(gold, given)
    assert sympy_equal(gold, given)
    assert math_verify_equal(gold, given)


@pytest.mark.parametrize(
    ("gold", "given", "equal"),
    [
        (r"\frac{1}{50!}", r"\frac{1}{52!}", False),  # its tolerance is absolute
        ("10^{-40}", "10^{-41}", False),
        ("2412_8", "2412_5", False),  # the base is lost
        ("5", r"5\sqrt(3)", False),  # what follows is cut off
        (r"\frac{1}\pi", r"1/\pi", True),  # a command as an argument is not read
    ],
)
def test_known_wrong_verdicts_of_math_verify(gold: str, given: str, equal: Any) -> None:
    """Where one of these fails, the library was mended: say so on the card."""
    assert math_verify_equal(gold, given) is not equal
    assert answers_equal(gold, given) is equal


@pytest.mark.parametrize(
    ("gold", "given", "equal"),
    [("2412_8", "2412_5", False), (r"\text{41}", "41", True), (r"\frac{1}\pi", r"1/\pi", True)],
)
def test_known_wrong_verdicts_by_sympy(gold: str, given: str, equal: Any) -> None:
    assert sympy_equal(gold, given) is not equal
    assert answers_equal(gold, given) is equal


def test_what_would_take_for_ever_is_stopped_and_the_next_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    math_verify_equal("1", "1")
    monkeypatch.setattr(libraries, "SECONDS", 1.0)
    assert not sympy_equal("12", "9^{9^{9^{9}}}")
    monkeypatch.setattr(libraries, "SECONDS", PATIENT)
    assert sympy_equal("12", "10+2")


@pytest.mark.parametrize("text", ["", "\n", "\x00", "$" * 50, "\\frac{", "x" * 5000, '"}\n{"', "\ud800"])
def test_no_text_breaks_the_child(text: str) -> None:
    assert math_verify_equal("1", text) in {True, False}
    assert math_verify_equal("2", "1+1")


def test_without_the_libraries_a_score_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    value = MATH_VERIFY_EQUAL.score(Item("x", Question("q"), gold="1"), Found("1"))
    assert value == Missing("scorer_failed", "this signal needs sympy and math-verify: pip install 'measurand[maths]'")


def test_rows_of_the_scorers() -> None:
    item = Item("x", Question("q"), gold=r"\frac{1}{2}")
    assert MATHS_EQUAL.score(item, Found("0.5")) == Measured((1.0,))
    assert MATHS_EQUAL.score(item, Absent("no box")) == Measured((0.0,))
    assert isinstance(MATHS_EQUAL.score(Item("x", Question("q"), gold=["1"]), Found("1")), Missing)
    one, other, none = (MATHS_VOTE.score(item, found) for found in (Found("0.5"), Found("1/2"), Absent("")))
    assert one == other
    assert isinstance(one, Measured)
    assert one.row[0] == 1.0
    assert none == Measured((0.0, NO_VOTE))
