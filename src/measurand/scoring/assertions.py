"""Assertions: a check of one reply that passes, fails, or was not measured. For whoever comes from test-like tools.

A score is compared with a threshold by one rule, `passes`: an explicit 0 is a threshold, False is 0, and what is not a
number is neither a pass nor a fail. `not-` before a name turns the result round, and never an unmeasured one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.trial import Finding, Found, Measured, Missing
from measurand.scoring.jsons import JSON_VALUE, json_schema
from measurand.scoring.patterns import regex

NEGATION = "not-"
_ITEM = Item("assertion", Question(""))


@dataclass(frozen=True, slots=True)
class Asserted:
    """How an assertion came out: `passed` and `score` are None where nothing was measured; `why` says why then."""

    passed: bool | None
    score: float | None
    why: str = ""


def passes(score: float | None, threshold: float | None = None) -> bool | None:
    """Whether a score reaches a threshold; without one, whether there is any score at all above 0.

    None where the score is None or no number. A score equal to the threshold passes.
    """
    if score is None or math.isnan(score):
        return None
    return score > 0 if threshold is None else score >= threshold


def assert_score(score: Json, threshold: float | None = None) -> Asserted:
    """A score as some scorer gave it: a bool, a number, a number as text, or a mapping with `score` and `pass`.

    A mapping's own `pass` counts; where it lacks one, its score decides. Nothing is ever passed for want of a word.
    """
    if isinstance(score, Mapping):
        own = score.get("pass", score.get("passed"))
        made = assert_score(score["score"], threshold) if "score" in score else Asserted(None, None, "no score")
        if isinstance(own, bool):
            return Asserted(own, float(own) if made.score is None else made.score, str(score.get("reason", "")))
        return made
    value = _number(score)
    if value is None:
        return Asserted(None, None, f"{score!r} is no score")
    return Asserted(passes(value, threshold), value)


def assert_text(kind: str, text: str, value: Json = None, threshold: float | None = None) -> Asserted:
    """Check a reply by the assertion of that name, as `contains` or `not-contains-json`; else InputError."""
    turned = kind.startswith(NEGATION)
    name = kind.removeprefix(NEGATION)
    if name not in CHECKS:
        raise InputError(
            f"there is no assertion '{kind}'; there are {', '.join(CHECKS)}, each also with 'not-' before it"
        )
    score = float(CHECKS[name](text, value))
    passed = passes(score, threshold)
    if not turned:
        return Asserted(passed, score)
    return Asserted(not passed, 1.0 - score)


def assert_most(spent: float | None, threshold: float) -> Asserted:
    """Check that what was spent (seconds, dollars, tokens) is at most the threshold; a threshold of 0 is one too."""
    if spent is None or math.isnan(spent):
        return Asserted(None, None, "not measured")
    return Asserted(spent <= threshold, float(spent <= threshold))


def assert_all(parts: Sequence[Asserted], threshold: float | None = None, weights: Sequence[float] = ()) -> Asserted:
    """Several assertions as one: all must pass or, with a threshold, their weighted mean must reach it.

    A weight of 0 leaves a part out of the mean. Where a part that counts was not measured, neither is the whole.
    """
    shares = list(weights) or [1.0] * len(parts)
    counted = [(part, share) for part, share in zip(parts, shares, strict=True) if share]
    if any(part.passed is None for part, _ in counted):
        return Asserted(None, None, "a part was not measured")
    total = sum(share for _, share in counted)
    score = sum((part.score or 0.0) * share for part, share in counted) / total if total else 1.0
    return Asserted(passes(score, threshold) if threshold is not None else all(p.passed for p, _ in counted), score)


def assertion(kind: str) -> Scorer:
    """A scorer that makes an assertion of that name about each reply; the gold is the value that is wanted.

    Raises InputError for an assertion that does not exist.
    """
    assert_text(kind, "", "")

    def score(item: Item, finding: Finding) -> Measured | Missing:
        text = str(finding.value) if isinstance(finding, Found) else ""
        made = assert_text(kind, text, item.gold)
        return Missing("scorer_failed", made.why) if made.score is None else Measured((made.score,))

    return Scorer(f"assert {kind}", 1, score)


def _number(value: Json) -> float | None:
    if isinstance(value, bool | int | float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, str):
        text = value.strip().lower()
        if text in {"true", "false"}:
            return float(text == "true")
        try:
            number = float(text)
        except ValueError:
            return None
        return None if math.isnan(number) else number
    return None


def _json(text: str) -> Json | None:
    found = JSON_VALUE.read(_ITEM, Answer(text))
    return found if isinstance(found, Found) else None


def _contains_json(text: str, schema: Json) -> float:
    found = _json(text)
    if found is None:
        return 0.0
    if not isinstance(schema, dict):
        return 1.0
    scored = json_schema(schema).score(_ITEM, found)
    return scored.row[0] if isinstance(scored, Measured) else 0.0


def _is_json(text: str, schema: Json) -> float:
    try:
        msgspec.json.decode(text)  # strict: NaN and trailing text are no JSON
    except (msgspec.DecodeError, UnicodeEncodeError):
        return 0.0
    return _contains_json(text, schema) if isinstance(schema, dict) else 1.0


def _regex(text: str, pattern: Json) -> float:
    scored = regex(str(pattern)).score(_ITEM, Found(text))
    return scored.row[0] if isinstance(scored, Measured) else 0.0


def _all_of(value: Json) -> list[str]:
    """A list of texts: as it is, or a text with commas between its parts."""
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    return [str(part).strip() for part in parts]


CHECKS: Mapping[str, Callable[[str, Json], float | bool]] = {
    "equals": lambda text, value: text.strip() == str(value).strip(),
    "contains": lambda text, value: str(value) in text,
    "icontains": lambda text, value: str(value).casefold() in text.casefold(),
    "contains-all": lambda text, value: all(part in text for part in _all_of(value)),
    "contains-any": lambda text, value: any(part in text for part in _all_of(value)),
    "icontains-all": lambda text, value: all(part.casefold() in text.casefold() for part in _all_of(value)),
    "icontains-any": lambda text, value: any(part.casefold() in text.casefold() for part in _all_of(value)),
    "starts-with": lambda text, value: text.startswith(str(value)),
    "ends-with": lambda text, value: text.endswith(str(value)),
    "regex": _regex,
    "is-json": _is_json,
    "contains-json": _contains_json,
}
"""The assertions by name: each takes the reply and the value that is wanted, and gives a score from 0 to 1."""
