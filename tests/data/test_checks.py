"""Rows that nobody should be asked."""

from typing import Any

import pytest

from measurand.core.errors import DataError
from measurand.data import check_rows


def flagged(rows: list[dict[str, Any]], **columns: str) -> list[int]:
    return [flag.row for flag in check_rows(rows, **columns)]


def test_a_repeated_id_is_refused_with_both_places() -> None:
    rows: list[dict[str, Any]] = [{"id": 1}, {"id": "a"}, {"id": "1"}]
    with pytest.raises(DataError, match=r"duplicate id 1 \(line 2 and line 5\)"):
        check_rows(rows, ["line 2", "line 3", "line 5"])
    assert check_rows([{"q": 1}, {"q": 1}]) == ()


@pytest.mark.parametrize("gold", [None, "", "  ", []])
def test_a_missing_gold_is_refused_with_its_place(gold: Any) -> None:
    with pytest.raises(DataError, match="line 2 missing target"):
        check_rows([{"target": "A"}, {"target": gold}], ["line 1", "line 2"], gold="target")
    with pytest.raises(DataError, match="row 2 missing target"):
        check_rows([{"target": "A"}, {}], gold="target")


@pytest.mark.parametrize("gold", [0, False, "0", 0.0])
def test_a_gold_of_nothing_is_still_a_gold(gold: Any) -> None:
    assert check_rows([{"target": gold}], gold="target") == ()


@pytest.mark.parametrize(
    ("gold", "wins"),
    [
        ("Oboe", True), (" Oboe ", True), ("B", True), (1, True), ("1", True), (["Oboe", "A"], True),
        ("Trumpet", False), ("oboe", False), ("C", False), (2, False), (-1, False), ("2", False), (True, False),
        (None, False), (["Oboe", "Trumpet"], False), ("²", False), ("9" * 5000, False),
    ],
)  # fmt: skip
def test_a_gold_must_be_one_of_the_options(*, gold: Any, wins: bool) -> None:
    rows = [{"choices": ["Flute", "Oboe"], "t": "A"}, {"choices": ["Flute", "Oboe"], "t": gold}]
    if gold is None:
        rows[1]["t"] = "?"
    assert flagged(rows, gold="t", options="choices") == ([] if wins else [1])


def test_numbers_may_be_options_themselves() -> None:
    assert flagged([{"c": [10, 20], "t": 20}], gold="t", options="c") == []


@pytest.mark.parametrize("options", [None, [], "A,B", ["x", " x"]])
def test_options_that_are_none_or_alike_are_flagged(options: Any) -> None:
    assert flagged([{"c": options, "t": "A"}], gold="t", options="c") == [0]
