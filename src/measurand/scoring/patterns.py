"""A user's own regular expression, as a reader and as a scorer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from measurand.core.benchmark import Reader, Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.folding import reader

LONGEST = 20_000
"""How many characters of a text a user's pattern is let loose on: the first, or for the last match the last."""

_UNBOUNDED = re.compile(r"[*+]|\{\d*,\}")
_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|<?[=!]|[a-zA-Z-]*:|>))?|\)|[*+]|\{\d*,\d*\}|.", re.DOTALL
)


def _pieces(pattern: str) -> Iterator[str]:
    for piece in _PIECE.finditer(pattern):
        yield piece[0]


def _check(pattern: str) -> re.Pattern[str]:
    """The pattern, unless it repeats without bound what itself repeats or branches: (a+)*, (a|aa)+."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise InputError(f"the pattern {pattern!r} is not a regular expression: {error}") from error
    restless, closed = [False], False
    for piece in _pieces(pattern):
        if _UNBOUNDED.fullmatch(piece):
            if closed:
                raise InputError(
                    f"the pattern {pattern!r} repeats a group that itself repeats or branches, which can take for "
                    "ever on a reply; write it without the outer repetition"
                )
            restless[-1] = True
        closed = False
        if piece.startswith("("):
            restless.append(False)
        elif piece == ")" and len(restless) > 1:
            closed = restless.pop()
            restless[-1] = restless[-1] or closed
        elif piece == "|":
            restless[-1] = True
    return compiled


def captured(pattern: str, which: Literal["first", "last"] = "last") -> Reader:
    """Reads the first or last match of a regular expression: its first group, or all of it where it has none.

    Only the last (or first) 20,000 characters are searched.

    Raises:
        InputError: the pattern is not valid, or could take for ever.
    """
    compiled = _check(pattern)

    def read(_: Item, text: str) -> Finding:
        start = max(0, len(text) - LONGEST) if which == "last" else 0
        matches = compiled.finditer(text, start, start + LONGEST)
        found = [next(matches, None)] if which == "first" else list(matches)[-1:]
        match, group = found[0] if found else None, min(1, compiled.groups)
        if match is None or match[group] is None:
            return Absent("no match")
        return Found(match[group], match.span(group))

    return reader(f"captured({which} {pattern})", 1, read)


def regex(pattern: str) -> Scorer:
    """1 where the regular expression matches somewhere in the first 20,000 characters, else 0; row: (matched,).

    Raises:
        InputError: the pattern is not valid, or could take for ever.
    """
    compiled = _check(pattern)

    def score(_: Item, finding: Finding) -> Measured | Missing:
        text = str(finding.value) if isinstance(finding, Found) else ""
        return Measured((float(isinstance(finding, Found) and compiled.search(text, 0, LONGEST) is not None),))

    return Scorer(f"regex({pattern})", 1, score)
