"""What stands around an answer and does not change it: dollars, boxes, bold type, units, thin spaces."""

from __future__ import annotations

import re

from measurand.scoring.folding import STATED

_EDGES = re.compile(r"^(?:[\s$*`:✅✓]|\\\[|\\\(|\\displaystyle)+|(?:[\s$*`]|\\\]|\\\)|(?<!\\)\.|,)+$")
_WRAPPED = re.compile(r"\\(?:boxed|fbox|mathrm|mathbf|mathsf|text|textbf|mbox|bm|boldsymbol)\{([^{}]*)\}")
_SPACING = re.compile(
    r"(?<!\\)\\[,;:! ]|~|\\(?:quad|qquad|left|right|bigl?|bigr?|Bigl?|Bigr?|displaystyle)(?![a-zA-Z])|\{,\}"
)
_FRACTION = re.compile(r"\\[dtc]frac(?![a-zA-Z])")
_DEGREES = re.compile(r"\^\{?\\circ\}?|°|\\degrees?(?![a-z])")
_UNIT = re.compile(
    r"(?:\\(?:text|mathrm|mbox|textrm|text\w*)\{[^{}]*\}(?:\^\{?\d\}?)?|\s+[a-zA-Z]{2,}(?:\s[a-zA-Z]+){0,4}\.?)\s*$"
)
LABEL = re.compile(r"\(?([A-Za-z])\)?[.:]?")
"""An option's letter, in brackets or not."""
_WRAP_LAYERS = 4


def bare(text: str) -> str:
    """The answer without what stands around it. Commas between digits stay, for they may divide a list."""
    stated = None
    for stated in STATED.finditer(text[:400]):  # noqa: B007  # the last one is used
        pass
    text = text[stated.end() :] if stated and text[stated.end() :].strip() else text
    for _ in range(_WRAP_LAYERS):
        stripped = _EDGES.sub("", _EDGES.sub("", text))
        whole = re.fullmatch(r"\\(?:boxed|fbox|text|mathrm|mathbf|textbf|mbox)\{(.*)\}", stripped, re.DOTALL)
        if whole and _balanced(whole[1]):
            stripped = whole[1]
        if stripped == text:
            break
        text = stripped
    text = _DEGREES.sub("", text.replace(",\\!", "").replace("\\!", "").replace("\\$", "").replace("$", ""))
    text = _FRACTION.sub(lambda _: "\\frac", _SPACING.sub(lambda match: "" if match[0] == "{,}" else " ", text))
    text = (
        text.replace("−", "-")
        .replace("–", "-")
        .replace("\\%", "")
        .replace("%", "")
        .replace("\\varnothing", "\\emptyset")
    )
    return text.strip()


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0


def without_unit(text: str) -> str:
    """The answer without a unit after it, where something with a digit is left."""
    shorter = _UNIT.sub("", text).strip()
    return shorter if any(char.isdigit() for char in shorter) else text


def plain(text: str) -> str:
    """For comparing words: no white space, no case of words of several letters, no wrapping commands."""
    for _ in range(_WRAP_LAYERS):
        unwrapped = _WRAPPED.sub(lambda match: match[1], text)
        if unwrapped == text:
            break
        text = unwrapped
    squeezed = re.sub(r"\s+", "", text)
    words = re.fullmatch(r"[A-Za-z'-]{2,}", squeezed)
    return squeezed.casefold() if words else squeezed
