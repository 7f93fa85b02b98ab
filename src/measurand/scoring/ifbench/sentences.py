"""Constraints on sentences: their kinds, lengths, words and order."""

from __future__ import annotations

from itertools import pairwise

from measurand.scoring.ifbench.words import words_of
from measurand.scoring.ifeval.given import Check, Given, count_of, text_of
from measurand.scoring.ifeval.sentences import english, sentences

_QUOTES = "\"'”’)]*_ "


def _kinds(text: str) -> list[str]:
    """The sign that ends each sentence."""
    return [sentence.rstrip(_QUOTES)[-1:] for sentence in sentences(text, english())]


def sentence_type(text: str, _: Given) -> bool:
    """Twice as many sentences that state as sentences that ask, and some of both."""
    ends = _kinds(text)
    return ends.count("?") > 0 and ends.count(".") == 2 * ends.count("?")


def sentence_balance(text: str, _: Given) -> bool:
    """As many sentences that state as ask as exclaim, and some of each."""
    ends = _kinds(text)
    return ends.count(".") == ends.count("?") == ends.count("!") > 0


def sentence_words(text: str, _: Given) -> bool:
    """Three sentences of the same number of characters, no word in two of them."""
    found = [sentence.strip() for sentence in sentences(text, english())]
    used = [word for sentence in found for word in set(words_of(sentence))]
    return len(found) == 3 and len(set(map(len, found))) == 1 and len(used) == len(set(used))  # noqa: PLR2004


def keyword(text: str, given: Given) -> bool:
    """The word is in the nth sentence."""
    found, place = sentences(text, english()), count_of(given, "N")
    return 0 < place <= len(found) and text_of(given, "word").lower() in found[place - 1].lower()


def increment(text: str, given: Given) -> bool:
    """Each sentence has so many words more than the one before; there are at least two."""
    counts = [len(words_of(sentence)) for sentence in sentences(text, english())]
    return len(counts) > 1 and all(b - a == count_of(given, "small_n") for a, b in pairwise(counts))


def alphabet(text: str, _: Given) -> bool:
    """Twenty-six sentences, whose first words begin with the letters from a to z."""
    found = [words_of(sentence) for sentence in sentences(text, english())]
    return [words[0][0] for words in found if words] == list("abcdefghijklmnopqrstuvwxyz") and all(found)


def last_first(text: str, _: Given) -> bool:
    """The last word of each sentence is the first of the next; there are at least two."""
    found = [words_of(sentence) for sentence in sentences(text, english())]
    return len(found) > 1 and all(a and b and a[-1] == b[0] for a, b in pairwise(found))


CHECKS: dict[str, Check] = {
    "ratio:sentence_type": sentence_type,
    "ratio:sentence_balance": sentence_balance,
    "ratio:sentence_words": sentence_words,
    "sentence:keyword": keyword,
    "sentence:increment": increment,
    "custom:sentence_alphabet": alphabet,
    "words:last_first": last_first,
}
