"""Where an evaluation ends: a question, rules, and what is still not known."""

from __future__ import annotations

from typing import Literal

from measurand.core.claim import Claim
from measurand.core.estimate import Estimate
from measurand.core.record import Record


class Rule(Record, frozen=True):
    """A rule of the decision, as the study states it, and how it came out for one subject.

    `because` is the sentence with the numbers it rests on, `estimate` the number itself where there is one. `needs`
    says of an undecided rule how many further items would decide it; None where more items cannot.
    """

    text: str
    verdict: Literal["pass", "fail", "undecided"]
    because: str
    subject: str = ""
    estimate: Estimate | None = None
    needs: int | None = None


class Threat(Record, frozen=True):
    """A threat to validity: what it is, the evidence for it, and what would remove it.

    `name` is the kind, the same in every report; `about` names the subject or benchmark that it concerns.
    """

    name: str
    evidence: str
    remedy: str
    about: str = ""


class Decision(Record, frozen=True):
    """An answer to the question, with its evidence (hashes), threats, and what would change it.

    `answer` is the sentence that a page opens with, `chosen` the subject that it names (empty where none passes or
    none can be told apart), `causes` the sentences that give its reasons, each with a number and its error.
    """

    question: str
    claim: Claim
    rules: tuple[Rule, ...]
    evidence: tuple[str, ...]
    threats: tuple[Threat, ...]
    would_change: tuple[str, ...]
    answer: str = ""
    chosen: str = ""
    causes: tuple[str, ...] = ()


class Signature(Record, frozen=True):
    """Who stands behind a decision, and since when (ISO date). `supersedes` is the id of the decision it replaces."""

    decision: str
    by: str
    date: str
    supersedes: str = ""
