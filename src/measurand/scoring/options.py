"""Choosing among options by their log-probabilities: as they are, by length, or against what they are worth alone.

Each rule is a reader of its own, named by its unit. Where several options are best, all of them are found, and a
scorer shares the point among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from measurand.core.benchmark import Reader, Scorer
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.choosing import CHOICE_SCORE

Weigh = Callable[[Item, Answer], Sequence[float] | str]
"""A number for each option of an item, or a word on why there is none."""


def best(numbers: Sequence[float]) -> int | list[int]:
    """The place of the largest number, or all places where several are largest."""
    top = max(numbers)
    tied = [place for place, number in enumerate(numbers) if number == top]
    return tied[0] if len(tied) == 1 else tied


def _by(name: str, weigh: Weigh) -> Reader:
    def read(item: Item, answer: Answer) -> Finding:
        if not answer.values or any(math.isnan(value) for value in answer.values):
            return Absent("no value for each option")
        weighed = weigh(item, answer)
        return Absent(weighed) if isinstance(weighed, str) else Found(best(weighed))

    return Reader(name, 1, read)


def _per(lengths: Callable[[str], int]) -> Weigh:
    """The log-probability divided by the length of the option's text."""

    def weigh(item: Item, answer: Answer) -> Sequence[float] | str:
        texts = item.input.options if isinstance(item.input, Question) else ()
        if len(texts) != len(answer.values):
            return "not one value for each option's text"
        return [value / max(lengths(text), 1) for value, text in zip(answer.values, texts, strict=True)]

    return weigh


def _per_token(_: Item, answer: Answer) -> Sequence[float] | str:
    if len(answer.counts) != len(answer.values):
        return "the subject did not say how many tokens the options have"
    return [value / max(count, 1) for value, count in zip(answer.values, answer.counts, strict=True)]


def _beyond_alone(_: Item, answer: Answer) -> Sequence[float] | str:
    half, odd = divmod(len(answer.values), 2)
    if odd:
        return "not two values for each option"
    return [after - alone for after, alone in zip(answer.values[:half], answer.values[half:], strict=True)]


ARGMAX_BYTES = _by("argmax_bytes", _per(lambda text: len(text.encode("utf-8", "surrogatepass"))))
"""The option with the largest log-probability per UTF-8 byte of its text."""

ARGMAX_CHARACTERS = _by("argmax_characters", _per(len))
"""The option with the largest log-probability per character: what lm-evaluation-harness calls acc_norm."""

ARGMAX_TOKENS = _by("argmax_tokens", _per_token)
"""The option with the largest log-probability per token of the subject's own."""

ARGMAX_PMI = _by("argmax_pmi", _beyond_alone)
"""The option whose log-probability rises most over what it has without the question (PMI).

`Answer.values` holds both: first after the question, then after a premise that asks nothing. Holtzman et al. 2021,
"Surface form competition", equation 3.
"""


def _shares(_: Item, answer: Answer) -> Finding:
    if not answer.values or any(math.isnan(value) for value in answer.values):
        return Absent("no value for each option")
    top = max(answer.values)
    if top == -math.inf:
        return Absent("no option has a probability")
    parts = [math.exp(value - top) for value in answer.values]
    whole = math.fsum(parts)
    return Found([part / whole for part in parts])


OPTION_SHARES = Reader("option_shares", 1, _shares)
"""The probability of each option among the options: their probabilities, made to sum to one."""


def _confidence(item: Item, finding: Finding) -> Measured | Missing:
    if not isinstance(finding, Found) or not isinstance(finding.value, list | tuple) or not finding.value:
        return Missing("not_answered", "no probabilities of the options")
    score = CHOICE_SCORE.score(item, Found(best(finding.value)))
    return score if isinstance(score, Missing) else Measured((max(finding.value), score.row[0]))


CONFIDENCE = Scorer("option_confidence", 1, _confidence)
"""How sure the choice is, and whether it is right (1/k where k options are best); row: (confidence, correct)."""


def _by_order(item: Item, answer: Answer) -> Finding:
    count = len(item.input.options) if isinstance(item.input, Question) else 0
    if not count or not answer.values or len(answer.values) % count or any(map(math.isnan, answer.values)):
        return Absent("no value for each option in each order")
    return Found({"choices": [best(answer.values[at : at + count]) for at in range(0, len(answer.values), count)]})


BY_ORDER = Reader("argmax_by_order", 1, _by_order)
"""The choice in each order of the options, as places in the item's own order: an object {choices}.

`Answer.values` holds the options' log-probabilities in the item's own order, one order after the other.
"""


def _choices(finding: Finding) -> list[int | list[int]]:
    value = finding.value if isinstance(finding, Found) else None
    found = value.get("choices") if isinstance(value, dict) else None
    return list(found) if isinstance(found, list | tuple) else []


def _accuracy_over_orders(item: Item, finding: Finding) -> Measured | Missing:
    scores = [CHOICE_SCORE.score(item, Found(choice)) for choice in _choices(finding)]
    rows = [score.row[0] for score in scores if isinstance(score, Measured)]
    if len(rows) != len(scores):
        return next(score for score in scores if isinstance(score, Missing))
    return Measured((math.fsum(rows) / len(rows),)) if rows else Measured((0.0,))


def _same_in_all_orders(_: Item, finding: Finding) -> Measured:
    choices = _choices(finding)
    single = bool(choices) and isinstance(choices[0], int)
    return Measured((float(single and all(choice == choices[0] for choice in choices)),))


ACCURACY_OVER_ORDERS = Scorer("accuracy_over_orders", 1, _accuracy_over_orders)
"""The share of the orders in which the choice is right, ties shared; row: (share,)."""

SAME_IN_ALL_ORDERS = Scorer("same_in_all_orders", 1, _same_in_all_orders)
"""1 where every order of the options gives the same single choice, right or wrong, else 0; row: (same,)."""
