"""Grids of ARC: what is read from a reply, what is no grid, and how two attempts are counted."""

import json
from typing import Any

import pytest

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.grids import (
    ATTEMPTED_GRIDS,
    OUTPUTS,
    TASK_MEAN,
    WHOLE_TASK,
    attempts_text,
    grid_of,
    read_grid,
    solved,
)
from tests.growth import assert_grows_gently
from tests.scoring.test_hostile import JUNK

READ: list[tuple[str, Any]] = [
    ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ("First [[1]] and then\n```json\n[[7, 8],\n [9, 0]]\n```\nDone.", [[7, 8], [9, 0]]),
    ('{"output": [[0]]}', [[0]]),
    (r"\boxed{[[5,5]]}", [[5, 5]]),
    ('[["1","2"]]', [[1, 2]]),
    ("[ [1],\n\t[2] ]", [[1], [2]]),
    ("The grid:\n1 2 3\n4 5 6\nThat is all.", [[1, 2, 3], [4, 5, 6]]),
    ("```\n010\n101\n```", [[0, 1, 0], [1, 0, 1]]),
    ("| 1 | 2 |\n| 3 | 4 |", [[1, 2], [3, 4]]),
    ("[[1 2]\n [3 4]]", [[1, 2], [3, 4]]),
    ("[[1, 2],\n [3, 4],]", [[1, 2], [3, 4]]),
    ("1 2\n\nand\n\n3 4", [[3, 4]]),
    (str([[3] * 30] * 30), [[3] * 30] * 30),
]
NO_GRID = [
    "", "none", "[[1, 2], [3]]", "[[1, 12]]", "[[1, -1]]", "[[1.0]]", "[[true]]", "[[null]]", "[[]]", "[]", "[1, 2]",
    str([[1] * 31]), str([[1]] * 31), "10 11\n12 13", "[[[1]]]", "1 2\n3", "[[1]] then [[1, 2], [3]]", '[["12"]]',
]  # fmt: skip


@pytest.mark.parametrize(("text", "grid"), READ)
def test_the_last_grid_is_read(text: str, grid: Any) -> None:
    assert read_grid(text) == grid


@pytest.mark.parametrize("text", NO_GRID)
def test_nothing_is_padded_cut_or_made_up(text: str) -> None:
    assert read_grid(text) is None


@pytest.mark.parametrize("junk", [*JUNK, "[[", "[[1],", "1 2\n", "1", "[[1]]\n"], ids=ascii)
def test_long_junk_is_read_in_time(junk: str) -> None:
    assert_grows_gently(lambda size: read_grid((junk * size)[:size]), 100_000)


def item(*golds: Any) -> Item:
    return Item("x", Question("q"), gold=list(golds))


def test_each_attempt_is_read_apart_and_without_its_reasoning() -> None:
    replies = [["<think>[[9]]</think>[[1]]", "no idea"], ["<think>[[2]]", "[[2]]"]]
    assert ATTEMPTED_GRIDS.read(item(), Answer(attempts_text(replies))) == Found([[[[1]], None], [None, [[2]]]])


@pytest.mark.parametrize("text", ["", "null", "{}", attempts_text([["x", "y"]]), "[" * 10_000])
def test_an_answer_without_grids_is_absent(text: str) -> None:
    assert isinstance(ATTEMPTED_GRIDS.read(item(), Answer(text)), Absent)


def test_three_rules_of_aggregation_from_one_reading() -> None:
    task = item([[1]], [[2]])
    found = Found([[[[0]], [[1]]], [[[1, 2]], None]])
    assert solved(found.value, task.gold) == [True, False]
    assert WHOLE_TASK.score(task, found) == Measured((0.0,))
    assert TASK_MEAN.score(task, found) == Measured((0.5,))
    assert OUTPUTS.score(task, found) == Measured((1.0, 2.0))


def test_size_counts_and_missing_inputs_are_wrong() -> None:
    assert solved([[[[1, 1]]]], [[[1, 1]]]) == [True]
    assert solved([[[[1], [1]]]], [[[1, 1]]]) == [False]
    assert solved([[[[1]]]], [[[1]], [[1]]]) == [True, False]
    assert solved([], [[[1]]]) == [False]
    assert solved([[[[1]]], [[[1]]], [[[1]]]], [[[1]]]) == [True]


def test_a_gold_that_is_no_grid_is_missing() -> None:
    for gold in (None, [], [[[1], [2, 3]]], "x"):
        value = WHOLE_TASK.score(Item("x", Question("q"), gold=gold), Found([]))
        assert isinstance(value, Missing)


def test_a_grid_is_its_own_json() -> None:
    assert grid_of(json.loads("[[1,2],[3,4]]")) == [[1, 2], [3, 4]]
