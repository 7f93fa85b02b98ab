"""Expressions in LaTeX or plain text as trees of numbers, letters and operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

LONGEST = 1_000
"""Characters of an answer; a longer one is compared as a string only."""
_DEEPEST = 40
_MOST_TOKENS = 240


class NotReadError(ValueError):
    """The text is no expression that is known here."""


@dataclass(frozen=True, slots=True)
class Number:
    """A rational number, exactly."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """A letter, a constant (pi, e, i, infty), or a word."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation or function on its arguments: + * / ^ neg sqrt sin ... , and pm for plus or minus."""

    op: str
    args: tuple[Tree, ...]


Tree = Number | Name | Apply

FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "ln",
        "log",
        "exp",
        "floor",
        "ceil",
        "abs",
        "fact",
        "binom",
        "root",
    ]
)
_GREEK = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "vartheta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "phi",
        "varphi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Sigma",
        "Phi",
        "Psi",
        "Omega",
        "ell",
    ]
)
_CONSTANTS = {"pi": "pi", "π": "pi", "infty": "infty", "inf": "infty", "infinity": "infty", "∞": "infty", "oo": "infty"}
_TOKEN = re.compile(
    r"\s+|(?P<number>\d+(?:\.\d+)?|\.\d+)|\\(?P<command>[a-zA-Z]+|[|{}])|(?P<word>[a-zA-Zπ∞√]+)|(?P<sign>[-+*/^_!|(){}\[\],·×÷]|\*\*)",
    re.ASCII,
)
_MIXED = re.compile(r"(?<![\d.^_/])(\d{1,9}) (\d{1,9})/(\d{1,9})(?![\d.^/])", re.ASCII)
"""2 1/2 is two and a half."""
_TIMES = frozenset({"*", "cdot", "times", "·", "×"})
_SPACES = frozenset({"quad", "qquad", "displaystyle", "left", "right", "limits"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: a number, a command (without its backslash), a letter or a sign."""

    kind: str
    text: str


def tokens(text: str) -> list[Token]:
    """The pieces of an expression. Letters of a word that is no known name stand alone.

    Raises:
        NotReadError: there is something else in it.
    """
    found: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NotReadError(f"{text[place]!r} is not part of an expression")
        place = match.end()
        kind = match.lastgroup
        if kind == "word":
            found += _letters(match[0])
        elif kind == "command" and match["command"] not in _SPACES:
            found.append(Token("command", match["command"]))
        elif kind in {"number", "sign"}:
            found.append(Token(kind, match[0]))
    return found


def _letters(word: str) -> list[Token]:
    if word in _CONSTANTS or word in FUNCTIONS or word in {"sqrt", "√"}:
        return [Token("command", "sqrt" if word == "√" else word)]
    return [Token("letter", letter) for letter in word]


def parse(text: str) -> Tree:
    """The tree of one expression.

    Raises:
        NotReadError: it is none.
    """
    if len(text) > LONGEST:
        raise NotReadError("too long")
    pieces = tokens(_MIXED.sub(r"(\1+\2/\3)", text))
    if len(pieces) > _MOST_TOKENS:
        raise NotReadError("too long")
    parser = _Parser(pieces)
    tree = parser.sum(0)
    if parser.here is not None:
        raise NotReadError(f"{parser.here.text} was not expected")
    return tree


class _Parser:
    """Recursive descent; each method reads one level of precedence from `place` on."""

    def __init__(self, pieces: Sequence[Token]) -> None:
        self.pieces, self.place = pieces, 0

    @property
    def here(self) -> Token | None:
        return self.pieces[self.place] if self.place < len(self.pieces) else None

    def take(self, *texts: str) -> bool:
        if self.here is not None and self.here.kind != "letter" and self.here.text in texts:
            self.place += 1
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise NotReadError(f"{text} is missing")

    def sum(self, depth: int) -> Tree:
        if depth > _DEEPEST:
            raise NotReadError("too deep")
        total = self.product(depth)
        while self.here is not None:
            if self.take("+"):
                total = Apply("+", (total, self.product(depth)))
            elif self.take("-"):
                total = Apply("+", (total, Apply("neg", (self.product(depth),))))
            elif self.take("pm", "mp"):
                total = Apply("pm", (total, self.product(depth)))
            else:
                break
        return total

    def product(self, depth: int) -> Tree:
        if self.take("-"):
            return Apply("neg", (self.product(depth),))
        if self.take("+"):
            return self.product(depth)
        if self.take("pm", "mp"):
            return Apply("pm", (Number(Fraction(0)), self.product(depth)))
        result = self.power(depth)
        while self.here is not None:
            if self.take(*_TIMES):
                result = Apply("*", (result, self.signed(depth)))
            elif self.take("/", "div", "÷"):
                result = Apply("/", (result, self.signed(depth)))
            elif self.starts_factor():
                result = self.joined(result, self.power(depth))
            else:
                break
        return result

    def joined(self, one: Tree, other: Tree) -> Tree:
        """What stands side by side: a product, but a whole number before a fraction is a mixed number."""
        mixed = isinstance(one, Number) and isinstance(other, Apply) and other.op == "/"
        if mixed and isinstance(one, Number) and isinstance(other, Apply) and one.value.denominator == 1:
            above, below = other.args
            if isinstance(above, Number) and isinstance(below, Number) and 0 < above.value < below.value:
                return Apply("+", (one, other))
        if isinstance(one, Number) and isinstance(other, Number):
            raise NotReadError("two numbers side by side")
        return Apply("*", (one, other))

    def signed(self, depth: int) -> Tree:
        return Apply("neg", (self.power(depth),)) if self.take("-") else self.power(depth)

    def starts_factor(self) -> bool:
        token = self.here
        if token is None:
            return False
        if token.kind == "sign":
            return token.text in {"(", "{"}
        return token.kind != "command" or token.text not in {"}", "|", "cup", "cap", "rfloor", "rceil", "rvert"}

    def power(self, depth: int) -> Tree:
        base = self.atom(depth + 1)
        while self.take("!"):
            base = Apply("fact", (base,))
        if self.take("^", "**"):
            exponent = self.script(depth + 1)
            base = Apply("^", (base, exponent))
            while self.take("!"):
                base = Apply("fact", (base,))
        return base

    def script(self, depth: int) -> Tree:
        """What stands after ^: a group, or one sign or number, itself perhaps with an exponent."""
        if depth > _DEEPEST:
            raise NotReadError("too deep")
        return Apply("neg", (self.power(depth),)) if self.take("-") else self.power(depth)

    def argument(self, depth: int) -> Tree:
        """An argument of a command: a group, a command, or one digit or letter alone."""
        token = self.here
        if token is not None and token.kind == "number" and len(token.text) > 1 and token.text.isdigit():
            first, rest = Token("number", token.text[0]), Token("number", token.text[1:])
            self.pieces = [*self.pieces[: self.place], first, rest, *self.pieces[self.place + 1 :]]
        return self.atom(depth)

    def atom(self, depth: int) -> Tree:
        if depth > _DEEPEST:
            raise NotReadError("too deep")
        token = self.here
        if token is None:
            raise NotReadError("the expression ends too soon")
        self.place += 1
        if token.kind == "number":
            return Number(Fraction(token.text))
        if token.kind == "letter":
            return self.subscripted(token.text)
        if token.kind == "command":
            return self.command(token.text, depth)
        return self.bracketed(token.text, depth)

    def subscripted(self, name: str) -> Tree:
        if not self.take("_"):
            return Name(name)
        opened = self.take("{")
        token = self.here
        if token is None or token.kind not in {"number", "letter"}:
            raise NotReadError("a subscript is missing")
        self.place += 1
        if opened:
            self.need("}")
        return Name(f"{name}_{token.text}")

    def bracketed(self, sign: str, depth: int) -> Tree:
        closing = {"(": ")", "{": "}", "|": "|"}.get(sign)
        if closing is None:
            raise NotReadError(f"{sign} was not expected")
        inner = self.sum(depth + 1)
        self.need(closing)
        return Apply("abs", (inner,)) if sign == "|" else inner

    def command(self, name: str, depth: int) -> Tree:
        if name in {"frac", "dfrac", "tfrac", "cfrac"}:
            return Apply("/", (self.argument(depth + 1), self.argument(depth + 1)))
        if name in {"binom", "dbinom", "tbinom"}:
            return Apply("binom", (self.argument(depth + 1), self.argument(depth + 1)))
        if name == "sqrt":
            return self.root(depth)
        if name in _CONSTANTS or name in _GREEK:
            return Name(_CONSTANTS[name]) if name in _CONSTANTS else self.subscripted(name)
        pairs = {
            "lfloor": ("floor", "rfloor"),
            "lceil": ("ceil", "rceil"),
            "lvert": ("abs", "rvert"),
            "|": ("abs", "|"),
        }
        if name in pairs:
            op, closing = pairs[name]
            inner = self.sum(depth + 1)
            self.need(closing)
            return Apply(op, (inner,))
        if name in FUNCTIONS:
            return self.function(name, depth)
        raise NotReadError(f"{name} is not known")

    def root(self, depth: int) -> Tree:
        if self.take("["):
            index = self.sum(depth + 1)
            self.need("]")
            return Apply("root", (self.argument(depth + 1), index))
        return Apply("root", (self.argument(depth + 1), Number(Fraction(2))))

    def function(self, name: str, depth: int) -> Tree:
        base: Tree | None = self.argument(depth + 1) if self.take("_") else None
        power = self.script(depth + 1) if self.take("^") else None
        argument = self.power(depth + 1)
        while self.here is not None and self.here.kind in {"letter", "number"} and not isinstance(argument, Apply):
            argument = Apply("*", (argument, self.power(depth + 1)))
        applied = Apply(name, (argument,) if base is None else (argument, base))
        return applied if power is None else Apply("^", (applied, power))
