"""Any text may come: nothing raises, nothing takes long, and what is found is where the reader says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Ambiguous, Found, Measured, Missing
from measurand.scoring.catalogue import READERS, SCORERS
from measurand.scoring.folding import fold
from measurand.scoring.reasoning import apply_stops, final_text
from tests.growth import assert_grows_gently

LONG = 100_000
JUNK = [
    "9", "9,", "1e", "10^", "1 ", "1/", ".", "A", "A ", "A or ", "(", "[", "[1", "{", '{"a":', "\\", "\\boxed{", " ", "\n", "-",
    "Answer:", "Answer: A\n", "The answer is ", "#### ", "\nQ:", "\u093f", "\x00", "$", "字", "<think>", "</think>",
    "A is correct ", "not A ", "one ", "```json\n",
]  # fmt: skip
OPTIONS = ("red", "blue", "green", "grey")
WHAT = Item("x", Question("q", OPTIONS), gold="red", language="fr")
PIECES = st.sampled_from(
    ["The answer is ", "Answer: ", "#### ", "\\boxed{", "}", "A", "B", "(C)", " or ", " and ", "12", "1,000", "3,5", "-", "−", "$",
     "₹", " lakh", "%", "/", "\n", "Question:", "<think>", "</think>", "[THINK]", "{", '"a": 1', "[", "]", "हिंदी", "ب", "ｂ", ".",
     "I don't know", "½", "1e5", "twenty"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join))


@pytest.mark.parametrize("junk", JUNK, ids=ascii)
def test_long_junk_is_read_in_time(junk):
    text = (junk * LONG)[:LONG]
    for reader in READERS:

        def read(size, reader=reader):
            finding = reader.read(WHAT, Answer(text[:size], values=(1.0, 2.0)))
            assert isinstance(finding, Found | Absent | Ambiguous)

        assert_grows_gently(read, LONG, reader.name)


@pytest.mark.parametrize("junk", [*JUNK, "a b ", "C++ ", "- "], ids=ascii)
def test_long_junk_is_scored_in_time(junk):
    text = (junk * LONG)[:LONG]
    for scorer in SCORERS:
        assert_grows_gently(lambda size, by=scorer: by.score(WHAT, Found(text[:size])), LONG, scorer.name)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(["", "en", "de", "hi"]))
def test_no_text_makes_a_reader_or_scorer_raise(text, language):
    what = Item("x", Question("q", OPTIONS), gold=text, language=language)
    for reader in READERS:
        finding = reader.read(what, Answer(text, values=(0.5, 0.5)))
        if isinstance(finding, Found) and finding.span is not None:
            start, end = finding.span
            assert 0 <= start < end <= len(text)
        for scorer in SCORERS:
            assert isinstance(scorer.score(what, finding), Measured | Missing)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_what_is_found_stands_at_its_span(text):
    plain = {"whole_text", "first_line", "before_next_question", "lm_eval_flexible", "gsm8k_strict"}
    for reader in READERS:
        finding = reader.read(WHAT, Answer(text))
        if not isinstance(finding, Found) or finding.span is None:
            continue
        form = text[slice(*finding.span)]
        if reader.name == "choice" and len(form) == 1:
            assert fold(form).upper() in {finding.value, *"أابجدهকখগঘঙঅবডঢकखगघङअबसद"}
        elif reader.name in plain and "<" not in text and "[" not in text:
            assert finding.value.replace(",", "") == form.replace(",", "").replace("$", "").removesuffix(".") or (
                finding.value == form
            )
        elif reader.name == "last_number" and form.isascii() and form.isdecimal():
            assert finding.value == form


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_taking_reasoning_out_keeps_places_and_is_done_once(text):
    final = final_text(text)
    assert "".join(text[start:end] for start, end in final.pieces) == final.text
    if final.complete and final.text:
        start, end = final.original((0, len(final.text)))
        assert text[start] == final.text[0]
        assert text[end - 1] == final.text[-1]
    assert apply_stops(final.text, []) == final.text
    assert apply_stops(final.text, [""]) == final.text
