"""Punctuation that is not to be used."""

from __future__ import annotations

from measurand.scoring.ifeval.given import Check, Given


def no_comma(text: str, _: Given) -> bool:
    """There is no comma."""
    return "," not in text


CHECKS: dict[str, Check] = {"punctuation:no_comma": no_comma}
