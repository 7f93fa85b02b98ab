"""A call: what was asked or run, and what came back."""

from __future__ import annotations

import time
from typing import Literal

from measurand.core.message import Part, Text, ToolCall
from measurand.core.program import Program, Result
from measurand.core.record import Record
from measurand.core.request import Request

Finish = Literal["stop", "length", "context", "tool_calls", "refusal", "content_filter"]


class Usage(Record, frozen=True, gc=False):
    """Tokens as the endpoint counted them; None where it did not say. `reasoning` is part of `output`."""

    input: int | None = None
    output: int | None = None
    cached_input: int | None = None
    reasoning: int | None = None


class Timings(Record, frozen=True, gc=False):
    """Seconds. `first_token` only from a fresh streamed call."""

    total: float = 0.0
    first_token: float | None = None

    @classmethod
    def since(cls, begun: float, first_token: float | None = None) -> Timings:
        """The time since `begun` (`time.perf_counter()`), to the microsecond: more digits would be noise."""
        first = None if first_token is None else round(first_token, 6)
        return cls(round(time.perf_counter() - begun, 6), first)


class TokenLogprob(Record, frozen=True, gc=False):
    """A generated token and its log-probability in nats, with the likeliest alternatives."""

    token: str
    logprob: float
    top: dict[str, float] = {}


class Reply(Record, frozen=True):
    """What a subject gave back.

    `values` holds one number for each continuation of a Loglikelihood request, and one for the text of a Rolling
    request; `counts` says how many tokens each of them sums over, where the subject knows. `vectors` has one row for
    each text of an Embed request. `prompt_ids` are the token ids that the subject read, kept for a sample of replies.
    `served_as` is the model name the endpoint reported. `replayed_from` is when (ISO 8601, UTC) a replayed reply was
    first received; empty on a fresh one.
    """

    parts: tuple[Part, ...] = ()
    finish: Finish = "stop"
    reasoning: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()
    values: tuple[float, ...] = ()
    vectors: tuple[tuple[float, ...], ...] = ()
    usage: Usage = Usage()
    timings: Timings = Timings()
    served_as: str = ""
    replayed_from: str = ""
    counts: tuple[int, ...] = ()
    prompt_ids: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


class Asked(Record, frozen=True, tag="asked"):
    """A request and its reply."""

    request: Request
    reply: Reply


class Ran(Record, frozen=True, tag="ran"):
    """A program and its result."""

    program: Program
    result: Result


class Call(Record, frozen=True):
    """One exchange with the world, owned by a trial or, when it serves all trials, by a run."""

    owner: str
    step: int
    role: str
    subject: str
    key: str
    what: Asked | Ran
