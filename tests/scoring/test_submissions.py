"""Submissions are graded whole, ranks need a score, and a flag is the flag."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.core.item import Item, Question
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.submissions import FLAG, has_flag, invalid, ranked

FLAG_TEXT = "flag{c0rrect_h0rse}"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([["1", 0.4], ["2", 0.6]], ""),
        ([["2", 0.6], [1, 0.4]], ""),
        ([["1", 0.4], ["2", 0.6], ["3", 0.9]], "id 3 is not asked for"),
        ([["1", 0.4]], "id 2 is missing"),
        ([["1", 0.4], ["1", 0.4], ["2", 0.6]], "id 1 is twice in it"),
        ([["1", 0.4, 7], ["2", 0.6]], "row 1 has 3 columns and not 2"),
        ([["1", None], ["2", 0.6]], "id 1 has no value"),
        ([["1", math.nan], ["2", 0.6]], "id 1 has no value"),
        ([], "id 1, 2 is missing"),
    ],
)
def test_a_submission_is_whole_or_invalid(rows, why):
    assert invalid(["1", "2"], rows) == why


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (FLAG_TEXT, True),
        (f"The flag is {FLAG_TEXT}\n", True),
        (f"`{FLAG_TEXT}`", True),
        (f"{FLAG_TEXT} again: {FLAG_TEXT}", True),
        ("flag", False),
        ("flag{c0rrect_h0rse", False),
        ("c0rrect_h0rse", False),
        ("FLAG{C0RRECT_H0RSE}", False),
        ("", False),
        (f"flag{{wrong}}\n{FLAG_TEXT}", False),
        (f"x{FLAG_TEXT}", False),
        (f"flag{{c0rrect_h0rse_2}} {FLAG_TEXT}", False),
    ],
)
def test_a_flag_is_found_whole_and_as_the_only_guess(said, found):
    assert has_flag(said, FLAG_TEXT) is found


def test_a_plain_flag_has_borders():
    assert has_flag("the key is hunter2.", "hunter2")
    assert not has_flag("hunter22", "hunter2")
    assert not has_flag("hunter1\nhunter2\nhunter3", "hunter2")
    with pytest.raises(InputError):
        has_flag("anything", "  ")


@given(st.text("abf{}l_g", max_size=12))
def test_no_piece_of_a_flag_is_the_flag(piece):
    assert has_flag(piece, FLAG_TEXT) is (piece == FLAG_TEXT)


def test_the_flag_scorer():
    item = Item("1", Question("?"), FLAG_TEXT)
    assert FLAG.score(item, Found(FLAG_TEXT)) == Measured((1.0,))
    assert FLAG.score(item, Absent()) == Measured((0.0,))
    assert isinstance(FLAG.score(Item("1", Question("?")), Found("x")), Missing)


def test_ranks_need_a_score_and_ties_share_one():
    groups, unranked = ranked(
        {"a": 0.9, "b": None, "c": math.nan, "d": 1.0, "e": 0.9, "f": 0.0}, higher_is_better=False
    )
    assert groups == (("f",), ("a", "e"), ("d",))
    assert unranked == ("b", "c")
    assert ranked({"a": 0.9, "d": 1.0})[0] == (("d",), ("a",))
