"""Errata: other tests for some items, without another item or another answer."""

from typing import Any

import pytest

from measurand.core.item import Item, Question
from measurand.core.program import FunctionTest
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.code import FUNCTION_TEST
from measurand.scoring.errata import FLAWED, corrected

GOLD = {"prompt": "", "entry_point": "f", "test": "def check(candidate):\n    assert candidate() == 1\n"}
MENDED = "def check(candidate):\n    assert candidate() in (1, 2)\n"
ERRATA = {"b": MENDED, "c": FLAWED}


def item(name: str, gold: Any = GOLD) -> Item:
    return Item(name, Question("q"), gold=gold)


def test_only_the_named_tests_are_others() -> None:
    scorer = corrected(ERRATA)
    as_it_stands, mended = (scorer.program(item(name), Found("def f(): return 2")) for name in "ab")
    assert as_it_stands == FUNCTION_TEST.program(item("a"), Found("def f(): return 2"))
    assert isinstance(mended, FunctionTest)
    assert (mended.test, mended.candidate) == (MENDED, "def f(): return 2")
    assert scorer.verdict is FUNCTION_TEST.verdict


def test_an_item_with_a_flawed_test_is_left_out() -> None:
    value = corrected(ERRATA).program(item("c"), Found("def f(): return 2"))
    assert value == Missing("not_applicable", "item c: its test is known to be flawed")


@pytest.mark.parametrize("name", "ab")
def test_what_was_not_found_is_wrong_under_errata_too(name: str) -> None:
    assert corrected(ERRATA).program(item(name), Absent("no code")) == Measured((0.0,))


def test_other_errata_are_another_scorer() -> None:
    names = {corrected(errata).name for errata in ({}, ERRATA, {"b": MENDED}, {"c": FLAWED}, {"b": FLAWED})}
    assert len(names) == 5
    assert corrected(ERRATA).name == corrected(dict(reversed(ERRATA.items()))).name
    assert FUNCTION_TEST.name not in names
