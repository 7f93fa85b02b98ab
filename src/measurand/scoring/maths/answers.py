"""Whether two final answers are equal: numbers, tuples, sets, matrices, relations, expressions in letters, words.

The house rule. Values are exact where they are rational; expressions with letters are compared at fixed points
(Schwartz 1980: two that agree at random points are the same but for a negligible chance).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from measurand.scoring.maths.cleaning import LABEL, bare, plain, without_unit
from measurand.scoring.maths.expressions import LONGEST, Apply, Name, NotReadError, Tree, parse
from measurand.scoring.maths.parts import group_of, matched
from measurand.scoring.maths.values import INFINITY, NoValueError, Value, close, letter_value, value_of

_POINTS = 4
_RELATIONS = re.compile(r"(<=|>=|!=|\\leq?(?![a-z])|\\geq?(?![a-z])|\\neq?(?![a-z])|\\in(?![a-z])|\\approx|[=<>≤≥≠])")
_SAME_RELATION = {
    "\\leq": "<=", "\\le": "<=", "≤": "<=", "\\geq": ">=", "\\ge": ">=", "≥": ">=",
    "\\neq": "!=", "\\ne": "!=", "≠": "!=",
}  # fmt: skip
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_BASED = re.compile(r"(-?[0-9A-Z]*\.?[0-9A-Z]+)_\{?(\d{1,2})\}?")
_MATRIX = re.compile(r"\\begin\{(?:[pbvB]?matrix|array|smallmatrix)\}(?:\{[clr| ]*\})?(.*?)\\end\{[a-zB]+\}", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SCIENTIFIC = re.compile(r"(-?\d{1,40}(?:\.\d{1,40})?)[eE]([+-]?\d{1,4})", re.ASCII)
_REPEATING = re.compile(r"(\d{0,20})\.(\d{0,20})\\overline\{(\d{1,20})\}", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]")
_LONGEST_TEXT = 4 * LONGEST
"""A longer text is no answer, and is not even cleaned."""


def answers_equal(gold: str, given: str) -> bool:
    """Whether `given` is the same answer as `gold`. The order matters for a base alone, which the gold may add."""
    if max(len(gold), len(given)) > _LONGEST_TEXT:
        return gold.strip() == given.strip()
    one, other = bare(gold), bare(given)
    if plain(one) == plain(other):
        return bool(plain(one))
    if not one or not other or len(one) > LONGEST or len(other) > LONGEST:
        return False
    return any(_same(a, b, 0) for a in _forms(one) for b in _forms(other))


def vote_of(text: str) -> str:
    """A key under which equal answers fall together, for a vote: the value where there is one, else the words.

    Numbers fall together by value, expressions with letters by their values at the fixed points, to nine digits.
    """
    if len(text) > _LONGEST_TEXT:
        return text.strip()
    cleaned = bare(text)
    cleaned = without_unit(cleaned)
    try:
        tree = parse(_digits(cleaned))
    except NotReadError:
        return plain(cleaned)
    names = sorted(_names(tree))
    values = list(_values(tree, names))
    if len(values) < (_POINTS if names else 1):
        return plain(cleaned)
    return " ".join([*names, *map(_rounded, values)])


def _rounded(value: Value) -> str:
    if isinstance(value, Fraction):
        return str(value)
    return f"{value.value.real:.9g}{value.value.imag:+.9g}i"


def _forms(text: str) -> Iterator[str]:
    """The text, and what else it may be: without its unit, a label, a number in e-notation, an interval."""
    yield text
    shorter = without_unit(text)
    if shorter != text:
        yield shorter
    if label := LABEL.fullmatch(text):
        yield label[1]
    if scientific := _SCIENTIFIC.fullmatch(text):
        yield f"{scientific[1]}*10^{{{int(scientific[2])}}}"
    if (interval := _interval(_sides(text))) is not None:
        yield interval


def _same(one: str, other: str, depth: int) -> bool:
    if plain(one) == plain(other):
        return True
    if depth > 4:  # noqa: PLR2004  # deeper than any answer
        return False
    for compare in (_same_base, _same_matrix, _same_group, _same_relation):
        verdict = compare(one, other, depth)
        if verdict is not None:
            return verdict
    return _same_value(one, other)


def _same_base(one: str, other: str, _: int) -> bool | None:
    """Numerals of a stated base: both digits and base; what is given without a base is read in the gold's."""
    first, second = _BASED.fullmatch(plain(one)), _BASED.fullmatch(plain(other))
    if first and second:
        return first.groups() == second.groups()
    if first:
        return first[1] == plain(other)
    return False if second else None


def _same_matrix(one: str, other: str, depth: int) -> bool | None:
    first, second = _rows(one), _rows(other)
    if first is None and second is None:
        return None
    if first is None or second is None or [len(row) for row in first] != [len(row) for row in second]:
        return False
    pairs = [pair for row, twin in zip(first, second, strict=True) for pair in zip(row, twin, strict=True)]
    return all(_same(a, b, depth + 1) for a, b in pairs)


def _rows(text: str) -> list[list[str]] | None:
    text = text.strip()
    match = _MATRIX.fullmatch(text[1:-1].strip() if text[:1] in {"(", "["} and text[-1:] in {")", "]"} else text)
    if match is None:
        return None
    lines = [line for line in re.split(r"\\\\", match[1]) if line.strip()]
    return [[bare(cell) for cell in line.split("&")] for line in lines]


