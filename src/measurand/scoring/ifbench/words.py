"""Constraints on words: how many, which, where and of what letters. A word is a run of letters, digits, ' and -."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from measurand.scoring.ifeval.given import Check, Given, count_of, text_of

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_TWO_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
_CONJUNCTIONS = frozenset({"and", "but", "for", "nor", "or", "so", "yet"})
_VOWELS, _MOST_VOWELS = "aeiou", 3
_PALINDROMES, _SHORTEST = 10, 5
_KEYWORD_COUNTS = (1, 2, 3, 5, 7)


def words_of(text: str) -> list[str]:
    """The words in small letters."""
    return _WORD.findall(text.lower())


def word_count_range(text: str, given: Given) -> bool:
    """From so many to so many words."""
    return count_of(given, "min_words") <= len(words_of(text)) <= count_of(given, "max_words")


def unique_word_count(text: str, given: Given) -> bool:
    """At least so many different words."""
    return len(set(words_of(text))) >= count_of(given, "N")


def conjunctions(text: str, given: Given) -> bool:
    """At least so many different coordinating conjunctions."""
    return len(_CONJUNCTIONS & set(words_of(text))) >= count_of(given, "small_n")


def numbers(text: str, given: Given) -> bool:
    """Exactly so many numbers; 1,000 and 3.5 are one each."""
    return len(re.findall(r"(?<![\d.,])\d+(?:[.,]\d+)*", text)) == count_of(given, "N")


def keywords_multiple(text: str, given: Given) -> bool:
    """The five keywords occur once, twice, three, five and seven times."""
    named = zip(range(1, 6), _KEYWORD_COUNTS, strict=True)
    return all(text.lower().count(text_of(given, f"keyword{number}").lower()) == count for number, count in named)


def alphabet(text: str, _: Given) -> bool:
    """Each word begins with the letter after that of the word before, a after z; there are at least two."""
    firsts = [ord(word[0]) - ord("a") for word in words_of(text)]
    letters = all(0 <= first < 26 for first in firsts)  # noqa: PLR2004  # a to z
    return letters and len(firsts) > 1 and all((a + 1) % 26 == b for a, b in pairwise(firsts))


def vowel(text: str, _: Given) -> bool:
    """One paragraph with at most three kinds of vowels."""
    return "\n" not in text.strip() and sum(letter in text.lower() for letter in _VOWELS) <= _MOST_VOWELS


def consonants(text: str, _: Given) -> bool:
    """Each word has two consonants side by side."""
    found = words_of(text)
    return bool(found) and all(_TWO_CONSONANTS.search(word) for word in found)


def palindrome(text: str, _: Given) -> bool:
    """Ten different palindromes of at least five letters."""
    found = {word for word in words_of(text) if len(word) >= _SHORTEST and word == word[::-1]}
    return len(found) >= _PALINDROMES


def prime_lengths(text: str, _: Given) -> bool:
    """The length of each word is a prime."""
    lengths = {len(word) for word in words_of(text)}
    return bool(lengths) and all(length > 1 and all(length % n for n in range(2, length)) for length in lengths)


def repeats(text: str, given: Given) -> bool:
    """No word occurs more than so often."""
    return max(Counter(words_of(text)).values(), default=0) <= count_of(given, "small_n")


def no_consecutive(text: str, _: Given) -> bool:
    """No two words side by side begin with the same letter."""
    return all(a[0] != b[0] for a, b in pairwise(words_of(text)))


def words_position(text: str, given: Given) -> bool:
    """The second word and the last but one are this word; punctuation is no word."""
    found = words_of(text)
    return len(found) > 2 and found[1] == found[-2] == text_of(given, "keyword").lower()  # noqa: PLR2004


def paragraph_last_first(text: str, _: Given) -> bool:
    """Each paragraph ends with the word that it begins with, and has more than one."""
    found = [words_of(line) for line in text.split("\n") if line.strip()]
    return bool(found) and all(len(words) > 1 and words[0] == words[-1] for words in found)


CHECKS: dict[str, Check] = {
    "count:word_count_range": word_count_range,
    "count:unique_word_count": unique_word_count,
    "count:conjunctions": conjunctions,
    "count:numbers": numbers,
    "count:keywords_multiple": keywords_multiple,
    "words:alphabet": alphabet,
    "words:vowel": vowel,
    "words:consonants": consonants,
    "words:palindrome": palindrome,
    "words:prime_lengths": prime_lengths,
    "words:repeats": repeats,
    "words:no_consecutive": no_consecutive,
    "words:words_position": words_position,
    "words:paragraph_last_first": paragraph_last_first,
}
