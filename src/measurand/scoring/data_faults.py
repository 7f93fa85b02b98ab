"""Faults of a data set that can be seen before anybody is asked, and that no score would show."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from measurand.core.errors import InputError
from measurand.core.record import Json
from measurand.scoring.number_words import value_of

SURPRISING = 0.05
"""A share of golds that chance alone exceeds less often than this is a giveaway."""

_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
_IN_WORDS = re.compile(r"[a-z]+(?:[ -][a-z]+){0,6}", re.IGNORECASE)
_TIMES = {"once": 1, "twice": 2, "thrice": 3, "single": 1, "pair": 2, "dozen": 12, "a": 1, "an": 1}
_AT_LEAST = re.compile(
    r"\b(?:at least|or more|no (?:less|fewer) than|not (?:less|fewer) than|minimum|more than|over)\b", re.IGNORECASE
)
_LESS = re.compile(
    r"(?<!no )(?<!not )\b(?:less than|fewer than|at most|no more than|not more than|maximum|under|up to)\b",
    re.IGNORECASE,
)
_EXACT = re.compile(r"\b(?:exactly|precisely|only|just)\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:plenty|many|lots|numerous|as many|several|countless|a (?:lot|few|couple|number))\b", re.IGNORECASE
)


def constraint_faults(prompt: str, arguments: Mapping[str, Json]) -> tuple[str, ...]:
    """How a prompt and the arguments that its answer is checked by disagree, one sentence each; none if they agree.

    Seen are numbers of the arguments that the prompt does not state, a relation ("at least", "less than") whose
    opposite alone the prompt states, and an exact count beside a wish for many. What needs understanding is not seen.
    """
    faults = []
    stated = _numbers(prompt)
    for name, value in arguments.items():
        if isinstance(value, int) and not isinstance(value, bool) and value not in stated:
            faults.append(f"{name} is {value}, which the prompt does not state")
    for name, value in arguments.items():
        least, less = _AT_LEAST.search(prompt) is not None, _LESS.search(prompt) is not None
        if (value == "at least" and less and not least) or (value == "less than" and least and not less):
            faults.append(f"{name} is '{value}', and the prompt states the opposite")
    if _EXACT.search(prompt) and _VAGUE.search(prompt):
        faults.append("the prompt asks for an exact count and for many")
    return tuple(faults)


def _numbers(text: str) -> set[int]:
    """The whole numbers that a text states, in digits or English words."""
    found = {int(match[0].replace(",", "")) for match in _DIGITS.finditer(text)}
    for match in _IN_WORDS.finditer(text):
        words = re.split(r"[ -]", match[0].lower())
        found.update(_TIMES[word] for word in words if word in _TIMES)
        for start in range(len(words)):
            for end in range(start + 1, min(start + 6, len(words)) + 1):
                value = _in_words(words[start:end])
                if value is not None:
                    found.add(value)
    return found


def _in_words(words: Sequence[str]) -> int | None:
    joined = " ".join(words)
    return value_of(joined) if value_of(words[0]) or joined == "zero" else None


@dataclass(frozen=True, slots=True)
class Giveaway:
    """How often a rule that reads no question picks the gold, and how often it would by chance.

    `p` is the chance that it picks so many golds or more where it knows nothing.
    """

    share: float
    chance: float
    p: float

    @property
    def surprising(self) -> bool:
        """Whether chance alone does not explain it."""
        return self.p < SURPRISING


def giveaway(picks: Sequence[int], golds: Sequence[int], options: Sequence[int]) -> Giveaway:
    """What a rule gives away that picks option `picks[i]` of `options[i]` where `golds[i]` is right.

    The number of golds it picks is Poisson binomial where it knows nothing, with the chance 1/options each; its upper
    tail is summed exactly. Raises InputError where there is no item.
    """
    if not golds:
        raise InputError("a giveaway is looked for among items, and there is none")
    hits = sum(pick == gold for pick, gold in zip(picks, golds, strict=True))
    tail = [1.0]  # the probability of each count of hits, item by item
    for count in options:
        chance = 1 / count
        tail = [
            (tail[n] * (1 - chance) if n < len(tail) else 0.0) + (tail[n - 1] * chance if n else 0.0)
            for n in range(len(tail) + 1)
        ]
    return Giveaway(hits / len(golds), math.fsum(1 / count for count in options) / len(golds), math.fsum(tail[hits:]))


def longest(lengths: Sequence[Sequence[float]], golds: Sequence[int]) -> Giveaway:
    """Whether the longest option is the gold more often than chance has it; among equals the first is picked."""
    picks = [max(range(len(each)), key=each.__getitem__) for each in lengths]
    return giveaway(picks, golds, [len(each) for each in lengths])
