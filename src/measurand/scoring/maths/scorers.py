r"""Scorers of mathematical answers: the house rule, and other people's rules and libraries beside it.

The gold is the answer as LaTeX or plain text; each scorer gives one column, 1 where it takes the two for equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.trial import Finding, Found, Measured, Missing
from measurand.scoring.maths.answers import answers_equal, vote_of
from measurand.scoring.maths.libraries import math_verify_equal, sympy_equal
from measurand.scoring.maths.strings import hendrycks_equal

NO_VOTE = -1.0
"""The code of a sample in which no answer was read (as in measurand.stats.voting)."""

Equal = Callable[[str, str], bool]


def by_rule(name: str, version: int, equal: Equal) -> Scorer:
    """A scorer that asks `equal(gold, given)`; row: (equal,)."""

    def score(item: Item, finding: Finding) -> Measured | Missing:
        gold = item.gold
        if isinstance(gold, bool) or not isinstance(gold, str | int | float):
            return Missing("scorer_failed", f"the gold of item {item.id} is not an answer as text or number")
        if not isinstance(finding, Found):
            return Measured((0.0,))
        try:
            return Measured((float(equal(str(gold), str(finding.value))),))
        except InputError as error:
            return Missing("scorer_failed", str(error))

    return Scorer(name, version, score)


MATHS_EQUAL = by_rule("maths_equal", 1, answers_equal)
"""The house rule: equal as values, exactly where they are rational, and part by part where there are several."""

HENDRYCKS_EQUAL = by_rule("hendrycks_equal", 1, hendrycks_equal)
"""Equal as the canonical strings of the MATH paper."""


def _voted(item: Item, finding: Finding) -> Measured | Missing:
    correct = MATHS_EQUAL.score(item, finding)
    if isinstance(correct, Missing):
        return correct
    code = NO_VOTE
    if isinstance(finding, Found):
        code = float(int.from_bytes(hashlib.sha256(vote_of(str(finding.value)).encode()).digest()[:6], "big"))
    return Measured((*correct.row, code))


MATHS_VOTE = Scorer("maths_vote", 1, _voted)
"""The house rule, and a code that equal answers share, for a majority vote; row: (equal, code)."""

SYMPY_EQUAL = by_rule("sympy_equal", 1, sympy_equal)
"""What sympy simplifies their difference to; in a limited child process."""

MATH_VERIFY_EQUAL = by_rule("math_verify_equal", 1, math_verify_equal)
"""What math-verify says, which is known to err; in a limited child process."""
