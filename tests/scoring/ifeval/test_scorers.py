"""Strict and loose, by prompt and by instruction; texts that obey and texts that do not; and any junk, in time."""

import json
from typing import Any

import pytest

from measurand.core.item import Item, Question
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.ifeval.kinds import KINDS, follows
from measurand.scoring.ifeval.obeying import obedient, unruly
from measurand.scoring.ifeval.scorers import (
    BY_KIND,
    INSTRUCTION_LOOSE,
    INSTRUCTION_STRICT,
    PROMPT_LOOSE,
    PROMPT_STRICT,
    constraints_of,
    loosened,
    ranked,
    verdicts,
)
from tests.growth import assert_grows_gently
from tests.scoring.ifeval.replies import read
from tests.scoring.ifeval.test_checks import BROKEN, FOLLOWED
from tests.scoring.test_hostile import JUNK

GOLD = [
    {"kind": "punctuation:no_comma", "given": {}},
    {"kind": "startend:quotation", "given": {}},
    {"kind": "detectable_format:title", "given": {}},
]


def item(gold: Any = GOLD) -> Item:
    return Item("x", Question("q"), gold=gold)


def test_the_eight_loose_forms() -> None:
    assert list(loosened("*a*\nb\n c*")) == ["*a*\nb\n c*", "a\nb\n c", "b\n c*", "b\n c", "*a*\nb", "a\nb", "b", "b"]
    assert list(loosened("one")) == ["one", "one", "", "", "", "", "", ""]


def test_each_instruction_may_be_served_by_another_form() -> None:
    text = 'Sure, here:\n"It is so."'
    constraints = constraints_of(GOLD)
    assert verdicts(text, constraints) == (False, False, False)
    assert verdicts(text, constraints, "loose") == (True, True, False)


def test_rows_of_the_four_scorers() -> None:
    found = Found('Sure, here:\n"It is <<so>>."')
    rows = [
        scorer.score(item(), found) for scorer in (PROMPT_STRICT, INSTRUCTION_STRICT, PROMPT_LOOSE, INSTRUCTION_LOOSE)
    ]
    assert rows == [Measured((0.0,)), Measured((1.0, 3.0)), Measured((1.0,)), Measured((3.0, 3.0))]
    assert PROMPT_LOOSE.score(item(), Absent("empty")) == Measured((0.0,))
    assert INSTRUCTION_LOOSE.score(item(), Absent("empty")) == Measured((0.0, 3.0))


def test_a_kind_is_scored_where_it_is_asked_for() -> None:
    found = Found("No pause")
    assert BY_KIND["punctuation:no_comma"].score(item(), found) == Measured((1.0, 1.0))
    assert BY_KIND["detectable_format:json_format"].score(item(), found) == Missing(
        "not_applicable", "no constraint detectable_format:json_format"
    )


@pytest.mark.parametrize("gold", [None, [], "x", [{"kind": "a"}], [{"kind": "nobody:knows", "given": {}}]])
def test_a_gold_that_cannot_be_checked_is_missing(gold: Any) -> None:
    value = PROMPT_STRICT.score(item(gold), Found("text"))
    assert isinstance(value, Missing)
    assert value.why == "scorer_failed"


def test_texts_of_our_making_obey_or_do_not() -> None:
    """On the real prompts. What cannot be met: other languages, and constraints that hinder one another."""
    rows = read("ifeval/input_data.jsonl")
    obeyed = broken = 0
    kinds = set()
    for row in rows:
        constraints = list(zip(row["instruction_id_list"], row["kwargs"], strict=True))
        followed = verdicts(obedient(constraints), constraints)
        kinds |= {kind for (kind, _), ok in zip(constraints, followed, strict=True) if ok}
        obeyed += all(followed)
        broken += not any(verdicts(unruly(constraints), constraints))
    assert obeyed / len(rows) > 0.85
    assert broken / len(rows) > 0.95
    assert kinds == set(KINDS) - {"language:response_language"}


@pytest.mark.parametrize(
    "junk", [*JUNK, "<<", "[", "*", "-\n", ". . ", "a! ", "p. ", "n't ", "'s ", "A.", "@a", "*a*\n"], ids=ascii
)
def test_long_junk_is_checked_in_time(junk: str) -> None:
    text = (junk * 100_000)[:100_000]
    asked = {kind: given for kind, given, _ in (*FOLLOWED, *BROKEN)}
    for kind, given in asked.items():

        def check(size: int, kind: str = kind, given: dict[str, Any] = given) -> None:
            follows(kind, text[:size], given)

        assert_grows_gently(check, len(text), kind)


def test_kinds_are_ranked_by_how_often_they_are_followed() -> None:
    checked = [(("a", "b"), (True, False)), (("b", "c"), (True, True)), (("a",), (True,))]
    assert ranked(checked) == [("b", 1, 2), ("a", 2, 2), ("c", 1, 1)]


def test_golds_are_plain_json() -> None:
    assert constraints_of(json.loads(json.dumps(GOLD))) == constraints_of(GOLD)
