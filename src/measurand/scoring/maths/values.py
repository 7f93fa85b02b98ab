"""The value of an expression: exact where it is rational, else a complex number with a bound on its error."""

from __future__ import annotations

import cmath
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from measurand.scoring.maths.expressions import Name, Number, Tree

_UNIT = 2.0**-51
"""What one operation on floats may be off by, relatively."""
_MOST_BITS = 4096
"""How long the parts of an exact number may become; beyond, and it is taken as a float or not at all."""
_LARGEST_FACTORIAL = 500


class NoValueError(ValueError):
    """The expression has no value that can be worked out: division by zero, too large, infinite."""


@dataclass(frozen=True, slots=True)
class Approximate:
    """A complex number and how far it may be off."""

    value: complex
    error: float

    def __post_init__(self) -> None:
        if not (cmath.isfinite(self.value) and math.isfinite(self.error)):
            raise NoValueError("not finite")


Value = Fraction | Approximate
INFINITY = "infty"


def value_of(tree: Tree, letters: Mapping[str, Fraction]) -> Value:
    """The value of the tree, with values for its letters.

    Raises:
        NoValueError: there is none, or it would take too long.
    """
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        return _named(tree.name, letters)
    arguments = [value_of(argument, letters) for argument in tree.args]
    try:
        return _apply(tree.op, arguments)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise NoValueError(str(error)) from error


def _named(name: str, letters: Mapping[str, Fraction]) -> Value:
    if name in letters:
        return letters[name]
    constants: dict[str, complex] = {"pi": math.pi, "e": math.e, "i": 1j}
    if name not in constants:
        raise NoValueError(f"{name} has no value")
    return Approximate(constants[name], 0.0 if name == "i" else _UNIT)


def letter_value(name: str, draw: int) -> Fraction:
    """A value for a letter, of either sign and the same on every machine: from 1/4 to 13/4 in size."""
    seed = int.from_bytes(hashlib.sha256(f"{name}:{draw}".encode()).digest()[:4], "big")
    size = Fraction(1, 4) + Fraction(seed % 2999, 1000)
    return -size if seed & (1 << 20) else size


