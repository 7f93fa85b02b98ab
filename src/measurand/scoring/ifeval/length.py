"""How many paragraphs, sentences and words."""

from __future__ import annotations

import re

from measurand.scoring.ifeval.given import Check, Given, compares, count_of, text_of
from measurand.scoring.ifeval.sentences import count_sentences

_WORD = re.compile(r"\w+")
_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_FIRST_WORD_ENDS = re.compile(r"[.,?!'\"]")


def number_words(text: str, given: Given) -> bool:
    r"""So many runs of \w: "state-of-the-art" is four of them, "don't" two."""
    return compares(len(_WORD.findall(text)), given, "relation", "num_words")


def number_sentences(text: str, given: Given) -> bool:
    """So many sentences, as Punkt splits English."""
    return compares(count_sentences(text), given, "relation", "num_sentences")


def number_paragraphs(text: str, given: Given) -> bool:
    """Exactly so many paragraphs between dividers ***; none but the first and the last piece may be blank."""
    blank = [not piece.strip() for piece in _DIVIDER.split(text)]
    if any(blank[1:-1]):
        return False
    return blank.count(False) == count_of(given, "num_paragraphs")


def nth_paragraph_first_word(text: str, given: Given) -> bool:
    """Exactly so many paragraphs, and the nth begins with this word.

    As in the reference, blank pieces between empty lines are not counted as paragraphs, and yet `nth` counts them.
    """
    pieces = text.split("\n\n")
    paragraphs, nth = sum(bool(piece.strip()) for piece in pieces), count_of(given, "nth_paragraph")
    if not 1 <= nth <= paragraphs or not pieces[nth - 1].strip():
        return False
    word = pieces[nth - 1].split()[0].lstrip("'").lstrip('"')
    first = _FIRST_WORD_ENDS.split(word, maxsplit=1)[0].lower()
    return paragraphs == count_of(given, "num_paragraphs") and first == text_of(given, "first_word").lower()


CHECKS: dict[str, Check] = {
    "length_constraints:number_words": number_words,
    "length_constraints:number_sentences": number_sentences,
    "length_constraints:number_paragraphs": number_paragraphs,
    "length_constraints:nth_paragraph_first_word": nth_paragraph_first_word,
}
