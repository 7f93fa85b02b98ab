"""How the reply begins and ends."""

from __future__ import annotations

from measurand.scoring.ifeval.given import Check, Given, text_of


def end_checker(text: str, given: Given) -> bool:
    """The text ends with this phrase; quotes around the text and case do not matter."""
    return text.strip().strip('"').lower().endswith(text_of(given, "end_phrase").strip().lower())


def quotation(text: str, _: Given) -> bool:
    """The text stands between two double quotes."""
    text = text.strip()
    return len(text) > 1 and text.startswith('"') and text.endswith('"')


CHECKS: dict[str, Check] = {"startend:end_checker": end_checker, "startend:quotation": quotation}