def _same_relation(one: str, other: str, depth: int) -> bool | None:
    first, second = _sides(one), _sides(other)
    if len(first) == len(second) == 1:
        return None
    if len(first) == len(second):
        turned = [_TURNED.get(part, part) for part in reversed(second)]
        return any(_all_same(first, sides, depth) for sides in (second, turned)) or _proportional(first, second)
    # x = 5, or x \in [0, 1], is 5 and [0, 1], where the other side says nothing of x.
    longer, shorter = (first, other) if len(first) > len(second) else (second, one)
    named = len(longer) == 3 and longer[1] in {"=", "\\in"} and re.fullmatch(r"\\?[A-Za-z]+(?:\([a-z]\))?", longer[0])  # noqa: PLR2004
    return _same(longer[2], shorter, depth + 1) if named and min(len(first), len(second)) == 1 else False


def _sides(text: str) -> list[str]:
    """Sides and relations in turn."""
    parts = [part.strip() for part in _RELATIONS.split(text)]
    return [_SAME_RELATION.get(part, part) for part in parts]


def _all_same(one: Sequence[str], other: Sequence[str], depth: int) -> bool:
    relations = one[1::2] == other[1::2]
    return relations and all(_same(a, b, depth + 1) for a, b in zip(one[::2], other[::2], strict=True))


def _proportional(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two equations say the same: left minus right of one is a fixed multiple of that of the other."""
    if len(one) != 3 or one[1] != "=" or other[1] != "=":  # noqa: PLR2004
        return False
    try:
        trees = [Apply("+", (parse(side[0]), Apply("neg", (parse(side[2]),)))) for side in (one, other)]
    except NotReadError:
        return False
    ratio = Apply("/", (trees[0], trees[1]))
    names = sorted(_names(ratio))
    if not names or _names(trees[0]) != _names(trees[1]):
        return False
    ratios = list(_values(ratio, names))
    return len(ratios) > 1 and all(close(ratios[0], value) for value in ratios[1:]) and not close(ratios[0], _ZERO)


def _interval(sides: Sequence[str]) -> str | None:
    """The interval of 2 < x, x <= 3 or 1 <= x < 3; None of anything else."""
    if len(sides) == 3 and sides[1] in _TURNED:  # noqa: PLR2004
        left, relation, right = sides
        if _LETTER.fullmatch(right):
            left, relation, right = right, _TURNED[relation], left
        if not _LETTER.fullmatch(left):
            return None
        below = relation.startswith("<")
        bracket = "]" if below else "["
        bound = bracket if relation.endswith("=") else (")" if below else "(")
        return f"(-\\infty,{right}{bound}" if below else f"{bound}{right},\\infty)"
    if len(sides) == 5 and _LETTER.fullmatch(sides[2]) and sides[1][0] == sides[3][0] and sides[1][0] in "<>":  # noqa: PLR2004
        low, first, _, second, high = sides if sides[1][0] == "<" else tuple(reversed(sides))
        return f"{'[' if first.endswith('=') else '('}{low},{high}{']' if second.endswith('=') else ')'}"
    return None


def _same_group(one: str, other: str, depth: int) -> bool | None:
    """Tuples and intervals by place, lists and sets in any order, unions part by part."""
    first, second = group_of(one), group_of(other)
    if first is None and second is None:
        return None
    if _NUMBER.fullmatch(plain(one)) or _NUMBER.fullmatch(plain(other)):
        one, other = (text.replace(",", "") if _NUMBER.fullmatch(plain(text)) else text for text in (one, other))
        if group_of(one) is None and group_of(other) is None and _same_value(one, other):
            return True
    if first is None or second is None:
        related = len(_sides(one)) > 1 or len(_sides(other)) > 1
        return None if related else False
    if len(first.parts) != len(second.parts):
        return False
    same = _compare(depth)
    if first.ordered and second.ordered:
        brackets = (first.opening, first.closing) == (second.opening, second.closing)
        return brackets and all(map(same, first.parts, second.parts))
    return first.ordered == second.ordered and matched(first.parts, second.parts, same)


def _compare(depth: int) -> Callable[[str, str], bool]:
    return lambda one, other: _same(one, other, depth + 1)


def _same_value(one: str, other: str) -> bool:
    """Whether two expressions have the same value at every point tried."""
    try:
        first, second = parse(_digits(one)), parse(_digits(other))
    except NotReadError:
        return False
    infinite = [_infinite(tree) for tree in (first, second)]
    if any(infinite):
        return infinite[0] == infinite[1]
    names = sorted(_names(first) | _names(second))
    pairs = list(zip(_values(first, names), _values(second, names), strict=False))
    points = _POINTS if names else 1
    return len(pairs) == points and all(close(*pair) for pair in pairs)


def _digits(text: str) -> str:
    """The text with its thousands together and its repeating decimals as fractions."""
    return _REPEATING.sub(_as_fraction, text.replace(",", "") if _NUMBER.fullmatch(text) else text)


def _as_fraction(match: re.Match[str]) -> str:
    whole, fixed, period = (part or "" for part in match.groups())
    nines = (10 ** len(period) - 1) * 10 ** len(fixed)
    return f"({int(whole + fixed + period or '0') - int(whole + fixed or '0')}/{nines})"


def _infinite(tree: Tree) -> int:
    """1 for infinity, -1 for its opposite, 0 for all else."""
    if isinstance(tree, Apply) and tree.op == "neg":
        return -_infinite(tree.args[0])
    return int(isinstance(tree, Name) and tree.name == INFINITY)


def _names(tree: Tree) -> set[str]:
    """The letters that need a value."""
    if isinstance(tree, Name):
        return {tree.name} - {"pi", "e", "i"}
    return {name for argument in tree.args for name in _names(argument)} if isinstance(tree, Apply) else set()


def _values(tree: Tree, names: Sequence[str]) -> Iterator[Value]:
    """The values at the points; ends at the first point that has none."""
    for draw in range(_POINTS if names else 1):
        try:
            yield value_of(tree, {name: letter_value(name, draw) for name in names})
        except NoValueError:
            return


_ZERO = value_of(parse("0"), {})
