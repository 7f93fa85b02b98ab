"""A marking that only a judge or a person can give."""

from __future__ import annotations

from measurand.core.benchmark import Scorer
from measurand.core.item import Item
from measurand.core.trial import Finding, Measured, Missing


def _needs_judge(_: Item, finding: Finding) -> Measured | Missing:
    del finding
    return Missing("needs_judge", "a judge's or a person's run gives this score")


RUBRIC = Scorer("rubric", 1, _needs_judge)
"""No number until a judge's run scores the trials."""
