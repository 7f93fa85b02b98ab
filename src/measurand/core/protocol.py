"""A benchmark resolved to data: one hash for each of the four choices, and one for all."""

from __future__ import annotations

import msgspec

from measurand.core.benchmark import Subset
from measurand.core.identity import identity
from measurand.core.record import Json, Record
from measurand.core.request import Decode


class SourceUsed(Record, frozen=True):
    """A source as it was really read: what it claims to be, and the hash of its bytes."""

    declared: dict[str, Json]
    sha256: str
    stands_in: bool = False


class TaskPart(Record, frozen=True):
    """Which items: their sources by content, the split, the subset and the perturbation."""

    name: str
    version: int
    sources: dict[str, SourceUsed]
    split: str
    n_items: int
    items_sha256: str
    subset: Subset | None = None
    perturbation: str = ""


class AskingPart(Record, frozen=True):
    """How they are asked: the template, the exemplars, the decoding, the samples and the budgets.

    `needs` separates chat from raw text and from log-likelihood. `prompt_sha256` is the hash of every
    rendered request, so that two protocols that render the same are the same.
    """

    name: str
    version: int
    text: str
    needs: tuple[str, ...]
    samples: int
    shots: dict[str, Json] | None = None
    exemplars_sha256: str = ""
    decode: Decode | None = None
    prompt_sha256: str = ""
    steps: int | None = None


class MarkingPart(Record, frozen=True):
    """One marking by names and versions. A user's own function carries its source hash as `@sha256:…`."""

    metric: str
    reader: str
    scorer: str


class ScoringPart(Record, frozen=True):
    """How an answer is read and judged, and which unfinished answers may be."""

    markings: tuple[MarkingPart, ...]
    score_truncated: bool
    score_refused: bool
    reasoning_tags: tuple[str, ...] = ()


class AggregationPart(Record, frozen=True):
    """How scores become the number."""

    metrics: dict[str, str]
    macro: tuple[str, ...]
    groups: tuple[str, ...]
    level: float


class Protocol(Record, frozen=True):
    """The four choices as data. A number cannot exist without one."""

    benchmark: str
    task: TaskPart
    asking: AskingPart
    scoring: ScoringPart
    aggregation: AggregationPart

    @property
    def id(self) -> str:
        """The hash of all four choices; the benchmark's name is not among them."""
        return identity(_Choices(self.task, self.asking, self.scoring, self.aggregation))

    @property
    def part_ids(self) -> dict[str, str]:
        """One hash for each choice."""
        return {name: identity(getattr(self, name)) for name in PARTS}


PARTS = ("task", "asking", "scoring", "aggregation")


class _Choices(Record, frozen=True):
    task: TaskPart
    asking: AskingPart
    scoring: ScoringPart
    aggregation: AggregationPart


class Difference(Record, frozen=True):
    """One field in which two protocols differ: its dotted path, and both values as JSON data."""

    path: str
    a: Json
    b: Json


def diff(a: Protocol, b: Protocol) -> tuple[Difference, ...]:
    """The fields in which two protocols differ, in the order of the four choices. Empty if comparable."""
    found: list[Difference] = []
    for part in PARTS:
        _walk(part, msgspec.to_builtins(getattr(a, part)), msgspec.to_builtins(getattr(b, part)), found)
    return tuple(found)


def _walk(path: str, a: Json, b: Json, found: list[Difference]) -> None:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(a.keys() | b.keys()):
            _walk(f"{path}.{name}", a.get(name), b.get(name), found)
    elif a != b or type(a) is not type(b):
        found.append(Difference(path, a, b))
