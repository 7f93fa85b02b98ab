"""Errata: other tests and other golds for some items, without another item or another answer."""

from typing import Any

import pytest

from measurand.benchmarks.humaneval import BENCHMARK as HUMANEVAL
from measurand.benchmarks.mmlu import BENCHMARK as MMLU
from measurand.core.errors import InputError
from measurand.core.item import Item, Question
from measurand.core.program import FunctionTest
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.code import FUNCTION_TEST
from measurand.scoring.errata import FLAWED, corrected, relabelled, with_errata

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


CHOICE_ITEM = Item("1", Question("q", ("a", "b", "c", "d")), gold="A")


@pytest.mark.parametrize(
    ("errata", "rows"),
    [
        ({}, {"A": 1.0, "B": 0.0}),
        ({"1": "B"}, {"A": 0.0, "B": 1.0}),
        ({"1": ["A", "B"]}, {"A": 1.0, "B": 1.0, "C": 0.0}),
        ({"1": None}, {"A": "not_applicable"}),
        ({"2": "B"}, {"A": 1.0}),
    ],
)
def test_a_corrected_gold_takes_the_place_of_the_old_one(errata: dict[str, Any], rows: dict[str, Any]) -> None:
    for letter, want in rows.items():
        value = relabelled(errata, CHOICE_SCORE).score(CHOICE_ITEM, Found(letter))
        assert (value.row[0] if isinstance(value, Measured) else value.why) == want


def test_other_errata_are_another_scorer_and_the_order_does_not_matter() -> None:
    one, two = {"1": "B", "2": None}, {"2": None, "1": "B"}
    assert relabelled(one, CHOICE_SCORE).name == relabelled(two, CHOICE_SCORE).name
    assert relabelled(one, CHOICE_SCORE).name != relabelled({"1": "C"}, CHOICE_SCORE).name


def test_both_labels_stand_side_by_side_and_programs_are_refused() -> None:
    benchmark = with_errata(MMLU, {"1": "B"})
    assert list(benchmark.aggregation.metrics) == ["accuracy", "accuracy by old labels"]
    assert [marking.metric for marking in benchmark.scoring.markings] == list(benchmark.aggregation.metrics)
    with pytest.raises(InputError, match="is scored by running tests"):
        with_errata(HUMANEVAL, {})
