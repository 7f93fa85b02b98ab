"""Decision rules as people write them: `accuracy on loan_support >= 0.80`. One regular form for each kind."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from measurand.core.errors import InputError

Sense = Literal[">=", ">", "<=", "<"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A metric on a scenario, or on one slice of it, against a bound."""

    metric: str
    scenario: str
    sense: Sense
    bound: float
    field: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class WorstSlice:
    """Every value of a slice against a bound."""

    field: str
    scenario: str
    sense: Sense
    bound: float


@dataclass(frozen=True, slots=True)
class NoneBehind:
    """No value of a slice may lie more than `margin` behind the value `reference`."""

    field: str
    reference: str
    scenario: str
    margin: float


@dataclass(frozen=True, slots=True)
class NotWorse:
    """Not worse than another subject by more than `margin`; `than` is empty for the one in present use."""

    than: str
    margin: float
    scenario: str


@dataclass(frozen=True, slots=True)
class Better:
    """Better than another subject by more than `margin`."""

    than: str
    margin: float
    scenario: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """Latency in seconds, cost of 1,000 items in US dollars, or the share of trials without a score."""

    what: Literal["latency", "cost", "missing"]
    statistic: str
    sense: Sense
    bound: float
    scenario: str = ""


RuleForm = Threshold | WorstSlice | NoneBehind | NotWorse | Better | Quantity

FORMS = (
    "accuracy on loan_support >= 0.80",
    "accuracy on loan_support where kind is emi >= 80 %",
    "worst slice of language on loan_support >= 0.70",
    "no slice of language more than 10 points behind en on loan_support",
    "not worse than the present model by more than 2 points on loan_support",
    "better than NAME on loan_support",
    "p95 latency <= 3 s",
    "cost per 1,000 <= 2 USD",
    "missing on loan_support <= 5 %",
)
"""One example of each form, as an error shows them."""

_NUMBER = r"(?P<bound>\d+(?:\.\d+)?)\s*(?P<unit>%|percent|points?|s|ms|seconds?|USD|dollars?)?"
_SENSE = r"(?P<sense>>=|<=|>|<|≥|≤|is at least|is at most|at least|at most)"
_ON = r"(?:\s+on\s+(?P<scenario>[^\s<>=≥≤]+))?"
_WHERE = r"(?: where (?P<field>\S+) (?:is|=) (?P<value>[^<>=≥≤]+?))?"
_POINTS = r"(?P<bound>\d+(?:\.\d+)?)\s*(?P<unit>points?|%|percent)?"
_SENSES: dict[str, Sense] = {
    "≥": ">=",
    "≤": "<=",
    "is at least": ">=",
    "at least": ">=",
    "is at most": "<=",
    "at most": "<=",
    ">=": ">=",
    "<=": "<=",
    ">": ">",
    "<": "<",
}
_PRESENT = {"the present model", "the present system", "the present one", "present", "the present"}


def _worst(found: dict[str, str]) -> RuleForm:
    return WorstSlice(found["field"], found["scenario"], _SENSES[found["sense"]], _share(found))


def _behind(found: dict[str, str]) -> RuleForm:
    return NoneBehind(found["field"], found["reference"], found["scenario"], _points(found))


def _not_worse(found: dict[str, str]) -> RuleForm:
    than = found["than"].strip()
    return NotWorse("" if than.lower() in _PRESENT else than, _points(found), found["scenario"])


def _better(found: dict[str, str]) -> RuleForm:
    than = found["than"].strip()
    return Better("" if than.lower() in _PRESENT else than, _points(found), found["scenario"])


def _latency(found: dict[str, str]) -> RuleForm:
    seconds = float(found["bound"]) / (1000 if found["unit"] == "ms" else 1)
    return Quantity("latency", found["statistic"].lower(), _SENSES[found["sense"]], seconds, found["scenario"])


def _cost(found: dict[str, str]) -> RuleForm:
    return Quantity("cost", "mean", _SENSES[found["sense"]], float(found["bound"]), found["scenario"])


def _missing(found: dict[str, str]) -> RuleForm:
    return Quantity("missing", "share", _SENSES[found["sense"]], _share(found), found["scenario"])


def _threshold(found: dict[str, str]) -> RuleForm:
    sense, bound = _SENSES[found["sense"]], _share(found)
    return Threshold(found["metric"], found["scenario"], sense, bound, found["field"], (found["value"] or "").strip())


_GRAMMAR: tuple[tuple[re.Pattern[str], Callable[[dict[str, str]], RuleForm]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), make)
    for pattern, make in (
        (rf"worst slice of (?P<field>[^\s<>=]+){_ON}\s*{_SENSE}\s*{_NUMBER}", _worst),
        (
            rf"no slice of (?P<field>\S+) (?:is )?more than {_POINTS} behind (?P<reference>\S+){_ON}",
            _behind,
        ),
        (rf"not worse than (?P<than>.+?) by more than {_POINTS}{_ON}", _not_worse),
        (rf"better than (?P<than>.+?)(?: by (?:at least|more than) {_POINTS})?{_ON}", _better),
        (rf"(?P<statistic>p\d{{1,2}}|median|mean) latency{_ON}\s*{_SENSE}\s*{_NUMBER}", _latency),
        (rf"cost per (?:1,?000|thousand)(?: items| questions)?{_ON}\s*{_SENSE}\s*\$?\s*{_NUMBER}", _cost),
        (rf"missing{_ON}\s*{_SENSE}\s*{_NUMBER}", _missing),
        (
            rf"(?P<metric>[\w@*.-]+){_ON}{_WHERE}\s*{_SENSE}\s*{_NUMBER}",
            _threshold,
        ),
    )
)


def parse(text: str) -> RuleForm:
    """Read one rule. Raises InputError with the nearest form where it cannot be read."""
    plain = " ".join(text.split())
    for pattern, make in _GRAMMAR:
        found = pattern.fullmatch(plain)
        if found is not None:
            return make({name: value or "" for name, value in found.groupdict().items()})
    near = difflib.get_close_matches(plain, FORMS, n=1, cutoff=0.4)
    hint = f"did you mean a rule like '{near[0]}'? " if near else ""
    raise InputError(f"the rule '{text}' cannot be read; {hint}Rules have these forms: {'; '.join(FORMS)}")


def _share(found: dict[str, str]) -> float:
    """A bound as a share of one, where it is written with a percent sign or in points."""
    value = float(found["bound"])
    return value / 100 if found["unit"].lower() in {"%", "percent", "point", "points"} else value


def _points(found: dict[str, str]) -> float:
    """A margin: always in points of a hundred, whether or not the word is written. Nothing is no margin."""
    return float(found["bound"] or 0) / 100
