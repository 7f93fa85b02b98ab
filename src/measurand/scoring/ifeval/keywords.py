"""Words and letters that must be there, so many times, or not at all. Case does not matter."""

from __future__ import annotations

import re

from measurand.scoring.ifeval.given import Check, Given, compares, text_of, texts_of


def existence(text: str, given: Given) -> bool:
    """Every keyword is in the text, be it inside of a longer word."""
    return all(_anywhere(keyword).search(text) for keyword in texts_of(given, "keywords"))


def frequency(text: str, given: Given) -> bool:
    """The keyword is there so many times, inside of longer words too."""
    count = len(_anywhere(text_of(given, "keyword")).findall(text))
    return compares(count, given, "relation", "frequency")


def forbidden_words(text: str, given: Given) -> bool:
    """None of the words stands alone in the text."""
    words = texts_of(given, "forbidden_words")
    return not any(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) for word in words)


def letter_frequency(text: str, given: Given) -> bool:
    """The letter is there so many times.

    The reference replaces what is no letter from a to z by a letter drawn at random (items 1122 and 1129 ask for #
    and !); here the sign itself is counted, so that a verdict is the same on every run.
    """
    count = text.lower().count(text_of(given, "letter").lower())
    return compares(count, given, "let_relation", "let_frequency")


def _anywhere(keyword: str) -> re.Pattern[str]:
    # The reference takes a keyword as a regular expression. None of the data set's is more than plain letters, and
    # C++ as an expression would be found in every C.
    return re.compile(re.escape(keyword), re.IGNORECASE)


CHECKS: dict[str, Check] = {
    "keywords:existence": existence,
    "keywords:frequency": frequency,
    "keywords:forbidden_words": forbidden_words,
    "keywords:letter_frequency": letter_frequency,
}
