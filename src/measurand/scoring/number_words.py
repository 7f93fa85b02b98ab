"""English numbers in words, where they are the whole statement ("The answer is twenty-one.")."""

from __future__ import annotations

import re

from measurand.core.trial import Found

_UNITS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_SCALES = {"thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9}
_WORD = "|".join(sorted([*_UNITS, *_TENS, *_SCALES, "hundred"], key=len, reverse=True))
_WORDS = rf"[\s*_`\"'(]{{0,6}}(?P<words>(?:(?:minus|negative)[ ])?(?:{_WORD})(?:(?:[ -]|[ ]and[ ])(?:{_WORD})){{0,12}})"
_STATED = re.compile(_WORDS + r"(?=[\s*_`\"').!;:]{0,6}$)", re.IGNORECASE)
_BEGUN = re.compile(_WORDS + r"(?![\w-])(?![ ](?:of|another|who|which|that|hundredth|half)\b)", re.IGNORECASE)


def value_of(words: str) -> int | None:
    """The value of English number words, or None where they do not make one number."""
    total, part = 0, 0
    room = 10**12
    for word in re.split(r"[ -]", words.lower()):
        if word in _UNITS or word in _TENS:
            size = _UNITS.get(word, _TENS.get(word, 0))
            if part % 10 or (part % 100 and size >= 10):  # noqa: PLR2004  # "two three", "twenty ten"
                return None
            part += size
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES and _SCALES[word] < room:
            room = _SCALES[word]
            total, part = total + max(part, 1) * room, 0
        elif word in _SCALES:
            return None
    value = total + part
    return -value if words.lower().startswith(("minus", "negative")) else value


def in_words(text: str, offset: int, *, more: bool = False) -> Found | None:
    """The number that the whole text states in words, or with `more` its beginning; the span is moved by `offset`."""
    if len(text) > 200:  # noqa: PLR2004  # no number in words is so long
        return None
    match = (_BEGUN if more else _STATED).match(text)
    value = value_of(match["words"]) if match else None
    if match is None or value is None:
        return None
    return Found(str(value), (match.start("words") + offset, match.end("words") + offset))
