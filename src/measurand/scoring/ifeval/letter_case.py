"""English in capitals, in small letters, and how many words are in capitals."""

from __future__ import annotations

from measurand.scoring.ifeval.capitals import count_capital_words
from measurand.scoring.ifeval.detecting import language_of
from measurand.scoring.ifeval.given import Check, Given, compares


def english_capital(text: str, _: Given) -> bool:
    """Every letter is a capital, and the text is English as far as can be told."""
    return text.isupper() and language_of(text) in {"en", None}


def english_lowercase(text: str, _: Given) -> bool:
    """No letter is a capital, and the text is English as far as can be told."""
    return text.islower() and language_of(text) in {"en", None}


def capital_word_frequency(text: str, given: Given) -> bool:
    """So many words are all in capitals."""
    return compares(count_capital_words(text), given, "capital_relation", "capital_frequency")


CHECKS: dict[str, Check] = {
    "change_case:english_capital": english_capital,
    "change_case:english_lowercase": english_lowercase,
    "change_case:capital_word_frequency": capital_word_frequency,
}
