"""How a private set is scored: one scorer for all rows, one named by each row, or a user's function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from measurand import scoring
from measurand.core.benchmark import Marking, Reader, Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Finding, Measured, Missing
from measurand.scoring.assertions import assertion
from measurand.scoring.submissions import FLAG
from measurand.study.records import PrivateSet

SCORED_AS = "scoring"
"""The slice in which a row's own scorer is kept."""
PYTHON = "python:"
ASSERT = "assert:"


def _schema_of_item(item: Item, finding: Finding) -> Measured | Missing:
    if not isinstance(item.gold, dict):
        return Missing("scorer_failed", f"the gold of item {item.id} is no JSON schema")
    return scoring.json_schema(item.gold).score(item, finding)


@cache
def _compiled(pattern: str) -> Scorer:
    from measurand.scoring.patterns import regex

    return regex(pattern)


def _pattern_of_item(item: Item, finding: Finding) -> Measured | Missing:
    if not isinstance(item.gold, str):
        return Missing("scorer_failed", f"the gold of item {item.id} is no pattern")
    try:
        return _compiled(item.gold).score(item, finding)
    except InputError as error:
        return Missing("scorer_failed", str(error))


REGEX = Scorer("regex", 1, _pattern_of_item)
"""Whether the pattern in the item's gold matches somewhere in the reply."""

JSON_SCHEMA = Scorer("json_schema", 1, _schema_of_item)
"""Whether the reply is JSON that fits the schema in the item's gold."""


def _instruments(spec: PrivateSet) -> Mapping[str, Callable[[], tuple[Reader, Scorer]]]:
    """Each scorer that a row may name, with the reader that reads for it; only those that are used are loaded.

    All of them together are the scoring of a set whose rows choose, so one more here is another protocol of each.
    """
    return {
        "exact": lambda: (scoring.WHOLE_TEXT, scoring.exact(spec.normalise) if spec.normalise else scoring.EXACT),
        "numeric": lambda: (scoring.NUMBER, scoring.numeric(absolute=spec.tolerance)),
        "contains": lambda: (scoring.WHOLE_TEXT, scoring.CONTAINS),
        "regex": lambda: (scoring.WHOLE_TEXT, REGEX),
        "choice": lambda: (scoring.CHOICE, scoring.CHOICE_SCORE),
        "token_f1": lambda: (scoring.WHOLE_TEXT, scoring.TOKEN_F1),
        "json_equal": lambda: (scoring.JSON_VALUE, scoring.JSON_EQUAL),
        "json_schema": lambda: (scoring.JSON_VALUE, JSON_SCHEMA),
        "rubric": lambda: (scoring.WHOLE_TEXT, scoring.RUBRIC),
    }


def private_markings(spec: PrivateSet) -> tuple[Marking, ...]:
    """The one marking of a private set. Raises InputError for a scorer that does not exist."""
    if spec.scoring.startswith(PYTHON):
        return (Marking("score", scoring.WHOLE_TEXT, scoring.from_function(spec.scoring.removeprefix(PYTHON))),)
    if spec.scoring.startswith(ASSERT):
        return (Marking("score", scoring.WHOLE_TEXT, assertion(spec.scoring.removeprefix(ASSERT))),)
    if spec.scoring == FLAG.name:
        return (Marking("score", scoring.WHOLE_TEXT, FLAG),)
    instruments = _instruments(spec)
    if spec.scoring.startswith("column:"):
        return (_by_row({name: make() for name, make in instruments.items()}),)
    if spec.scoring not in instruments:
        known = ", ".join(instruments)
        raise InputError(
            f"there is no scoring '{spec.scoring}'; there are {known}, flag, assert:NAME, column:NAME, "
            "python:module:function"
        )
    reader, scorer = instruments[spec.scoring]()
    return (Marking("score", reader, scorer),)


def _by_row(instruments: Mapping[str, tuple[Reader, Scorer]]) -> Marking:
    """Reads and scores each item with the instruments that its row names."""

    def read(item: Item, answer: Answer) -> Finding:
        chosen = instruments.get(item.slices.get(SCORED_AS, ""))
        return chosen[0].read(item, answer) if chosen else Absent("no such scoring")

    def score(item: Item, finding: Finding) -> Measured | Missing:
        name = item.slices.get(SCORED_AS, "")
        if name not in instruments:
            return Missing("scorer_failed", f"item {item.id} names the scoring '{name}', which does not exist")
        return instruments[name][1].score(item, finding)

    return Marking("score", Reader(_joined(instruments, 0), 1, read), Scorer(_joined(instruments, 1), 1, score))


def _joined(instruments: Mapping[str, tuple[Reader, Scorer]], which: int) -> str:
    """The name of a mixture says what is in it, so that a new version of a part is a new protocol."""
    parts = sorted({f"{pair[which].name}@{pair[which].version}" for pair in instruments.values()})
    return f"by_row({','.join(parts)})"
