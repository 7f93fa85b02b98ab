"""May these two numbers be compared? The four choices and the conditions answer, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from measurand.core.claim import AboutMethod, AboutSystem, Claim
from measurand.core.identity import short
from measurand.core.protocol import Difference, diff
from measurand.core.subject import System, passes_of

if TYPE_CHECKING:
    from measurand.core.run import Run
    from measurand.run.tables import Tables

TRAINING = ("base", "data", "compute", "hyperparameters")
"""What a training method fixes or varies; a method claim declares every one of them."""
BUDGETS = {
    "asking.steps": "steps",
    "asking.decode.max_tokens": "tokens of a reply",
    "asking.samples": "samples of each item",
}
FOLLOWS = {
    "asking.prompt_sha256": ("asking.", "task."),
    "asking.exemplars_sha256": ("asking.shots", "task."),
    "task.items_sha256": ("task.",),
    "task.n_items": ("task.subset",),
}
"""Hashes and counts that differ because something else does, which then says more."""
CONDITIONS = ("measurand", "python", "platform", "isolation", "data_stand_ins")
LONGEST = 60
HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Comparability:
    """What differs between two runs, and why they may not be compared, if they may not.

    `differs` has one line for each field of the protocols, named so that it can be accepted; `conditions` what else
    held. `accepted` are the differences that the user named. `refused` is a sentence, or empty.
    """

    differs: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    refused: str = ""


def comparability(a: Tables, b: Tables, claim: Claim, accept: Iterable[str] = ()) -> Comparability:
    """What differs between two runs. `accept` names fields (`asking.text`) or whole choices (`asking`)."""
    names = tuple(accept)
    found = diff(a.protocol, b.protocol)
    paths = {one.path for one in found} - FOLLOWS.keys()
    fields = [one for one in found if not _implied(one.path, paths)]
    open_ones = [one for one in fields if not accepted(one.path, names)]
    return Comparability(
        differs=tuple(line(one) for one in fields),
        conditions=tuple(_conditions(a.run, b.run)),
        accepted=tuple(one.path for one in fields if accepted(one.path, names)),
        refused=_kinds(a, b) or _claim(a.run, b.run, claim, names) or _fields(open_ones, claim),
    )


def line(one: Difference) -> str:
    """One difference as people read it: `asking.steps: 10 against 30`."""
    return f"{one.path}: {_short(one.a)} against {_short(one.b)}"


def accepted(path: str, names: Iterable[str]) -> bool:
    """Whether a field, or a choice that it is part of, was named."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def method_gaps(claim: Claim) -> tuple[str, ...]:
    """What a method claim leaves open: variables of training that it neither varies nor holds equal."""
    if not isinstance(claim, AboutMethod):
        return ()
    return tuple(one for one in TRAINING if one != claim.varies and one not in claim.held_equal)


def _kinds(a: Tables, b: Tables) -> str:
    """A majority or a search beside a single pass, by the metric or by the subject: no acceptance mends that."""
    ours, theirs = passes_of(a.run.subject), passes_of(b.run.subject)
    if ours != theirs:
        return f"an answer of one is a {ours} and an answer of the other a {theirs}: they never share a rank"
    kinds = [{name: table.metric.kind for name, table in one.metrics.items()} for one in (a, b)]
    for name in kinds[0].keys() & kinds[1].keys():
        if kinds[0][name] != kinds[1][name]:
            return f"{name} is a {kinds[0][name]} of one and a {kinds[1][name]} of the other: they never share a rank"
    if not kinds[0].keys() & kinds[1].keys():
        return f"one is measured by {', '.join(kinds[0])} and the other by {', '.join(kinds[1])}: no metric is shared"
    return ""


def _claim(a: Run, b: Run, claim: Claim, names: tuple[str, ...]) -> str:
    gaps = method_gaps(claim)
    if gaps:
        return (
            f"a method claim needs every other variable declared equal, and {' and '.join(gaps)} "
            f"{'is' if len(gaps) == 1 else 'are'} not: add to held_equal, or claim about the model"
        )
    systems = [isinstance(run.subject, System) for run in (a, b)]
    if systems[0] != systems[1] and not isinstance(claim, AboutSystem) and not accepted("subject.kind", names):
        return (
            "a system stands beside a bare model, so its scaffold's gain would be credited to the weights: claim "
            "about_system, or accept subject.kind"
        )
    return ""


def _fields(fields: list[Difference], claim: Claim) -> str:
    if isinstance(claim, AboutSystem):  # what is in the system may vary, the way of asking with it; budgets may not
        fields = [one for one in fields if not one.path.startswith("asking.") or one.path in BUDGETS]
    if not fields:
        return ""
    for one in fields:
        if one.path in BUDGETS:
            what = f"{BUDGETS[one.path]} {_short(one.a)} against {_short(one.b)}"
            return f"the budgets are unequal, {what}: {_accept([one])}"
    scaffolds = [one for one in fields if one.path == "asking.name" and one.a != one.b]
    needs = [one for one in fields if one.path == "asking.steps"]
    if scaffolds and needs:
        return f"one is asked through a scaffold and the other bare: {_accept(fields)}"
    return f"the protocols differ in {_names(fields)}: {_accept(fields)}"


def _accept(fields: list[Difference]) -> str:
    return f"run both alike, or accept {_names(fields)} by name"


def _names(fields: list[Difference]) -> str:
    """The fields, or the whole choices where many of their fields differ."""
    many = 3
    names: list[str] = []
    for part in dict.fromkeys(one.path.partition(".")[0] for one in fields):
        own = [one.path for one in fields if one.path.startswith(f"{part}.")]
        names += [part] if len(own) > many else own
    return ", ".join(names)


def _implied(path: str, others: set[str]) -> bool:
    """Whether a difference only follows from another one that says more."""
    return any(other.startswith(FOLLOWS.get(path, ())) for other in others)


def _conditions(a: Run, b: Run) -> Iterator[str]:
    for name in CONDITIONS:
        one, other = getattr(a.conditions, name), getattr(b.conditions, name)
        if one != other:
            yield f"{name}: {_short(one)} against {_short(other)}"


def _short(value: object) -> str:
    text = "nothing" if value in (None, "", (), []) else str(value)
    text = short(text) if HASH.fullmatch(text) else " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
