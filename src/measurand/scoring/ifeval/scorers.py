"""Strict and loose verdicts over a reply, and the scorers that count them.

The gold of an item is a list of constraints, each {"kind": ..., "given": {...}}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Finding, Found, Measured, Missing
from measurand.scoring.ifeval.given import Given
from measurand.scoring.ifeval.kinds import KINDS, follows

Mode = Literal["strict", "loose"]
Constraint = tuple[str, Given]


def constraints_of(gold: Json) -> tuple[Constraint, ...]:
    """The constraints of a gold, by kind and parameters.

    Raises:
        InputError: it is not a list of them.
    """
    if not isinstance(gold, list | tuple) or not gold:
        raise InputError("the gold is not a list of constraints, each with `kind` and `given`")
    found = []
    for one in gold:
        kind, given = (one.get("kind"), one.get("given")) if isinstance(one, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(given, dict):
            raise InputError("the gold is not a list of constraints, each with `kind` and `given`")
        found.append((kind, given))
    return tuple(found)


def loosened(text: str) -> Iterator[str]:
    """The text as it stands and without its first line, its last line and both; each with and without asterisks."""
    lines = text.split("\n")
    cuts = ("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))
    for cut in (text, *cuts):
        yield cut
        yield cut.replace("*", "")


def verdicts(text: str, constraints: Iterable[Constraint], mode: Mode = "strict") -> tuple[bool, ...]:
    """Whether the text follows each constraint; when loose, some form of the text, another one for each if need be.

    Raises:
        InputError: a constraint is not known, or lacks a parameter.
    """
    forms = (text,) if mode == "strict" else tuple(loosened(text))
    return tuple(any(follows(kind, form, given) for form in forms) for kind, given in constraints)


def ranked(checked: Iterable[tuple[Sequence[str], Sequence[bool]]]) -> list[tuple[str, int, int]]:
    """Kinds of constraints by how often they were followed, the worst first: (kind, followed, of).

    `checked` holds, for each reply, the kinds it was asked for and the verdicts on them.
    """
    followed: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for kinds, given in checked:
        of.update(kinds)
        followed.update(kind for kind, ok in zip(kinds, given, strict=True) if ok)
    return sorted(((kind, followed[kind], of[kind]) for kind in of), key=lambda one: (one[1] / one[2], one[0]))


class _Task:
    """A reply and its constraints, compared by value, so that four scorers check once."""

    def __init__(self, text: str, gold: Json) -> None:
        self.text, self.constraints = text, constraints_of(gold)
        self.key = (text, repr(gold))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Task) and self.key == other.key


@lru_cache(maxsize=64)
def checked(task: _Task, mode: Mode) -> tuple[bool, ...]:
    """The verdicts on a task, remembered for the scorers that come after."""
    return verdicts(task.text, task.constraints, mode)


def _followed(item: Item, finding: Finding, mode: Mode) -> tuple[bool, ...] | Missing:
    text = str(finding.value) if isinstance(finding, Found) else ""
    try:
        return checked(_Task(text, item.gold), mode)
    except InputError as error:
        return Missing("scorer_failed", f"item {item.id}: {error}")


def by_prompt(mode: Mode) -> Scorer:
    """1 where all constraints of the prompt are followed, else 0; row: (followed,)."""

    def score(item: Item, finding: Finding) -> Measured | Missing:
        followed = _followed(item, finding, mode)
        return followed if isinstance(followed, Missing) else Measured((float(all(followed)),))

    return Scorer(f"ifeval_prompt({mode})", 1, score)


def by_instruction(mode: Mode, kind: str = "") -> Scorer:
    """How many constraints are followed, of how many; row: (followed, of).

    With `kind` only those of that kind; an item without one has no score and is not missed.
    """

    def score(item: Item, finding: Finding) -> Measured | Missing:
        followed = _followed(item, finding, mode)
        if isinstance(followed, Missing):
            return followed
        kinds = [one for one, _ in constraints_of(item.gold)]
        counted = [ok for one, ok in zip(kinds, followed, strict=True) if kind in {"", one}]
        if not counted:
            return Missing("not_applicable", f"no constraint {kind}")
        return Measured((float(sum(counted)), float(len(counted))))

    return Scorer(f"ifeval_instruction({', '.join(filter(None, (mode, kind)))})", 1, score)


PROMPT_STRICT, PROMPT_LOOSE = by_prompt("strict"), by_prompt("loose")
INSTRUCTION_STRICT, INSTRUCTION_LOOSE = by_instruction("strict"), by_instruction("loose")

BY_KIND: dict[str, Scorer] = {kind: by_instruction("strict", kind) for kind in KINDS}
"""The strict verdicts of each kind of constraint."""
