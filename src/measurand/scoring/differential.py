"""Tests that ask a candidate and a reference for the same things, as EvalPlus does (Liu et al. 2023)."""

from __future__ import annotations

from string import Template

_TEST = Template('''\
from copy import deepcopy
from math import inf, nan

_reference = {"__name__": "reference"}
exec(compile($reference, "reference.py", "exec"), _reference)
_inputs = $inputs


def near(got, expected, atol):
    """Equal, or numbers (or sequences of them) that differ by no more than rounding does."""
    if got == expected:
        return True
    if isinstance(expected, (list, tuple)):
        alike = isinstance(got, (list, tuple)) and len(got) == len(expected)
        return alike and all(near(*pair, atol) for pair in zip(got, expected))
    numbers = isinstance(expected, (int, float, complex)) and isinstance(got, (int, float, complex))
    return numbers and abs(expected) < inf and abs(got - expected) <= atol + 1e-7 * abs(expected)


def floats(value):
    """Whether a tolerance is due although none is stated."""
    return isinstance(value, float) or (
        isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(one, float) for one in value)
    )


def usual(got, expected, arguments):
    atol = $atol or (1e-6 if floats(expected) else 0)
    return got == expected or (atol > 0 and type(got) is type(expected) and near(got, expected, atol))


$oracle


def check(candidate):
    for number, arguments in enumerate(_inputs):
        expected = _reference[$entry_point](*deepcopy(arguments))
        got = candidate(*deepcopy(arguments))
        assert agrees(got, expected, arguments), f"input {number}"
''')


def differential_test(reference: str, entry_point: str, inputs: str, atol: float, oracle: str = "") -> str:
    """The source of a test: a candidate must agree with a reference on every input.

    Args:
        reference: Source that defines `entry_point` rightly. It runs in the test's jail, in a namespace of its own.
        entry_point: The function's name.
        inputs: A Python expression (with `inf` and `nan`): a list of lists of arguments.
        atol: How far numbers may be apart; relatively it is 1e-7. For floats 0 means 1e-6, as in EvalPlus.
        oracle: Source of `agrees(got, expected, arguments)`, where more than one answer is right; it may call `usual`.
    """
    return _TEST.substitute(
        reference=repr(reference),
        inputs=inputs,
        atol=repr(atol),
        oracle=oracle or "agrees = usual",
        entry_point=repr(entry_point),
    )
