"""Fidelity: figures that others published, beside ours from the same stored outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from measurand.core.record import Json, Record

if TYPE_CHECKING:
    from pathlib import Path

    from measurand.core.benchmark import Scoring
    from measurand.core.item import Item
    from measurand.core.outcome import Answer
    from measurand.core.request import Request
    from measurand.core.trial import Measured, Missing

Verdict = Literal["equal", "explained", "differs", "unpublished", "not here", "not run", "no peer"]
"""`unpublished`: ours alone, shown beside a published one. `not here`: the outputs are not in the folder, or the peer
is not installed. `no peer`: no peer has such a task."""

Peer = Literal["lm-eval", "inspect-evals", "crfm-helm"]
"""Whose prompts ours are compared with, by the name of its package."""


class Figure(Record, frozen=True):
    """A published figure and ours.

    `tolerance` is how far two numbers may lie apart, as figures are published rounded. Where ours is another and it
    is known why, `cause` says so in one sentence and `known` is what we then get: any other figure still differs.
    A figure that nobody published has None.
    """

    what: str
    published: Json
    ours: Json
    tolerance: float = 0.0
    cause: str = ""
    known: Json = None

    @property
    def verdict(self) -> Verdict:
        """Whether the two are equal, apart for a known cause, or apart."""
        if self.published is None:
            return "unpublished"
        if _same(self.ours, self.published, self.tolerance):
            return "equal"
        known = self.cause and self.known is not None and _same(self.ours, self.known, self.tolerance)
        return "explained" if known else "differs"


class Check(Record, frozen=True):
    """One line of what `measurand verify` found. `note` is the cause of a difference, or why there is no figure."""

    benchmark: str
    what: str
    source: str
    published: Json
    ours: Json
    verdict: Verdict
    note: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Stored:
    """A folder of outputs that others stored, and the marking of answers as a run marks them.

    `mark` gives, for each item and its answer in order, the score under each metric of the scoring; programs run in
    a sandbox.
    """

    folder: Path
    mark: Callable[[Scoring, Sequence[tuple[Item, Answer]]], Sequence[Mapping[str, Measured | Missing]]]


@dataclass(frozen=True, slots=True)
class Rescoring:
    """Stored outputs that are scored again, by the readers and scorers of a benchmark.

    `source` says whose they are and at which commit. `files` are looked for in the folder first; where one is
    missing, nothing is scored. `runs_code` marks a rescoring that runs programs.
    """

    benchmark: str
    source: str
    files: tuple[str, ...]
    figures: Callable[[Stored], Iterable[Figure]]
    runs_code: bool = False


def _same(ours: Json, other: Json, tolerance: float) -> bool:
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (ours, other))
    return bool(abs(ours - other) <= tolerance) if numbers else bool(ours == other)


@dataclass(frozen=True, slots=True)
class Cause:
    """A known difference between a peer's prompts and ours: what it is, and how ours becomes theirs."""

    what: str
    theirs: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Side:
    """The same items on both sides: the peer's rows by split, and our requests in the order of the rows asked."""

    splits: Mapping[str, Sequence[Mapping[str, Json]]]
    requests: Sequence[Request]


@dataclass(frozen=True, slots=True)
class Rendering:
    """Prompts of a benchmark or of a variant, such as `gpqa:letters`, that a peer's task renders from the same rows.

    `task` is written as the peer does: a file in lm-eval's folder of tasks, asked with so many `shots`; the folder and
    name of a task of inspect_evals, with its options; a run entry of HELM. `sides` gets the folder of stored outputs,
    for their questions. `causes` are the differences that are known. Where the peer asks in words of its own, `framed`
    says so: then what all its prompts begin and end with is set aside, and what all ours do, before they are compared.
    """

    benchmark: str
    task: str
    sides: Callable[[Path], Side]
    files: tuple[str, ...] = ()
    shots: int = 0
    causes: tuple[Cause, ...] = ()
    peer: Peer = "lm-eval"
    framed: str = ""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A benchmark or a variant whose prompts no peer renders, and why."""

    benchmark: str
    why: str
