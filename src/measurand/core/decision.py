"""Where an evaluation ends: a question, rules, and what is still not known."""

from __future__ import annotations

from typing import Literal

from measurand.core.claim import Claim
from measurand.core.record import Record


class Rule(Record, frozen=True):
    """A rule of the decision and how it came out, with the numbers it rests on."""

    text: str
    verdict: Literal["pass", "fail", "undecided"]
    because: str


class Threat(Record, frozen=True):
    """A threat to validity: what it is, the evidence for it, and what would remove it."""

    name: str
    evidence: str
    remedy: str


class Decision(Record, frozen=True):
    """An answer to the question, with its evidence (hashes), threats, and what would change it."""

    question: str
    claim: Claim
    rules: tuple[Rule, ...]
    evidence: tuple[str, ...]
    threats: tuple[Threat, ...]
    would_change: tuple[str, ...]
