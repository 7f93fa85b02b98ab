"""Lines that state an answer, strictly and leniently; and the confidence beside them."""

import pytest

from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Found, Measured, Missing
from measurand.scoring.answer_lines import (
    ANSWER_AND_CONFIDENCE,
    ANSWER_LINE,
    ANSWER_LINE_STRICT,
    CONFIDENT_EXACT,
)

ITEM = Item("1", Question("q"), gold="42 km")


def value(reader: object, text: str) -> object:
    finding = reader.read(ITEM, Answer(text))  # type: ignore[attr-defined]
    if isinstance(finding, Found) and finding.span is not None:
        assert text[slice(*finding.span)] == finding.value
    return finding.value if isinstance(finding, Found) else None


@pytest.mark.parametrize(
    ("text", "strict", "lenient"),
    [
        ("Explanation: so.\nAnswer: 42 km\nConfidence: 80%", "42 km", "42 km"),
        ("Answer: 41\nNo.\nAnswer: **42 km**", "42 km", "42 km"),
        ("Exact Answer: 42 km", "42 km", "42 km"),
        ("It is far.\nThe answer is 42 km", None, "42 km"),
        ("Réponse : 42 km", None, "42 km"),
        ("It is\n42 km\n", None, "42 km"),
        ("Answer:\n42 km", None, "42 km"),
        ("<think>Answer: 1</think>Answer: 2", "2", "2"),
        ("<think>Answer: 1", None, None),
        ("", None, None),
        (" \n ", None, None),
        ("Answer: ", None, "Answer:"),
    ],
)
def test_the_line_that_states_an_answer(text: str, strict: str | None, lenient: str | None) -> None:
    assert value(ANSWER_LINE_STRICT, text) == strict
    assert value(ANSWER_LINE, text) == lenient


@pytest.mark.parametrize(
    ("text", "confidence", "row"),
    [
        ("Answer: 42 km\nConfidence: 80%", 0.8, (1.0, 0.8)),
        ("Answer: 41 km\n**Confidence:** 12.5 %", 0.125, (0.0, 0.125)),
        ("Answer: 42 km", 1.0, (1.0, 1.0)),
        ("Answer: 42 km\nConfidence: 250%", 1.0, (1.0, 1.0)),
        ("I do not know.\nConfidence: 3%", 0.03, (0.0, 0.03)),
    ],
)
def test_confidence_is_a_share_and_sure_where_none_is_stated(
    text: str, confidence: float, row: tuple[float, ...]
) -> None:
    finding = ANSWER_AND_CONFIDENCE.read(ITEM, Answer(text))
    assert isinstance(finding, Found)
    assert finding.value["confidence"] == pytest.approx(confidence)
    assert CONFIDENT_EXACT.score(ITEM, finding) == Measured(row)


def test_an_empty_reply_is_sure_and_wrong_and_a_gold_that_is_no_text_is_missing() -> None:
    assert CONFIDENT_EXACT.score(ITEM, ANSWER_AND_CONFIDENCE.read(ITEM, Answer(""))) == Measured((0.0, 1.0))
    other = Item("1", Question("q"), gold={"x": 1})
    score = CONFIDENT_EXACT.score(other, ANSWER_AND_CONFIDENCE.read(other, Answer("Answer: 1")))
    assert isinstance(score, Missing)
