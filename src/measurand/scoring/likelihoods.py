"""Scoring whole answers by their log-probabilities, where several of them are true."""

from __future__ import annotations

import math

from measurand.core.benchmark import Reader, Scorer
from measurand.core.item import Item
from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Finding, Found, Measured, Missing


def _read_values(_: Item, answer: Answer) -> Finding:
    if not answer.values or any(math.isnan(value) for value in answer.values):
        return Absent("no value for each option")
    return Found(list(answer.values))


LOG_PROBABILITIES = Reader("log_probabilities", 1, _read_values)
"""The log-probability of each continuation, in order."""


def _true_mass(item: Item, finding: Finding) -> Measured | Missing:
    gold = item.gold
    if not isinstance(gold, list | tuple) or not any(gold):
        return Missing("scorer_failed", f"the gold of item {item.id} marks no answer as true")
    if not isinstance(finding, Found):
        return Measured((0.0,))
    values = finding.value if isinstance(finding.value, list | tuple) else ()
    if len(values) != len(gold):
        return Missing("scorer_failed", f"item {item.id} has {len(gold)} answers and {len(values)} log-probabilities")
    top = max(values)
    if top == -math.inf:
        return Measured((sum(map(bool, gold)) / len(gold),))
    shares = [math.exp(value - top) for value in values]
    return Measured((math.fsum(share for share, true in zip(shares, gold, strict=True) if true) / math.fsum(shares),))


TRUE_MASS = Scorer("true_mass", 1, _true_mass)
"""The share of probability that the true among several answers get, each weighing exp(log-probability); row: (share,).

The gold marks each answer as true or false. TruthfulQA's MC2 (Lin et al. 2022); shares are taken from the largest
log-probability down, so that long answers do not underflow.
"""
