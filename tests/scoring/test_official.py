"""The rules of benchmarks' own code, against the patterns as they publish them."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from measurand.core.benchmark import Reader
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found
from measurand.scoring.official import MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS, SIMPLE_EVALS_LETTER

ITEM = Item("1", Question("q", tuple("abcdefghij")), gold="A")


def read(reader: Reader, text: str) -> str | None:
    finding = reader.read(ITEM, Answer(text))
    if not isinstance(finding, Found):
        return None
    assert finding.span is not None
    assert text[slice(*finding.span)].upper() == finding.value
    return str(finding.value)


def as_published(text: str) -> str | None:
    """MMLU-Pro's evaluate_from_local.py, pattern for pattern; its third is quadratic, so texts here are short."""
    if match := re.search(r"answer is \(?([A-J])\)?", text):
        return match[1]
    if match := re.search(r".*[aA]nswer:\s*([A-J])", text):
        return match[1]
    match = re.search(r"\b[A-J]\b(?!.*\b[A-J]\b)", text, re.DOTALL)
    return match[0] if match else None


pieces = st.sampled_from(
    [
        "answer is ",
        "answer is (",
        "Answer:",
        "answer: ",
        "\n",
        " ",
        "A",
        "B",
        "J",
        "K",
        "(C)",
        ")",
        ".",
        "x",
        "Answer:\n",
        "é",
    ]
)


@given(st.lists(pieces, max_size=14).map("".join))
@example("Answer: A Answer: B\nAnswer: C")
@example("Answer:\nAnswer: D")
@example("So A, then B_ and C.")
def test_three_steps_are_those_of_the_official_code(text: str) -> None:
    if text.strip():
        assert read(MMLU_PRO_THREE_STEPS, text) == as_published(text)


@pytest.mark.parametrize(
    ("text", "first", "three", "simple"),
    [
        ("The answer is (C).", "C", "C", None),
        ("the answer is J\n\nThe answer is (B)", "J", "J", None),
        ("The answer is K, so A", None, "A", None),
        ("Answer: B", None, "B", "B"),
        ("answer : $D$", None, "D", "D"),
        ("ANSWER:  c", None, None, "C"),
        ("Answer: E", None, "E", None),
        ("nothing", None, None, None),
    ],
)
def test_what_each_rule_reads(text: str, first: str | None, three: str | None, simple: str | None) -> None:
    readers = (MMLU_PRO_FIRST_STEP, MMLU_PRO_THREE_STEPS, SIMPLE_EVALS_LETTER)
    assert [read(reader, text) for reader in readers] == [first, three, simple]
