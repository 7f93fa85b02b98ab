"""Scoring a chosen option."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.core.benchmark import Scorer
from measurand.core.item import Item, Question
from measurand.core.record import Json
from measurand.core.trial import Finding, Found, Measured, Missing
from measurand.scoring.labels import LATIN


def choice_scorer(labels: Sequence[str] = (), row_labels: Sequence[str] = ()) -> Scorer:
    """1 where the option found is the gold's, else 0; row: (correct,).

    The gold is an index (an integer), a label, a label of the row (`row_labels`, by position), an option's text,
    or a list of these where several options are right together: then the same set must be found. A finding is a
    label, an index, a list of labels (a set), or a list of indices (ties of log-likelihood), which is worth 1/k
    where the gold is among k tied.
    """
    own = tuple(labels)

    def score(item: Item, finding: Finding) -> Measured | Missing:
        texts = item.input.options if isinstance(item.input, Question) else ()
        known = own or LATIN[: len(texts) or len(LATIN)]
        golds = {
            _index(gold, known, row_labels, texts)
            for gold in (item.gold if isinstance(item.gold, list | tuple) else [item.gold])
        }
        if not golds or None in golds:
            return Missing("scorer_failed", f"the gold of item {item.id} is not one of its options")
        if not isinstance(finding, Found):
            return Measured((0.0,))
        value = finding.value
        if isinstance(value, list | tuple) and value and all(isinstance(one, int) for one in value):
            return Measured((len(golds & set(value)) / len(value) if len(golds) == 1 else 0.0,))
        chosen = {
            _index(one, known, row_labels, texts) for one in (value if isinstance(value, list | tuple) else [value])
        }
        return Measured((float(chosen == golds),))

    name = (
        f"choice({', '.join([''.join(own)] * bool(own) + [''.join(row_labels)] * bool(row_labels))})"
        if own or row_labels
        else "choice"
    )
    return Scorer(name, 1, score)


def _index(value: Json, labels: Sequence[str], row_labels: Sequence[str], texts: Sequence[str]) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < max(len(texts), len(labels)) else None
    if not isinstance(value, str):
        return None
    for names in (labels, row_labels, texts):
        if value in names:
            return list(names).index(value)
    bare = value.strip().strip("().").upper()
    upper = [label.upper() for label in labels]
    return upper.index(bare) if bare in upper else None


CHOICE_SCORE = choice_scorer()
