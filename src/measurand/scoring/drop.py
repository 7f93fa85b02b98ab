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
_EXHAUSTIVE = 8


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
    """The largest sum of a one-to-one assignment of rows to columns (Kuhn-Munkres, in O(n^3))."""
    turned = [list(row) for row in (zip(*table, strict=True) if len(table) > len(table[0]) else table)]
    rows, columns = len(turned), len(turned[0])
    infinity = float("inf")
    up, left = [0.0] * (rows + 1), [0.0] * (columns + 1)
    match, way = [0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        match[0], column = row, 0
        least, used = [infinity] * (columns + 1), [False] * (columns + 1)
        while match[column]:
            used[column] = True
            delta, following = infinity, 0
            for other in range(1, columns + 1):
                if used[other]:
                    continue
                cost = -turned[match[column] - 1][other - 1] - up[match[column]] - left[other]
                if cost < least[other]:
                    least[other], way[other] = cost, column
                if least[other] < delta:
                    delta, following = least[other], other
            for other in range(columns + 1):
                if used[other]:
                    up[match[other]] += delta
                    left[other] -= delta
                else:
                    least[other] -= delta
            column = following
        while column:
            match[column], column = match[way[column]], way[column]
    return sum(turned[match[other] - 1][other - 1] for other in range(1, columns + 1) if match[other])


def em_f1(given: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """Exact match and F1 of two sets of spans, aligned one to one at best; order does not matter."""
    ours, theirs = [_bag(span) for span in given], [_bag(span) for span in wanted]
    ours, theirs = [bag for bag in ours if bag], [bag for bag in theirs if bag]
    if not ours or not theirs:
        same = float(not ours and not theirs and [s.strip() for s in given] == [s.strip() for s in wanted])
        return same, same
    exact = float(len(ours) == len(theirs) and sorted(map(sorted, ours)) == sorted(map(sorted, theirs)))
    mean = _aligned([[_pair(one, two) for two in theirs] for one in ours]) / max(len(ours), len(theirs))
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
