"""A differential test, run here in one process: candidate and reference are ours."""

import math
from typing import Any

import pytest

from measurand.sandboxes.jail.codec import Opaque
from measurand.scoring.differential import differential_test

HALF = "def f(x):\n    return x / 2 if x else None\n"


def outcome(returns: Any, *, reference: str = HALF, inputs: str = "[[3]]", atol: float = 0, oracle: str = "") -> bool:
    space: dict[str, Any] = {}
    exec(differential_test(reference, "f", inputs, atol, oracle), space)
    try:
        space["check"](returns if callable(returns) else lambda *_: returns)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("got", "right"),
    [(1.5, True), (1.5 + 1e-9, True), (1.5 + 1e-5, False), (1, False), ("1.5", False), (None, False), (math.nan, False), (Opaque("C"), False)],
)  # fmt: skip
def test_a_float_may_be_off_by_rounding(got: Any, right: object) -> None:
    assert outcome(got) is right


@pytest.mark.parametrize(
    ("reference", "got", "right"),
    [
        ("[1.0, 2.0]", [1.0, 2.0 + 1e-9], True),
        ("[1.0, 2.0]", (1.0, 2.0 + 1e-9), False),
        ("[1.0, 2.0]", [1.0], False),
        ("[1.0, 'a']", [1.0 + 1e-9, "a"], False),
        ("(1, 2)", (1, 2), True),
        ("(1, 2)", [1, 2], False),
        ("3", 3.0, True),
        ("3", True, False),
        ("3", 3.0000001, False),
        ("inf", math.inf, True),
        ("-inf", math.inf, False),
        ("{1, 2}", {2, 1}, True),
        ("None", None, True),
        ("None", Opaque("C"), False),
    ],
)
def test_all_else_must_be_equal(reference: str, got: Any, right: object) -> None:
    assert outcome(got, reference=f"from math import inf\ndef f(x):\n    return {reference}\n") is right


def test_a_stated_tolerance_holds_for_whole_numbers_and_inside_lists() -> None:
    assert outcome([1, 2.00009], reference="def f(x):\n    return [1, 2.0]\n", atol=1e-4)
    assert not outcome([1, 2.0002], reference="def f(x):\n    return [1, 2.0]\n", atol=1e-4)


def test_every_input_counts_and_arguments_are_nobody_elses() -> None:
    def spoils(xs: list[int]) -> int:
        total = sum(xs)
        xs.clear()
        return total

    adds = "def f(xs):\n    total = sum(xs)\n    xs.append(1)\n    return total\n"
    assert outcome(spoils, reference=adds, inputs="[[[1, 2]], [[1, 2]], [[]]]")
    assert not outcome(lambda xs: 3, reference=adds, inputs="[[[1, 2]], [[1, 2]], [[]]]")


def test_the_reference_has_names_of_its_own() -> None:
    """It calls itself, not the candidate, and uses the names that the test uses."""
    recursive = "def near(x):\n    return 1\ndef f(x):\n    return near(x) if x < 1 else x * f(x - 1)\n"
    assert outcome(24, reference=recursive, inputs="[[4]]")
    assert not outcome(lambda x: 0, reference=recursive, inputs="[[4]]")


def test_inputs_may_be_infinite_and_an_oracle_may_accept_more() -> None:
    least = "def f(a, b):\n    return min(a, b)\n"
    assert outcome(min, reference=least, inputs="[[-inf, inf], [(1, 2), (0,)]]")
    either = "def agrees(got, expected, arguments):\n    return usual(got, expected, arguments) or got in arguments\n"
    assert outcome(max, reference=least, inputs="[[1, 2]]", oracle=either)
    assert not outcome(max, reference=least, inputs="[[1, 2]]")
    assert not outcome(lambda a, b: 3, reference=least, inputs="[[1, 2]]", oracle=either)
