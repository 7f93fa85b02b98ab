"""What one run came to, ready to be shown. Reports render it and compute nothing."""

from __future__ import annotations

from measurand.core.estimate import Estimate, Tally
from measurand.core.protocol import Protocol
from measurand.core.record import Record
from measurand.core.run import Run


class View(Record, frozen=True):
    """One way to combine the scores of a metric.

    `view` is `pooled`, or `macro:FIELD` (the unweighted mean over the values of a slice; `macro:OUTER>INNER` is a mean
    of such means). For one value of a slice, `view` is `slice:FIELD` and `value` the value.
    """

    view: str
    estimate: Estimate
    value: str = ""


class Part(Record, frozen=True):
    """How often one part of a number failed, over all items or over those of one value of a slice.

    `failed` of `of` are counts, such as of instructions, a mean over the samples of an item; `estimate` is the share
    that failed. An empty `name` stands for all parts together, an empty `field` for all items.
    """

    name: str
    failed: float
    of: float
    estimate: Estimate
    field: str = ""
    value: str = ""


class ReadingCount(Record, frozen=True):
    """How often a reader found an answer, found none, or found several.

    `tied` of those found are several options whose log-probabilities are equal.
    """

    reader: str
    found: int = 0
    absent: int = 0
    ambiguous: int = 0
    tied: int = 0


class Example(Record, frozen=True):
    """A trial worth a look: what was asked, what came back, what was read, and why it is shown."""

    item: str
    sample_no: int
    why: str
    asked: str
    answer: str
    reading: str
    gold: str
    outcome: str


class Spent(Record, frozen=True):
    """What the run took. Tokens as counted by the endpoint; cost in US dollars, None without a price."""

    requests: int = 0
    replayed: int = 0
    replayed_since: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


class Summary(Record, frozen=True):
    """One run: who, under what protocol, how it ended, and the numbers. The first view is the headline.

    Where the metrics are parts of one number, `breakdown` ranks them, the worst first, after all together.
    """

    run: Run
    protocol: Protocol
    tally: Tally
    views: tuple[View, ...]
    breakdown: tuple[Part, ...] = ()
    readings: tuple[ReadingCount, ...] = ()
    examples: tuple[Example, ...] = ()
    spent: Spent = Spent()
    made: dict[str, int] = {}
    notes: tuple[str, ...] = ()
