"""Constraints of IFBench: what follows them, what does not, and that emptiness follows none."""

from typing import Any

import pytest

from measurand.scoring.ifeval.kinds import KINDS, KNOWN, follows
from tests.growth import assert_grows_gently

FIVE = {f"keyword{number}": word for number, word in enumerate(["alpha", "beta", "gamma", "delta", "omega"], 1)}
COUNTED = " ".join(word + " " for word, count in zip(FIVE.values(), (1, 2, 3, 5, 7), strict=True) for _ in range(count))
PALINDROMES = "level radar civic rotor kayak refer madam tenet solos stats"
ROWS: list[tuple[str, dict[str, Any], str, str]] = [
    ("ratio:sentence_type", {}, "It rains. It pours. Does it?", "Stop! Run! Hide!"),
    ("ratio:sentence_balance", {}, "It rains. Does it? Yes!", "It rains."),
    ("ratio:sentence_words", {}, "Sun set. Men ran. Cat sat.", "Sun. Sun. Sun."),
    ("sentence:keyword", {"word": "rain", "N": 2}, "One. Then Rain came.", "Rain came. Then sun."),
    ("sentence:increment", {"small_n": 1}, "Go. Go now. Go right now.", "Go."),
    ("words:last_first", {}, "He saw rain. Rain saw him.", "He saw rain. It saw him."),
    ("custom:sentence_alphabet", {}, " ".join(f"{chr(97 + n).upper()}lso this." for n in range(26)), "Also. But."),
    ("count:word_count_range", {"min_words": 2, "max_words": 3}, "state-of-the-art thing", "one"),
    ("count:unique_word_count", {"N": 2}, "a b a", "a, A. a!"),
    ("count:conjunctions", {"small_n": 2}, "This and that, or more", "and, and"),
    ("count:numbers", {"N": 2}, "1,000 or 3.5", "1 2 3"),
    ("count:keywords_multiple", FIVE, COUNTED, "alpha beta"),
    ("words:alphabet", {}, "Yes zebras are big", "one"),
    ("words:vowel", {}, "A big cat", "a e i o u"),
    ("words:consonants", {}, "Strong winds blast", "a big wind"),
    ("words:palindrome", {}, PALINDROMES, "level " * 10),
    ("words:prime_lengths", {}, "It was there", "a four"),
    ("words:repeats", {"small_n": 1}, "all are other", "the cat, the dog"),
    ("words:no_consecutive", {}, "one two one two", "big bad wolf"),
    ("words:words_position", {"keyword": "curve"}, "The curve bends in a curve indeed.", "The curve bends here."),
    ("words:paragraph_last_first", {}, "Rain is rain.\n\nSun, oh sun!", "Rain"),
    ("format:line_indent", {}, "a\n\n\n b\n  c", "a\n b\n c"),
    ("format:sub-bullets", {}, "* one\n  - more\n* two\n  - more", "* early-morning\n* late-night"),
    ("format:no_bullets_bullets", {}, "One. Two.\n* a\n* b", "One.\n* a\n* b"),
    ("format:list", {"sep": "..."}, "... a\n... b", "one ... two ..."),
    ("format:newline", {}, "one\ntwo", "one two"),
    ("format:parentheses", {}, "a (b [c {d (e [f] g) h} i] j)", "((( ("),
    ("format:quotes", {}, "\"a 'b \"c\" d' e\"", "\"a\" 'b' it's"),
    ("format:thesis", {}, "<i>It is so.</i> Because.", "<i> </i> Because."),
    ("format:output_template", {}, "My Answer: a My Conclusion: b Future Outlook: c", "My Answer: a"),
    ("format:title_case", {}, "The Sea Isn't Calm", "The sea"),
    ("format:no_whitespace", {}, "Onewordonly", "two words"),
    ("count:punctuation", {}, "A. b, c! d? e; f: g?!", "What?! a."),
    ("repeat:repeat_change", {"prompt_to_repeat": "Write it now"}, "Say it now", "Write it now"),
    ("repeat:repeat_span", {"prompt_to_repeat": "a b c d", "n_start": 1, "n_end": 3}, "b c", "a b c"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "followed", "broken"), ROWS, ids=[row[0] for row in ROWS])
def test_what_follows_and_what_does_not(kind: str, given: dict[str, Any], followed: str, broken: str) -> None:
    assert follows(kind, followed, given)
    assert not follows(kind, broken, given)
    assert not follows(kind, " \n", given)


def test_every_kind_is_tried() -> None:
    assert {row[0] for row in ROWS} == set(KNOWN) - set(KINDS)


@pytest.mark.parametrize("junk", ["a", " ", "\n", "(", '"', "a ", "1", "1,", "* ", "...", "<i>", "Ab. "], ids=ascii)
def test_long_junk_is_checked_in_time(junk: str) -> None:
    text = (junk * 100_000)[:100_000]
    for kind, given, _, _ in ROWS:

        def check(size: int, kind: str = kind, given: dict[str, Any] = given) -> None:
            follows(kind, text[:size], given)

        assert_grows_gently(check, len(text), kind)
