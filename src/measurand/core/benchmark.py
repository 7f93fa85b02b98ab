"""A benchmark: four choices and a card, as values with functions. Resolved to data it is a Protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from measurand.core.record import Json, Record
from measurand.core.subject import Passes

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.core.item import Item
    from measurand.core.outcome import Answer
    from measurand.core.ports import Doors
    from measurand.core.program import Program, Result
    from measurand.core.request import Request
    from measurand.core.source import Source
    from measurand.core.trial import Finding, Measured, Missing

Ability = Literal["chat", "complete", "loglikelihood", "rolling", "images", "tools", "schema", "embed"]


class Card(Record, frozen=True):
    """What a reader must know of a benchmark before he believes a number of it.

    Rates (`chance`, `human`, `saturated_at`) are in the unit of the headline metric. `released` is an ISO
    date. `errata` are known faults, one sentence each.
    """

    title: str
    measures: str
    blind_spots: tuple[str, ...]
    style: Literal["quiz", "ask"]
    canonical_source: str
    canonical_protocol: str
    licence: str
    languages: tuple[str, ...] = ("en",)
    released: str = ""
    chance: float | None = None
    human: float | None = None
    saturated_at: float | None = None
    errata: tuple[str, ...] = ()


class Subset(Record, frozen=True, gc=False):
    """A seeded sample of the items, in proportion to the values of `stratify` where that is given."""

    size: int
    seed: int = 0
    stratify: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Which items. `sources` are named; `test` is asked, any other may serve as a pool of exemplars.

    `to_items` turns the rows of one source into items; it gets the source's name. `local_only` forbids
    sending the items to an endpoint that is not local or named as allowed.
    """

    sources: Mapping[str, Source]
    to_items: Callable[[str, Sequence[Mapping[str, Json]]], Sequence[Item]]
    version: int
    split: str = "test"
    subset: Subset | None = None
    perturbation: str = ""
    local_only: bool = False


@dataclass(frozen=True, slots=True)
class Shots:
    """Exemplars by rule: the first `k` of `pool` (of the item's own group where `same` names a slice)."""

    k: int
    pool: str
    rule: Literal["first", "seeded"] = "first"
    same: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Prompting:
    """Asking by requests that are known beforehand: pure, priced, ordered and batched at plan time.

    `requests` gets the item and its exemplars; `answer` joins the replies into one answer and defaults to
    the text of the last one. `text` is the template as a person reads it; it is part of the protocol.
    """

    name: str
    version: int
    requests: Callable[[Item, Sequence[Item]], tuple[Request, ...]]
    needs: frozenset[Ability]
    text: str
    shots: Shots | None = None
    samples: int = 1
    answer: Callable[[Item, Sequence[Reply]], Answer] | None = None


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Asking by a program that talks through doors: agents, attacks, simulated users."""

    name: str
    version: int
    attempt: Callable[[Item, Doors], Awaitable[Answer]]
    needs: frozenset[Ability]
    text: str
    samples: int = 1
    steps: int | None = None
    prepare: Callable[[Doors], Awaitable[None]] | None = None


Asking = Prompting | Scaffold


@dataclass(frozen=True, slots=True)
class Reader:
    """A named, versioned instrument that reads an answer. Pure."""

    name: str
    version: int
    read: Callable[[Item, Answer], Finding]


@dataclass(frozen=True, slots=True)
class Scorer:
    """A named, versioned judgement of a finding. Pure."""

    name: str
    version: int
    score: Callable[[Item, Finding], Measured | Missing]


@dataclass(frozen=True, slots=True)
class ProgramScorer:
    """A judgement that needs a program run in a sandbox. `program` may find that there is nothing to run."""

    name: str
    version: int
    program: Callable[[Item, Finding], Program | Measured | Missing]
    verdict: Callable[[Item, Result], Measured | Missing]


@dataclass(frozen=True, slots=True)
class Marking:
    """One way to mark an answer: the metric it feeds, the reader, and the scorer."""

    metric: str
    reader: Reader
    scorer: Scorer | ProgramScorer


@dataclass(frozen=True, slots=True)
class Scoring:
    """How one answer is read and judged. The first marking is the headline.

    `score_truncated` and `score_refused` say whether such answers may be scored; if not, they are missing.
    """

    markings: tuple[Marking, ...]
    score_truncated: bool = False
    score_refused: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """A row of numbers per trial and two functions.

    `within` turns the rows of one item's samples into one row; `over` turns the rows of all items
    (shape [n, columns]) and their weights (shape [n], or [draws, n] with one result for each draw) into the
    number. `low` and `high` are the range of the number, for bounds and checks; None where unbounded. `kind` says how
    many samples stand behind it: a majority or a search never shares a rank with a single pass.
    """

    name: str
    version: int
    columns: tuple[str, ...]
    within: Callable[..., object]
    over: Callable[..., object]
    low: float | None = 0.0
    high: float | None = 1.0
    unit: str = ""
    kind: Passes = "single pass"


NESTED = ">"
"""Between the slices of a nested macro number, outermost first: `category>subcategory>subject`."""


def mean_over(path: str) -> str:
    """What a macro number is, in words: a mean over one slice, or over several within one another."""
    return f"unweighted mean over {', then over '.join(path.split(NESTED))}"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How scores become the number.

    `macro` names slices over whose values an unweighted mean is always shown beside the pooled number; with
    `category>subject` it is the mean over categories of the mean over their subjects. `groups` names slices whose
    values are each shown as a number.
    """

    metrics: Mapping[str, Metric]
    macro: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Four choices and a card. `name` is the file's name, with `:variant` for another protocol.

    `recipe` is the record that a private benchmark was made from, as JSON data. `gold_answer` is what a perfect
    subject would give to an item; `measurand check` scores it. By default it is the gold as text. `wrong_answer`
    is one that earns nothing; by default a sentence that answers no question.
    """

    name: str
    task: Task
    asking: Asking
    scoring: Scoring
    aggregation: Aggregation
    card: Card
    recipe: Mapping[str, Json] = field(default_factory=dict)
    gold_answer: Callable[[Item], Answer] | None = None
    wrong_answer: Callable[[Item], Answer] | None = None
