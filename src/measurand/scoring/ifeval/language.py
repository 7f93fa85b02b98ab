"""The language of the whole reply."""

from __future__ import annotations

from measurand.scoring.ifeval.detecting import language_of
from measurand.scoring.ifeval.given import Check, Given, text_of


def response_language(text: str, given: Given) -> bool:
    """The detector takes the text for this language (ISO 639-1).

    A text in which it finds no features, such as one of digits, counts as followed; that is the reference's rule.
    """
    found = language_of(text)
    return found is None or found == text_of(given, "language")


CHECKS: dict[str, Check] = {"language:response_language": response_language}
