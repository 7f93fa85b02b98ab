"""Reading a final answer: the last box, the sentence of Minerva's prompt, or where an answer is stated."""

from __future__ import annotations

import re

from measurand.core.item import Item
from measurand.core.trial import Absent, Finding, Found
from measurand.scoring.folding import MOST_STATEMENTS, REACH, STATED, by_question, moved, reader

_BOX = re.compile(r"\\(?:boxed|fbox)[ ]?")
_TRIES = 8
"""How many boxes are tried, from the last: one that is never closed was cut off."""
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_FORMULA = re.compile(r"\$([^$\n]+)\$|\\\(([^\n]+?)\\\)")
_SHORT = 200
"""Characters of a reply that is nothing but an answer."""
_MINERVA, _HOPE = "Final Answer: The final answer is", "I hope it is correct."


def boxed(text: str) -> Finding:
    r"""What the last closed \boxed{...} or \fbox{...} holds; without braces, what follows up to white space or $."""
    boxes = list(_BOX.finditer(text))
    for box in reversed(boxes[-_TRIES:]):
        start = box.end()
        if text[start : start + 1] != "{":
            bare = re.match(r"[^\s$]+", text[start:])
            if bare and box[0].endswith(" "):
                return Found(bare[0], (start, start + bare.end()))
            continue
        end = _closing(text, start)
        if end is not None:
            return _stripped(text, start + 1, end)
    return Absent("no box" if not boxes else "the box was never closed")


def _closing(text: str, start: int) -> int | None:
    """Where the brace that opens at `start` is closed; braces after a backslash do not count."""
    depth = 0
    for brace in _BRACES.finditer(text, start):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0:
            return brace.start()
    return None


def _stripped(text: str, start: int, end: int) -> Finding:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    inner = inner.strip()
    return Found(inner, (start, start + len(inner))) if inner else Absent("empty")


def _read_boxed(_: Item, text: str) -> Finding:
    return boxed(text)


def _read_minerva(_: Item, text: str) -> Finding:
    place = text.find(_MINERVA)
    while place >= 0:
        start = place + len(_MINERVA)
        line = text.find("\n", start)
        end = text.find(_HOPE, start, line if line >= 0 else len(text))
        if end >= 0 or line < 0:
            return _bare(text, start, end if end >= 0 else len(text))
        place = text.find(_MINERVA, start)
    return Absent("no final answer")


def _bare(text: str, start: int, end: int) -> Finding:
    """The part without white space, its full stop and the dollars around it."""
    part = text[start:end].rstrip()
    finding = _stripped(text, start, start + len(part.removesuffix(".")))
    inner = finding.value if isinstance(finding, Found) else ""
    if isinstance(finding, Found) and finding.span and len(inner) > 2 and inner[0] == inner[-1] == "$":  # noqa: PLR2004
        return _stripped(text, finding.span[0] + 1, finding.span[1] - 1)
    return finding


def _read_answer(_: Item, text: str) -> Finding:
    for offset, part in by_question(text):
        finding = boxed(part)
        if finding == Absent("no box"):
            finding = _stated(part) or _last_formula(part)
        if isinstance(finding, Found):
            return moved(finding, offset)
    return Absent("no answer")


def _stated(text: str) -> Finding | None:
    """What stands after the last place where an answer is stated: its formula, or the rest of the line."""
    for match in list(STATED.finditer(text))[: -MOST_STATEMENTS - 1 : -1]:
        start = match.end() + len(text[match.end() :]) - len(text[match.end() :].lstrip(" \t\r\n*_"))
        line = text[start : start + REACH].partition("\n")[0].partition(_HOPE)[0]
        formula = _FORMULA.search(line)
        if formula is not None:
            place = 1 if formula[1] is not None else 2
            return _stripped(text, start + formula.start(place), start + formula.end(place))
        if line.strip():
            return _bare(text, start, start + len(line.rstrip().rstrip("*_")))
    return None


def _last_formula(text: str) -> Finding:
    last = None
    for last in _FORMULA.finditer(text[-20 * REACH :]):  # noqa: B007  # the last one is used
        pass
    if last is not None:
        offset = max(0, len(text) - 20 * REACH)
        place = 1 if last[1] is not None else 2
        return _stripped(text, offset + last.start(place), offset + last.end(place))
    if len(text.strip()) <= _SHORT and "\n" not in text.strip():
        return _bare(text, 0, len(text))
    return Absent("no answer")


BOXED = reader("boxed", 1, _read_boxed)
r"""What the last \boxed{} holds."""

MINERVA_ANSWER = reader("minerva_answer", 1, _read_minerva)
"""What follows the first "Final Answer: The final answer is" (Lewkowycz et al. 2022), without dollars."""

MATHS_ANSWER = reader("maths_answer", 1, _read_answer)
"""The last box; without one, what is stated as the answer; else the last formula, or a reply that is short. Lenient."""
