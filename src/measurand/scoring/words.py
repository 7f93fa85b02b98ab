"""Words of any script: those of Devanagari keep their vowel signs, and Chinese is not one long word."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

# Scripts written without spaces: each character, with the marks on it, counts as a word.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3040, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF),
)  # fmt: skip


class _Classes(dict[int, str]):
    """Classes: w letter, d digit, c character that is a word, m mark, j apostrophe, p point, s other."""

    def __missing__(self, code: int) -> str:
        self[code] = kind = _classify(chr(code))
        return kind


def _classify(char: str) -> str:
    category = unicodedata.category(char)
    if char in "'’ʼ":
        return "j"
    if char in ".,٫٬":
        return "p"
    if category[0] == "M" or char in "\u200c\u200d":
        return "m"
    if any(low <= ord(char) <= high for low, high in _UNSPACED) and category[0] in "LN":
        return "c"
    if category == "Nd":
        return "d"
    return "w" if category[0] in "LN" or category == "Pc" else "s"


_CLASSES = _Classes()
_WORD = re.compile(r"cm*|[wd][wdm]*(?:(?:j(?=[wd])|(?<=d)p(?=d))[wdm]+)*")


def spans(text: str) -> list[tuple[int, int]]:
    """The places of the words of the text, as [start, end) characters.

    A word is a run of letters, digits and the marks on them, with apostrophes between letters (don't) and
    points or commas between digits (3.14); in scripts without spaces it is one character. Compare Unicode
    Standard Annex 29, of which this is a simple part.
    """
    return [match.span() for match in _WORD.finditer(text.translate(_CLASSES))]


def words(text: str) -> list[str]:
    """The words of the text in composed form (NFC)."""
    text = unicodedata.normalize("NFC", text)
    return [text[start:end] for start, end in spans(text)]


def count(text: str) -> int:
    """How many words the text has."""
    return len(spans(unicodedata.normalize("NFC", text)))


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Runs of `n` tokens, counted; empty where there are fewer tokens or `n` is below 1."""
    if n < 1:
        return Counter()
    return Counter(tuple(tokens[place : place + n]) for place in range(len(tokens) - n + 1))
