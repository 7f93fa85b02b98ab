"""Reading a short answer from the line that states it, strictly and leniently; and a confidence stated beside it."""

from __future__ import annotations

import re

from measurand.core.benchmark import Scorer
from measurand.core.item import Item
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.folding import MOST_STATEMENTS, STATED, by_question, fold, moved, reader
from measurand.scoring.texts import EXACT

_LINE = re.compile(r"(?:^|(?<=\n))(?:Exact[ ])?Answer:[ \t]*(?=\S)", re.IGNORECASE)
_BLANK = re.compile(r"\s*")
_DRESS = " \t\r*_`"
_CONFIDENCE = re.compile(
    r"Confidence[*_ \t]{0,4}[:=][*_ \t]{0,4}(\d{1,3}(?:\.\d{1,4})?)(?![\d.])[ \t]?%?", re.IGNORECASE
)
SURE = 100.0
"""The confidence of a reply that states none, as the judge of Humanity's Last Exam is told to assume."""


def _rest_of_line(text: str, start: int) -> Finding:
    end = text.find("\n", start)
    line = text[start : len(text) if end < 0 else end]
    start += len(line) - len(line.lstrip(_DRESS))
    line = line.strip(_DRESS)
    return Found(line, (start, start + len(line))) if line else Absent("the line is empty")


def _read_strict(_: Item, text: str) -> Finding:
    last = None
    for last in _LINE.finditer(text):  # noqa: B007  the last one is used
        pass
    return _rest_of_line(text, last.end()) if last else Absent("no line 'Answer: …'")


def _read_lenient(_: Item, text: str) -> Finding:
    finding: Finding = Absent("empty")
    for offset, part in by_question(text):
        marks = list(STATED.finditer(fold(part)))[-1 : -MOST_STATEMENTS - 1 : -1]
        for mark in marks:
            finding = _rest_of_line(part, _BLANK.match(part, mark.end()).end())  # type: ignore[union-attr]  # it can be empty
            if isinstance(finding, Found):
                return moved(finding, offset)
        last = len(part.rstrip())
        finding = _rest_of_line(part, part.rfind("\n", 0, last) + 1) if last else finding
        if isinstance(finding, Found):
            return moved(finding, offset)
    return finding


ANSWER_LINE_STRICT = reader("answer_line_strict", 1, _read_strict)
"""The rest of the last line that begins with "Answer:"."""

ANSWER_LINE = reader("answer_line", 1, _read_lenient)
"""What follows the last place where an answer is stated, in any language; else the last line that is not blank."""


def _read_with_confidence(item: Item, text: str) -> Finding:
    finding = _read_strict(item, text)
    stated = _CONFIDENCE.findall(text)
    share = min(float(stated[-1]) if stated else SURE, 100.0) / 100
    return Found({"answer": finding.value if isinstance(finding, Found) else None, "confidence": share})


ANSWER_AND_CONFIDENCE = reader("answer_and_confidence", 1, _read_with_confidence)
"""The line "Answer: …" and the confidence stated, from 0 to 1 (1 where none is): an object {answer, confidence}."""


def _confident(item: Item, finding: Finding) -> Measured | Missing:
    if not isinstance(finding, Found):
        return Measured((0.0, SURE / 100))
    value = finding.value if isinstance(finding.value, dict) else {}
    answer = value.get("answer")
    score = EXACT.score(item, Absent("no line 'Answer: …'") if answer is None else Found(answer))
    return score if isinstance(score, Missing) else Measured((score.row[0], float(value.get("confidence", 1.0))))


CONFIDENT_EXACT = Scorer("confident_exact", 1, _confident)
"""The confidence stated, and whether the answer equals the gold as text; row: (correct, confidence)."""
