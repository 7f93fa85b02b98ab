"""Normal forms of a text, by name. A scorer's name lists the steps it takes."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal

from measurand.core.errors import InputError
from measurand.scoring.folding import fold
from measurand.scoring.numerals import spell

_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_HYPHEN = re.compile(r"(?<=\w)[-‐‑–](?=\w)")
_SHARP = re.compile(r"(?<!\w)[A-Za-z](?:\+\+|#)(?=\W*\Z)")
_LONGEST = 64  # digits of a number that is compared by value
_ONLY_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)")


class _Punctuation(dict[int, str | None]):
    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        self[code] = kind = None if _is_punctuation(char) else char
        return kind


def _is_punctuation(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char)[0] == "P"


_NO_PUNCTUATION = _Punctuation()


def _articles(text: str) -> str:
    """Without English articles; a text of nothing else is kept, for an option or a name may be called A."""
    kept = " ".join(_ARTICLE.sub(" ", text).split())
    return kept or text


def _punctuation(text: str) -> str:
    """Without punctuation of any script: at the edges of a token first, and a token that is then a number is kept."""
    return " ".join(kept for token in text.split() if (kept := _token(token)))


def _token(token: str) -> str:
    if (language := _SHARP.search(token)) is not None:
        return language[0]
    start, end = 0, len(token)
    while start < end and _is_punctuation(token[start]):
        start += 1
    while end > start and _is_punctuation(token[end - 1]):
        end -= 1
    core = fold(token[start:end])
    if _ONLY_NUMBER.fullmatch(core):
        before = fold(token[:start]).rstrip("$€£¥₹")
        point = "0." if before.endswith(".") else ""
        sign = "-" if before.removesuffix(".").endswith("-") else ""
        return f"{sign}{point}{core.replace(',', '')}"
    return token[start:end].translate(_NO_PUNCTUATION)


def _numbers(text: str) -> str:
    """Numbers by value: 37.0 as 37, 1,000 as 1000."""
    return " ".join(_number(token) for token in text.split())


def _number(token: str) -> str:
    spelled = fold(token).replace(",", "")
    if not _ONLY_NUMBER.fullmatch(spelled) or spelled.count(".") > 1 or len(spelled) > _LONGEST:
        return token
    return spell(Decimal(spelled))


STEPS: dict[str, Callable[[str], str]] = {
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip": str.strip,
    "casefold": str.casefold,
    "lower": str.lower,
    "punctuation": _punctuation,
    "ascii_punctuation": lambda text: text.translate(_ASCII_PUNCTUATION),
    "articles": _articles,
    "squad_articles": lambda text: _ARTICLE.sub(" ", text),
    "whitespace": lambda text: " ".join(text.split()),
    "numbers": _numbers,
    "hyphens": lambda text: _HYPHEN.sub(" ", text),
}

PLAIN = ("strip",)
"""Nothing but white space at the ends."""

QUASI = ("nfkc", "casefold", "hyphens", "punctuation", "articles", "whitespace")
"""Case, punctuation, hyphens and English articles do not matter; decimals and minus signs stay."""

SQUAD = ("lower", "ascii_punctuation", "squad_articles", "whitespace")
"""As the official script of SQuAD (Rajpurkar et al. 2016), which reads 3.14 as 314."""


def normalise(text: str, steps: Sequence[str] = QUASI) -> str:
    """The text after the named steps, in their order.

    Raises:
        InputError: a step is not known.
    """
    for step in steps:
        text = check(step)(text)
    return text


def check(step: str) -> Callable[[str], str]:
    """The step of that name.

    Raises:
        InputError: it is not known.
    """
    if step not in STEPS:
        raise InputError(f"there is no normalising step {step!r}; known are {', '.join(STEPS)}")
    return STEPS[step]
