"""Exact match and F1 over sets of spans, as in DROP (Dua et al. 2019, its evaluation script)."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.core.benchmark import Scorer
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Ambiguous, Finding, Found, Measured, Missing
from measurand.scoring.normal import normalise
from measurand.scoring.texts import f1

STEPS = ("nfkc", "casefold", "hyphens", "numbers", "punctuation", "numbers", "articles", "whitespace")
_MOST_SPANS = 64  # that are aligned; no answer has more


def _bag(span: str) -> frozenset[str]:
    return frozenset(normalise(span, STEPS).split())


def _is_number(token: str) -> bool:
    return token.lstrip("-").replace(".", "", 1).isdecimal()


def _pair(given: frozenset[str], wanted: frozenset[str]) -> float:
    numbers = {token for token in wanted if _is_number(token)}
    if numbers and not numbers & given:
        return 0.0
    return f1(sorted(given), sorted(wanted))


def _aligned(table: Sequence[Sequence[float]]) -> float:
    """The largest sum of a one-to-one assignment of rows to columns."""
    if len(table) == 1 or len(table[0]) == 1:
        return max(max(row) for row in table)
    from scipy.optimize import linear_sum_assignment  # slow to import, and seldom needed

    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(sum(table[row][column] for row, column in zip(rows, columns, strict=True)))


def em_f1(given: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """Exact match and F1 of two sets of spans, aligned one to one at best; order does not matter."""
    ours, theirs = [_bag(span) for span in given], [_bag(span) for span in wanted]
    ours, theirs = [bag for bag in ours if bag], [bag for bag in theirs if bag]
    if not ours or not theirs:
        same = float(not ours and not theirs and [s.strip() for s in given] == [s.strip() for s in wanted])
        return same, same
    exact = float(len(ours) == len(theirs) and sorted(map(sorted, ours)) == sorted(map(sorted, theirs)))
    mean = _aligned([[_pair(one, two) for two in theirs[:_MOST_SPANS]] for one in ours[:_MOST_SPANS]]) / max(
        len(ours), len(theirs)
    )
    return exact, round(mean, 2)


def _spans(value: Json) -> list[str]:
    return [str(span) for span in value] if isinstance(value, list | tuple) else [str(value)]


def _score(item: Item, finding: Finding) -> Measured | Missing:
    golds = item.gold if isinstance(item.gold, list | tuple) else [item.gold]
    if not golds or None in golds:
        return Missing("scorer_failed", f"the gold of item {item.id} holds no answer")
    if isinstance(finding, Ambiguous):
        return Measured((0.0, 0.0))
    given = _spans(finding.value) if isinstance(finding, Found) else [""]
    return Measured(max(em_f1(given, _spans(gold)) for gold in golds))


DROP = Scorer("drop", 1, _score)
"""Row: (exact match, F1). The gold is a list of alternatives, each a text or a list of spans that belong together."""
