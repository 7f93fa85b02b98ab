"""Answers of several parts: tuples and intervals, which have an order, and lists, sets and unions, which have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_AND = re.compile(r"\\text\{ *(?:and|or) *\}|\b(?:and|or)\b|;")
_OPENING, _CLOSING = "([{", ")]}"
_MOST_PARTS = 64


@dataclass(frozen=True, slots=True)
class Group:
    """Several parts within brackets: a tuple, an interval, a set, a matrix's rows. A set has no order."""

    opening: str
    closing: str
    parts: tuple[str, ...]

    @property
    def ordered(self) -> bool:
        """Whether its parts have places."""
        return self.opening not in {"", "{"}


def group_of(text: str) -> Group | None:
    """The parts of the text where it holds more than one, or is a set; None where it is one expression."""
    union = _split(text, "\\cup")
    if len(union) > 1:
        return Group("{", "}", tuple(union))
    listed = [part for piece in _AND.split(text) for part in _split(piece, ",") if part]
    if len(listed) > 1:
        return Group("", "", tuple(listed))
    inner = text.strip().replace("\\{", "{").replace("\\}", "}")
    if text.strip().startswith("\\{") and inner.endswith("}"):
        return Group("{", "}", tuple(part for part in _split(inner[1:-1], ",") if part))
    if inner[:1] in {"(", "["} and inner[-1:] in {")", "]"}:
        parts = _split(inner[1:-1], ",")
        if len(parts) > 1:
            return Group(inner[0], inner[-1], tuple(parts))
    pm = _split(text, "\\pm")
    if len(pm) == 2:  # noqa: PLR2004
        return Group("", "", (f"{pm[0]}+({pm[1]})", f"{pm[0]}-({pm[1]})"))
    return None


def _split(text: str, mark: str) -> list[str]:
    """The text cut at a mark that stands in no brackets; unbalanced brackets are never cut."""
    parts, depth, start, place = [], 0, 0, 0
    while place < len(text):
        if text[place] in _OPENING:
            depth += 1
        elif text[place] in _CLOSING:
            depth -= 1
        elif depth == 0 and text.startswith(mark, place):
            parts.append(text[start:place].strip())
            start = place + len(mark)
            place = start - 1
        place += 1
    return [*parts, text[start:].strip()][:_MOST_PARTS] if depth == 0 else [text.strip()]


def matched(one: Sequence[str], other: Sequence[str], same: Callable[[str, str], bool]) -> bool:
    """Whether each part of one has a part of the other to itself."""
    left = list(other)
    for part in one:
        twin = next((place for place, candidate in enumerate(left) if same(part, candidate)), None)
        if twin is None:
            return False
        del left[twin]
    return not left
