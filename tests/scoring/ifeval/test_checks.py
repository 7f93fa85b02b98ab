"""Each kind of constraint: what follows it, what does not, and the reference's odd corners, all of our own wording."""

from typing import Any

import pytest

from measurand.core.errors import InputError
from measurand.scoring.ifeval.kinds import KINDS, follows

WORDS = {"relation": "at least", "num_words": 4}
NTH = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "later"}
FOLLOWED: list[tuple[str, dict[str, Any], str]] = [
    ("keywords:existence", {"keywords": ["sea", "Boat"]}, "The SEASIDE has boats."),
    ("keywords:frequency", {"keyword": "to", "frequency": 2, "relation": "at least"}, "Two tomatoes, to go."),
    ("keywords:frequency", {"keyword": "to", "frequency": 2, "relation": "less than"}, "Only once: to."),
    ("keywords:forbidden_words", {"forbidden_words": ["art", "war"]}, "A cart and a warm start."),
    ("keywords:letter_frequency", {"letter": "E", "let_frequency": 3, "let_relation": "at least"}, "Eel, he said"),
    ("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "at least"}, "#one #two"),
    ("language:response_language", {"language": "de"}, "Der Hund schläft unter dem Tisch, weil er müde ist."),
    ("language:response_language", {"language": "hi"}, "मैं आज बहुत खुश हूँ क्योंकि मौसम अच्छा है।"),
    ("language:response_language", {"language": "fr"}, "12345 67890"),
    ("length_constraints:number_words", WORDS, "well-kept state don't"),
    ("length_constraints:number_sentences", {"relation": "at least", "num_sentences": 2}, "Mr. Gray left. He ran."),
    ("length_constraints:number_sentences", {"relation": "less than", "num_sentences": 2}, "Dr. Gray left."),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***\nOne.\n***\nTwo.\n***"),
    ("length_constraints:nth_paragraph_first_word", NTH, 'First.\n\n"Later, it rained.\n\n'),
    ("length_constraints:nth_paragraph_first_word", NTH, "First.\n\nLATER! it rained."),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "Dear [first name], [[x]]"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye. p. s. one more thing"),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Bye.\nP. P. S: two"),
    ("detectable_content:postscript", {"postscript_marker": "N.B."}, "Bye. n.b. this"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 3}, "* a\n  - b\n\n\n-c\n** not one **"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*\n* taken by the bare one"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "*\n- counted all the same"),
    ("detectable_format:constrained_response", {}, "Well. My answer is maybe. Or not."),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*one* and *two*"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "**bold**"),
    ("detectable_format:multiple_sections", {"section_spliter": "PART", "num_sections": 2}, "PART 1\na\nPART2 b"),
    ("detectable_format:json_format", {}, '```json\n{"a": [1, 2]}\n```'),
    ("detectable_format:json_format", {}, " 7 "),
    ("detectable_format:title", {}, "<<< A day >>\nIt was fine."),
    ("combination:two_responses", {}, "Tea.\n******\nCoffee.\n******"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hello. "}, "\nsay HELLO.\n\nHello!"),
    ("startend:end_checker", {"end_phrase": "That is all."}, '"So it was. that is ALL."'),
    ("startend:quotation", {}, ' "Quoted."\n'),
    ("change_case:capital_word_frequency", {"capital_relation": "at least", "capital_frequency": 2}, "A STATE-OF-THE-ART tv"),
    ("change_case:capital_word_frequency", {"capital_relation": "less than", "capital_frequency": 2}, "NASA's rocket"),
    ("change_case:english_capital", {}, "THIS IS IT, 3 TIMES."),
    ("change_case:english_lowercase", {}, "this is what we have been waiting for since the morning"),
    ("punctuation:no_comma", {}, "No pause at all"),
]  # fmt: skip
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("keywords:existence", {"keywords": ["sea", "boat"]}, "The seaside."),
    ("keywords:existence", {"keywords": ["C++"]}, "Cats"),
    ("keywords:frequency", {"keyword": "sea", "frequency": 2, "relation": "less than"}, "Seasick at sea"),
    ("keywords:forbidden_words", {"forbidden_words": ["war"]}, "This is WAR."),
    ("keywords:letter_frequency", {"letter": "q", "let_frequency": 1, "let_relation": "at least"}, "none here"),
    ("language:response_language", {"language": "de"}, "The dog sleeps under the table because it is tired."),
    ("length_constraints:number_words", {"relation": "less than", "num_words": 5}, "one two three four five"),
    ("length_constraints:number_sentences", {"relation": "at least", "num_sentences": 2}, "It cost $3.50 in the U.S. then"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One.\n***\n \n***\nTwo."),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One.\n\nTwo."),
    ("length_constraints:nth_paragraph_first_word", NTH, "First.\n\nThen later."),
    ("length_constraints:nth_paragraph_first_word", NTH, "First.\n\nLater.\n\nLast."),
    ("length_constraints:nth_paragraph_first_word", NTH | {"nth_paragraph": 0}, "Later.\n\nLater."),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[over\ntwo lines]"),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "P.S. only one"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*\nnext\n- one more"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "text\n*"),
    ("detectable_format:constrained_response", {}, "my answer is yes."),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "* a bullet\nand ** * none"),
    ("detectable_format:multiple_sections", {"section_spliter": "PART", "num_sections": 2}, "PART 1, part 2"),
    ("detectable_format:json_format", {}, 'Here: {"a": 1}'),
    ("detectable_format:json_format", {}, "[" * 100_000),
    ("detectable_format:title", {}, "<<>>\n<< >>\n<no>"),
    ("combination:two_responses", {}, "Tea.\n******\n Tea. "),
    ("combination:two_responses", {}, "Tea. ****** ****** Coffee."),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hello."}, "Hello! Say hello."),
    ("startend:end_checker", {"end_phrase": "That is all."}, "That is all. Really."),
    ("startend:quotation", {}, '"'),
    ("change_case:english_capital", {}, "Every Word Starts With A Capital"),
    ("change_case:english_lowercase", {}, "der hund schläft unter dem tisch weil er müde ist"),
    ("change_case:capital_word_frequency", {"capital_relation": "at least", "capital_frequency": 2}, "One WORD, 3 4."),
    ("punctuation:no_comma", {}, "Well, no"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "text"), FOLLOWED)
