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


class Signed(Record, frozen=True):
    """A decision and who signed it. `signature.decision` is the first 16 characters of the decision's identity."""

    decision: Decision
    signature: Signature


class Gate(Record, frozen=True):
    """Whether a change may go in: what was checked, each check with its verdict, and how far it may err.

    `margin` is how much worse than the baseline is borne, in the unit of the metric (0.02 for two points); None without
    a baseline. `false_alarm` is the highest chance that a change that is no worse than that fails the check against
    the baseline. `run` and `protocol` are full ids, and `baseline` the run that it holds.
    """

    benchmark: str
    subject: str
    run: str
    protocol: str
    checks: tuple[Rule, ...]
    baseline: str = ""
    margin: float | None = None
    false_alarm: float = 0.025

    @property
    def verdict(self) -> Literal["pass", "fail", "undecided"]:
        """Fail where one check fails, pass where all pass; otherwise nobody can say."""
        verdicts = {check.verdict for check in self.checks}
        if "fail" in verdicts:
            return "fail"
        return "undecided" if "undecided" in verdicts or not verdicts else "pass"