def close(one: Value, other: Value) -> bool:
    """Whether the values are equal: exactly where both are rational, else as far as their errors tell."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    try:
        a, b = _approximate(one), _approximate(other)
    except NoValueError:  # a fraction beyond floating point is near to nothing that is known by one
        return False
    return abs(a.value - b.value) <= 64 * (a.error + b.error)


def _approximate(value: Value) -> Approximate:
    if isinstance(value, Approximate):
        return value
    try:
        number = float(value)
    except OverflowError as error:
        raise NoValueError("too large") from error
    if number == 0 and value != 0:
        raise NoValueError("too small")
    return Approximate(number, abs(number) * _UNIT)


def _apply(op: str, arguments: list[Value]) -> Value:
    exact = [argument for argument in arguments if isinstance(argument, Fraction)]
    if len(exact) == len(arguments):
        found = _exactly(op, exact)
        if found is not None:
            return _bounded(found)
    if op == "^" and isinstance(arguments[1], Fraction) and arguments[1].denominator == 1 and abs(arguments[1]) < 64:  # noqa: PLR2004
        return _whole_power(_approximate(arguments[0]), int(arguments[1]))
    return _roughly(op, [_approximate(argument) for argument in arguments])


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise NoValueError("too large")
    return value


def _exactly(op: str, arguments: list[Fraction]) -> Fraction | None:  # noqa: C901, PLR0911  # one line for each operation
    """The rational result of rational arguments; None where it is not rational, or not known to be."""
    one, other = arguments[0], arguments[-1]
    match op:
        case "+":
            return one + other
        case "*":
            return one * other
        case "/":
            return one / other
        case "neg":
            return -one
        case "abs":
            return abs(one)
        case "floor":
            return Fraction(math.floor(one))
        case "ceil":
            return Fraction(math.ceil(one))
        case "^":
            return _exact_power(one, other)
        case "root":
            return _exact_root(one, other)
        case "fact" | "binom":
            return _combinatorial(op, one, other)
    return None


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1:
        root = _exact_root(base, Fraction(exponent.denominator))
        return None if root is None else _exact_power(root, Fraction(exponent.numerator))
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if base not in {0, 1, -1} and size * abs(exponent) > _MOST_BITS:
        raise NoValueError("too large")
    if base in {1, -1}:
        return base if exponent % 2 else Fraction(1)
    return Fraction(base ** int(exponent))


def _exact_root(base: Fraction, index: Fraction) -> Fraction | None:
    if index.denominator != 1 or not 1 <= index <= 64:  # noqa: PLR2004  # larger ones are left to floats
        return None
    if base < 0:
        odd = None if index % 2 == 0 else _exact_root(-base, index)
        return None if odd is None else -odd
    parts = [_whole_root(part, int(index)) for part in (base.numerator, base.denominator)]
    return None if None in parts else Fraction(parts[0] or 0, parts[1] or 1)


def _whole_root(number: int, index: int) -> int | None:
    low, high = 0, 1 << (number.bit_length() // index + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**index < number:
            low = middle + 1
        else:
            high = middle
    return low if low**index == number else None


def _combinatorial(op: str, one: Fraction, other: Fraction) -> Fraction:
    if any(number.denominator != 1 or not 0 <= number <= _LARGEST_FACTORIAL for number in (one, other)):
        raise NoValueError("not a count, or too large")
    return Fraction(math.factorial(int(one)) if op == "fact" else math.comb(int(one), int(other)))


def _whole_power(base: Approximate, exponent: int) -> Approximate:
    value = base.value**exponent
    slope = abs(exponent) * abs(base.value) ** (exponent - 1) if base.value else 0.0
    return Approximate(value, slope * base.error + abs(value) * _UNIT * max(1, abs(exponent)))


def _log(value: complex, base: complex = math.e) -> complex:
    return cmath.log(value) / (1.0 if base == math.e else cmath.log(base))


def _real_root(value: complex, index: complex) -> complex:
    """The real root of a negative number where the index is odd, as schools take it; else the principal one."""
    odd = index.imag == 0 and index.real % 2 == 1 and value.imag == 0 and value.real < 0
    return -((-value) ** (1 / index)) if odd else value ** (1 / index)


_FUNCTIONS: dict[str, Callable[..., complex]] = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "neg": lambda a: -a,
    "^": lambda a, b: a**b, "abs": lambda a: complex(abs(a)), "root": _real_root, "ln": _log,
    "log": lambda a, b=10: _log(a, b), "exp": cmath.exp,
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "cot": lambda a: 1 / cmath.tan(a),
    "sec": lambda a: 1 / cmath.cos(a), "csc": lambda a: 1 / cmath.sin(a),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan,
    "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "floor": lambda a: complex(math.floor(a.real)), "ceil": lambda a: complex(math.ceil(a.real)),
}  # fmt: skip


def _roughly(op: str, arguments: list[Approximate]) -> Approximate:
    """The result, and its error: that of each argument as it shows in the result, and of the operation itself."""
    if op not in _FUNCTIONS:
        raise NoValueError(f"{op} takes whole numbers")
    function = _FUNCTIONS[op]
    values = [argument.value for argument in arguments]
    result = complex(function(*values))
    error = abs(result) * _UNIT
    if op == "+":
        error = max(map(abs, values)) * _UNIT + sum(argument.error for argument in arguments)
        return Approximate(result, error)
    for place, argument in enumerate(arguments):
        step = max(argument.error, abs(argument.value) * 1e-9)
        if argument.error:
            moved = [value + step if place == other else value for other, value in enumerate(values)]
            error += abs(complex(function(*moved)) - result) * (argument.error / step)
    return Approximate(result, error)
