"""Submissions: a file of answers that is graded whole or not at all, and a flag that is found or not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Finding, Found, Measured, Missing

WRAPPED = re.compile(r"[A-Za-z0-9_]{1,40}\{[^{}\n]{1,500}\}")
"""A flag of the usual form: a prefix, then the secret between braces."""
SHOWN = 3


def invalid(ids: Sequence[str], rows: Sequence[Sequence[Json]], columns: int = 2) -> str:
    """Why a submission cannot be graded, in one sentence; empty where it can.

    `ids` are the ids that are asked for, `rows` what was submitted, the id first. Every id must be there once and no
    other, every row must have all its `columns`, and every value must be given. Part of an answer is never graded:
    a score over the rows that happen to be right would reward leaving out the hard ones.
    """
    broken = next((number for number, row in enumerate(rows, 1) if len(row) != columns), None)
    if broken is not None:
        return f"row {broken} has {len(rows[broken - 1])} columns and not {columns}"
    given = Counter(str(row[0]) for row in rows)
    wanted = set(map(str, ids))
    for what, names in (
        ("is twice in it", [name for name, count in given.items() if count > 1]),
        ("is not asked for", [name for name in given if name not in wanted]),
        ("is missing", [name for name in map(str, ids) if name not in given]),
    ):
        if names:
            more = f" (and {len(names) - SHOWN} more)" if len(names) > SHOWN else ""
            return f"id {', '.join(names[:SHOWN])}{more} {what}"
    empty = next((str(row[0]) for row in rows if any(_is_nothing(value) for value in row[1:])), None)
    return f"id {empty} has no value" if empty is not None else ""


def ranked(
    scores: Mapping[str, float | None], *, higher_is_better: bool = True
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Names in order, best first, those of one score together; and those that have no score and so no rank."""
    known = {name: score for name, score in scores.items() if not _is_nothing(score)}
    levels = sorted({float(score) for score in known.values() if score is not None}, reverse=higher_is_better)
    groups = tuple(tuple(name for name, score in known.items() if score == level) for level in levels)
    return groups, tuple(name for name in scores if name not in known)


def has_flag(text: str, flag: str) -> bool:
    """Whether a submission holds the flag: exactly, with its case, and as the only guess.

    The flag may stand in a sentence. A piece of it is no flag, nor is it with something grown onto it. Where
    several different flags are given, nobody knew it. Raises InputError for an empty flag.
    """
    wanted = flag.strip()
    if not wanted:
        raise InputError("a task without a flag cannot be graded")
    said = text.strip().strip("`'\"")
    if said == wanted:
        return True
    if WRAPPED.fullmatch(wanted):
        return {found.group() for found in WRAPPED.finditer(said)} == {wanted}
    guesses = [line for line in said.splitlines() if line.strip()]
    return len(guesses) == 1 and re.search(rf"(?<![\w{{}}-]){re.escape(wanted)}(?![\w{{}}-])", said) is not None


def _is_nothing(value: Json) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _flag(item: Item, finding: Finding) -> Measured | Missing:
    if not isinstance(item.gold, str) or not item.gold.strip():
        return Missing("scorer_failed", f"item {item.id} has no flag")
    return Measured((float(isinstance(finding, Found) and has_flag(str(finding.value), item.gold)),))


FLAG = Scorer("flag", 1, _flag)
"""Whether the reply holds the flag in the item's gold, as its only guess."""
