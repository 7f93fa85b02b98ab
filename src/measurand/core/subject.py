"""Who is measured: a model, a system built of models, a person, or a panel."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record


class Model(Record, frozen=True, tag="model"):
    """Weights behind an interface. Only what could change a reply.

    `provider` is the wire format (openai, anthropic, llamacpp…), `endpoint` the base URL where that is part
    of who answers, `revision` a version, date or content hash.
    """

    provider: str
    name: str
    revision: str = ""
    endpoint: str = ""
    template_hash: str = ""
    quantisation: str = ""


class Person(Record, frozen=True, tag="person", gc=False):
    """A human being who answers or judges, by a pseudonymous id."""

    id: str
    role: str
    guideline_version: str = ""


class System(Record, frozen=True, tag="system"):
    """A product: models, prompts, retrieval and code, measured as its users meet it."""

    name: str
    version: str = ""
    parts: tuple[Model | str, ...] = ()
    endpoint: str = ""


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


def subject_name(subject: Subject) -> str:
    """The name by which a person knows the subject."""
    match subject:
        case Model(name=name) | System(name=name):
            return name
        case Person(id=who):
            return who
        case Panel(members=members):
            return " + ".join(subject_name(member) for member in members)