def test_what_follows_a_constraint(kind: str, given: dict[str, Any], text: str) -> None:
    assert follows(kind, text, given)


@pytest.mark.parametrize(("kind", "given", "text"), BROKEN)
def test_what_does_not(kind: str, given: dict[str, Any], text: str) -> None:
    assert not follows(kind, text, given)


def test_every_kind_has_both_a_followed_and_a_broken_text() -> None:
    assert len(KINDS) == 25
    assert {kind for kind, _, _ in FOLLOWED} == {kind for kind, _, _ in BROKEN} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_blank_text_follows_nothing(kind: str) -> None:
    assert not follows(kind, " \n\t", {})


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(InputError, match="unknown_instruction: there is no constraint 'length:syllables'"):
        follows("length:syllables", "anything", {})


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("keywords:existence", {"keywords": []}),
        ("keywords:frequency", {"keyword": "a", "relation": "at least", "frequency": None}),
        ("length_constraints:number_words", {"relation": "more than", "num_words": 3}),
        ("length_constraints:number_words", {"relation": "at least", "num_words": 3.5}),
        ("startend:end_checker", {}),
    ],
)
def test_parameters_that_are_missing_or_wrong_are_errors(kind: str, given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"the constraint needs|'less than' or 'at least'"):
        follows(kind, "anything", given)


def test_nulls_are_not_given_and_whole_floats_are_numbers() -> None:
    assert follows("length_constraints:number_words", "a b c", {"num_words": 3.0, "relation": "at least", "x": None})
