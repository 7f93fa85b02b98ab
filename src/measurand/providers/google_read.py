"""Replies in the words of Google's generateContent: read leniently, whole or streamed."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from measurand.core.call import Finish, TokenLogprob, Usage
from measurand.core.errors import CallBlockedError
from measurand.core.message import Text, ToolCall
from measurand.providers.google_write import SIGNED
from measurand.providers.http import Transport
from measurand.providers.openai_read import UNLIKELY, count

FINISHES: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    # The subject wrote a call that cannot be read: it finished, and what it wrote is no tool call.
    "MALFORMED_FUNCTION_CALL": "stop",
    "UNEXPECTED_TOOL_CALL": "stop",
    "TOO_MANY_TOOL_CALLS": "stop",
}


class Function(msgspec.Struct):
    """A function called; `args` is kept as it was written."""

    name: Any = None
    args: msgspec.Raw = msgspec.Raw(b"{}")
    id: Any = None


class Part(msgspec.Struct):
    """A part of a content."""

    text: Any = None
    thought: Any = None
    functionCall: Function | None = None  # noqa: N815 (the name on the wire)
    thoughtSignature: Any = None  # noqa: N815 (the name on the wire)


class Content(msgspec.Struct):
    """What was said, or a piece of it."""

    parts: list[Part] | None = None


class Token(msgspec.Struct):
    """A token and its log-probability."""

    token: str = ""
    logProbability: float | None = None  # noqa: N815 (the name on the wire)


class Tokens(msgspec.Struct):
    """The likeliest tokens at one place."""

    candidates: list[Token] | None = None


class Logprobs(msgspec.Struct):
    """Log-probabilities of a candidate."""

    chosenCandidates: list[Token] | None = None  # noqa: N815 (the name on the wire)
    topCandidates: list[Tokens] | None = None  # noqa: N815 (the name on the wire)


class Candidate(msgspec.Struct):
    """One of the replies; only the first is ever asked for."""

    content: Content | None = None
    finishReason: Any = None  # noqa: N815 (the name on the wire)
    logprobsResult: Logprobs | None = None  # noqa: N815 (the name on the wire)


class Answer(msgspec.Struct):
    """A body, or a chunk of a stream."""

    candidates: list[Candidate] | None = None
    promptFeedback: Any = None  # noqa: N815 (the name on the wire)
    usageMetadata: Any = None  # noqa: N815 (the name on the wire)
    modelVersion: Any = None  # noqa: N815 (the name on the wire)
    error: Any = None


class Vector(msgspec.Struct):
    """One row of an embedding."""

    values: list[float]


class Embeddings(msgspec.Struct):
    """The body of batchEmbedContents."""

    embeddings: list[Vector] | None = None


ANSWER = msgspec.json.Decoder(Answer)
EMBEDDINGS = msgspec.json.Decoder(Embeddings)


def first_candidate(body: Answer, raw: bytes, http: Transport) -> Candidate:
    """The candidate that holds the reply. Raises CallError for a blocked prompt, an error, and no candidates."""
    refuse_blocked(body, http)
    if body.error or (body.candidates is None and body.usageMetadata is None):
        raise http.unreadable(raw)
    if not body.candidates:
        raise http.broken("answered with no choices (candidates)")
    return body.candidates[0]


def refuse_blocked(body: Answer, http: Transport) -> None:
    """Raise CallBlockedError where a filter stopped the prompt."""
    reason = body.promptFeedback.get("blockReason") if isinstance(body.promptFeedback, dict) else None
    if reason:
        raise CallBlockedError(f"{http.asked.host} ({str(reason)[:40]})")


def parts_of(candidate: Candidate) -> tuple[tuple[Text | ToolCall, ...], str]:
    """The parts and the reasoning; neighbouring texts are one, as they are when nothing is streamed."""
    parts: list[Text | ToolCall] = []
    text: list[str] = []
    reasoning: list[str] = []
    for part in candidate.content.parts or () if candidate.content else ():
        if part.functionCall is not None:
            if text:
                parts.append(Text("".join(text)))
                text = []
            parts.append(_called(part.functionCall, part.thoughtSignature, len(parts)))
        elif isinstance(part.text, str) and part.text:
            (reasoning if part.thought is True else text).append(part.text)
    if text:
        parts.append(Text("".join(text)))
    return tuple(parts), "".join(reasoning)


def finish_of(candidate: Candidate, parts: tuple[Text | ToolCall, ...], http: Transport) -> Finish:
    """How the reply ended. Raises CallFailedError where it ended for no known reason with nothing."""
    reason = candidate.finishReason
    finish = FINISHES.get(reason) if isinstance(reason, str) else None
    if finish is None and not parts:
        raise http.broken(f"said nothing and gave no known finishReason ({str(reason)[:40]})")
    if finish in {None, "stop"} and any(isinstance(part, ToolCall) for part in parts):
        return "tool_calls"
    return finish or "stop"


def usage_of(usage: Any) -> Usage:
    """Tokens as counted by the endpoint, which counts thoughts apart from the rest of the output."""
    if not isinstance(usage, dict):
        return Usage()
    said, thought = count(usage.get("candidatesTokenCount")), count(usage.get("thoughtsTokenCount"))
    output = None if said is None and thought is None else (said or 0) + (thought or 0)
    return Usage(count(usage.get("promptTokenCount")), output, count(usage.get("cachedContentTokenCount")), thought)


def logprobs_of(found: Logprobs | None) -> tuple[TokenLogprob, ...]:
    """Token log-probabilities."""
    if found is None:
        return ()
    chosen, tops = found.chosenCandidates or [], found.topCandidates or []
    return tuple(
        TokenLogprob(
            token.token,
            _nats(token),
            {other.token: _nats(other) for other in (tops[place].candidates or ())} if place < len(tops) else {},
        )
        for place, token in enumerate(chosen)
    )


class Assembly:
    """Puts a streamed reply together into the candidate that would have come whole."""

    def __init__(self, http: Transport) -> None:
        self.first_token: float | None = None
        self.body = Answer()
        self._http = http
        self._parts: list[Part] = []
        self._chosen: list[Token] = []
        self._tops: list[Tokens] = []
        self._reason: Any = None

    @property
    def finished(self) -> bool:
        """Whether a finish reason was seen; this API has no other sign of the end."""
        return self._reason is not None

    def feed(self, payload: bytes) -> bool:
        """Take one chunk. Raises CallError for a broken one, an error, or a blocked prompt."""
        chunk = self._http.decode(ANSWER, payload)
        refuse_blocked(chunk, self._http)
        if chunk.error:
            raise self._http.unreadable(payload)
        self.body.usageMetadata = chunk.usageMetadata or self.body.usageMetadata
        self.body.modelVersion = chunk.modelVersion or self.body.modelVersion
        for candidate in chunk.candidates or ():
            self._take(candidate)
        return False

    def candidate(self) -> Candidate:
        """The whole candidate."""
        return Candidate(Content(self._parts), self._reason, Logprobs(self._chosen, self._tops))

    def _take(self, piece: Candidate) -> None:
        parts = piece.content.parts if piece.content else None
        if parts and self.first_token is None:
            self.first_token = time.perf_counter()
        self._parts += parts or ()
        if piece.finishReason is not None:
            self._reason = piece.finishReason
        if piece.logprobsResult is not None:
            self._chosen += piece.logprobsResult.chosenCandidates or ()
            self._tops += piece.logprobsResult.topCandidates or ()


def _called(function: Function, signature: Any, place: int) -> ToolCall:
    called = str(function.id or f"call_{place}").replace(SIGNED, "_")
    if isinstance(signature, str) and signature:
        called = f"{called}{SIGNED}{signature}"
    return ToolCall(called, str(function.name or ""), bytes(function.args).decode("utf-8", "replace"))


def _nats(token: Token) -> float:
    return UNLIKELY if token.logProbability is None else token.logProbability
