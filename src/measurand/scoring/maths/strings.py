"""The canonical strings of the MATH paper's own checker (Hendrycks et al. 2021)."""

from __future__ import annotations

import re

_DROPPED = ("\\left", "\\right", "^{\\circ}", "^\\circ", "\\$")
_WHOLE_RATIO = re.compile(r"(?:0|-?[1-9]\d*)/(?:0|-?[1-9]\d*)", re.ASCII)


def hendrycks_equal(one: str, other: str) -> bool:
    """Whether the two are equal as strings once normalised as in the paper's `is_equiv`; its odd corners included."""
    try:
        return canonical(one) == canonical(other)
    except _UndecidedError:
        return one == other


class _UndecidedError(ValueError):
    """The original's normaliser fails on this text; it then compares the texts as they stand."""


def canonical(text: str) -> str:
    """The normal form: no white space, braces around the parts of fractions and roots, no units, degrees or percent."""
    text = text.replace("\n", "").replace("\\!", "").replace("\\\\", "\\")
    text = text.replace("tfrac", "frac").replace("dfrac", "frac")
    for dropped in _DROPPED:
        text = text.replace(dropped, "")
    text = _without_unit(text).replace("\\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if text.startswith("."):
        text = f"0{text}"
    sides = text.split("=")
    if len(sides) == 2 and len(sides[0]) <= 2:  # noqa: PLR2004  # k = 5 is 5
        text = sides[1]
    text = _braced_fractions(_braced_roots(text).replace(" ", ""))
    if text == "0.5":
        return "\\frac{1}{2}"
    if _WHOLE_RATIO.fullmatch(text):
        above, _, below = text.partition("/")
        return f"\\frac{{{above}}}{{{below}}}"
    return text


def _without_unit(text: str) -> str:
    parts = text.split("\\text{ ")
    if len(parts) > 2:  # noqa: PLR2004  # one unit at most
        raise _UndecidedError
    return parts[0]


def _braced_roots(text: str) -> str:
    first, *others = text.split("\\sqrt")
    if not all(others):
        raise _UndecidedError
    return first + "".join(f"\\sqrt{one}" if one[0] == "{" else f"\\sqrt{{{one[0]}}}{one[1:]}" for one in others)


def _braced_fractions(text: str) -> str:
    first, *others = text.split("\\frac")
    if not all(others):
        raise _UndecidedError
    pieces = [first]
    for one in others:
        if one[0] == "{":
            pieces.append(f"\\frac{one}")
        elif len(one) == 1:
            return text
        else:
            below = one[1:] if one[1] == "{" else f"{{{one[1]}}}{one[2:]}"
            pieces.append(f"\\frac{{{one[0]}}}{below}")
    return "".join(pieces)
