"""What a number is meant to say. Every report opens with its claim."""

from __future__ import annotations

from measurand.core.record import Record


class AboutModel(Record, frozen=True, tag="about_model"):
    """The asking is fixed and the weights vary."""


class AboutSystem(Record, frozen=True, tag="about_system"):
    """The task and the users are fixed; anything in the system may vary."""


class AboutMethod(Record, frozen=True, tag="about_method"):
    """Everything is fixed but one training variable."""

    varies: str
    held_equal: tuple[str, ...]
    baseline: str
    seeds: int


Claim = AboutModel | AboutSystem | AboutMethod
