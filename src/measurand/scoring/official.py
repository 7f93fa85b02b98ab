"""Readers that are the rules of a benchmark's own code, kept by name where ours differ from them."""

from __future__ import annotations

import re

from measurand.core.item import Item
from measurand.core.trial import Absent, Finding, Found
from measurand.scoring.folding import reader

_ANSWER_IS = re.compile(r"answer is \(?([A-J])\)?")
_ANSWER = re.compile(r"[aA]nswer:(?=\s*([A-J]))")
_ALONE = re.compile(r"\b[A-J]\b")
_SIMPLE = re.compile(r"Answer[ \t]*:[ \t]*\$?([A-D])\$?", re.IGNORECASE)


def _found(match: re.Match[str] | None, group: int, why: str) -> Finding:
    return Found(match[group].upper(), match.span(group)) if match else Absent(why)


def _read_first_step(_: Item, text: str) -> Finding:
    return _found(_ANSWER_IS.search(text), 1, "no 'answer is X'")


def _read_three_steps(_: Item, text: str) -> Finding:
    if (match := _ANSWER_IS.search(text)) or (match := _on_first_line(text)):
        return _found(match, 1, "")
    last = None
    for last in _ALONE.finditer(text):  # noqa: B007  the last one is used
        pass
    return _found(last, 0, "no letter stands alone")


def _on_first_line(text: str) -> re.Match[str] | None:
    """The last "Answer: X" of the first line that has one, which is what a greedy `.*[aA]nswer:` finds."""
    found = None
    for match in _ANSWER.finditer(text):
        if found is not None and "\n" in text[found.start() : match.start()]:
            break
        found = match
    return found


def _read_simple_evals(_: Item, text: str) -> Finding:
    return _found(_SIMPLE.search(text), 1, "no 'Answer: X'")


MMLU_PRO_FIRST_STEP = reader("mmlu_pro_first_step", 1, _read_first_step)
"""The first "answer is (X)": the first of MMLU-Pro's three steps, and all that lm-eval does (Wang et al. 2024)."""

MMLU_PRO_THREE_STEPS = reader("mmlu_pro_three_steps", 1, _read_three_steps)
"""MMLU-Pro's own extraction: "answer is (X)", else "Answer: X", else the last letter that stands alone; no guess."""

SIMPLE_EVALS_LETTER = reader("simple_evals_letter", 1, _read_simple_evals)
"""The first "Answer: X" in any case, A to D, as simple-evals reads MMLU and GPQA."""
