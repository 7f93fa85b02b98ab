"""Words in capitals, as the tokeniser of the Penn Treebank cuts words (MacIntyre 1995, as NLTK has it)."""

from __future__ import annotations

import re

# Only what can make one word two matters here, for only words with letters are counted.
_CUTS = re.compile(r"[«»“”‘„’`;@#$%&?!*\[\](){}<>\"‒–—―]|\.{2,}|--|[:,](?=\D|\Z)|''")
_OPENING = re.compile(r"(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", re.IGNORECASE)
_CLITIC = re.compile(r"(?<=[^' ])('(?:s|m|d|ll|re|ve)|n't|')(?=\.? )", re.IGNORECASE)
_JOINED = re.compile(
    r"\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n))\b|\b(wan)(na)(?=\s)", re.IGNORECASE
)


def count_capital_words(text: str) -> int:
    """How many words hold letters and no small one; "THAT'S" is two, "STATE-OF-THE-ART" one."""
    return sum(word.isupper() for word in words(text))


def words(text: str) -> list[str]:
    """The text cut into words, without the punctuation that is cut off."""
    text = _OPENING.sub("' ", text)
    text = f" {' '.join(_CUTS.sub(' ', text).split())} "
    text = _CLITIC.sub(r" \1", text)
    return _JOINED.sub(lambda match: " ".join(filter(None, match.groups())), text).split()
