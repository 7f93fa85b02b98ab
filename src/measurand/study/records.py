"""The records that a study file maps on, one to one. An unknown key is an error."""

from __future__ import annotations

from measurand.core.record import Record


class PrivateSet(Record, frozen=True, kw_only=True):
    """An evaluation of one's own, from a data file whose columns are mapped by name.

    `question` or `conversation` names the column that is asked; `answer` the column with the gold answer (a
    text, a list of acceptable ones, a number, an option, a JSON schema). `scoring` is a scorer's name, or
    `column:NAME` where each row names its own, or `python:module:function`. `made` is real, synthetic, or
    `column:NAME`. `prompt` and `system` are templates that may use {{column}} names.
    """

    file: str
    name: str = ""
    question: str = ""
    conversation: str = ""
    answer: str = ""
    options: str = ""
    rubric: str = ""
    scoring: str = "exact"
    normalise: tuple[str, ...] = ()
    tolerance: float = 0.0
    slices: tuple[str, ...] = ()
    id: str = ""
    cluster: str = ""
    language: str = ""
    made: str = "unstated"
    system: str = ""
    prompt: str = ""
    max_tokens: int = 512
    temperature: float = 0.0
    samples: int = 1
    subset_size: int | None = None
    seed: int = 0
    stratify: str = ""
    local_only: bool = False


class PublicBenchmark(Record, frozen=True, kw_only=True):
    """A public benchmark in a study. `max_tokens` is for each reply; it makes another protocol, as a subset does."""

    name: str
    subset_size: int | None = None
    seed: int = 0
    samples: int | None = None
    max_tokens: int | None = None


class Study(Record, frozen=True, kw_only=True):
    """A question, the subjects it is about, and what they are asked."""

    name: str
    question: str
    subjects: tuple[str, ...]
    sets: tuple[PrivateSet, ...] = ()
    benchmarks: tuple[PublicBenchmark, ...] = ()
    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
