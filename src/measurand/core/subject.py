"""Who is measured: a model, a system built of models, a person, or a panel."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record

Passes = Literal["single pass", "majority", "search", "every"]
"""What a number or an answer rests on: one sample as a user gets it; the vote of several; the best of several, found by
whoever checks them; or all of several. Two kinds never share a rank."""


class Model(Record, frozen=True, tag="model"):
    """Weights behind an interface. Only what could change a reply.

    `provider` is the wire format (openai, anthropic, llamacpp…), `endpoint` the base URL where that is part
    of who answers, `revision` a version, date or content hash. `passes` says what one answer rests on, where whoever
    runs it declares that it is more than a single pass.
    """

    provider: str
    name: str
    revision: str = ""
    endpoint: str = ""
    template_hash: str = ""
    quantisation: str = ""
    passes: Passes = "single pass"


class Person(Record, frozen=True, tag="person", gc=False):
    """A human being who answers or judges, by a pseudonymous id."""

    id: str
    role: str
    guideline_version: str = ""


class System(Record, frozen=True, tag="system"):
    """A product: models, prompts, retrieval and code, measured as its users meet it. `passes` as of a Model."""

    name: str
    version: str = ""
    parts: tuple[Model | str, ...] = ()
    endpoint: str = ""
    passes: Passes = "single pass"


class Panel(Record, frozen=True, tag="panel"):
    """Several subjects that answer as one: a panel of judges, a pool of annotators."""

    members: tuple[Model | System | Person, ...]
    per_item: int
    combine: str


Subject = Model | System | Person | Panel


class Price(Record, frozen=True):
    """Money for one million tokens, in US dollars."""

    input: float
    output: float
    cached_input: float | None = None


class Facts(Record, frozen=True):
    """What is known about a model on a day. Shown, used for estimates, never hashed."""

    dated: str
    weights: Literal["open", "closed", "unstated"] = "unstated"
    cutoff: str = ""
    price: Price | None = None
    licence: str = ""


def passes_of(subject: Subject) -> Passes:
    """What one answer of a subject rests on; people and panels answer once."""
    return subject.passes if isinstance(subject, Model | System) else "single pass"


def subject_name(subject: Subject) -> str:
    """The name by which a person knows the subject."""
    match subject:
        case Model(name=name) | System(name=name):
            return name
        case Person(id=who):
            return who
        case Panel(members=members):
            return " + ".join(subject_name(member) for member in members)
