"""Replies in the words of OpenAI and of those who imitate it: read leniently, whole or streamed."""

from __future__ import annotations

from typing import Any

import msgspec

from measurand.core.call import Finish, TokenLogprob, Usage
from measurand.core.message import Text, ToolCall
from measurand.providers.http import Transport

UNLIKELY = -9999.0
"""Nats. What OpenAI sends for a token too unlikely to measure, and what stands for a null."""

_COUNTABLE = 1 << 53
"""From here on a float is no count any more."""

FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "repetition_truncation": "length",
    "model_length": "context",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "refusal",
}
"""Finish reasons as written by OpenAI, vLLM, TGI, Mistral, DeepSeek and the gateways in front of them."""

_BREAKS = frozenset({"error", "abort", "cancelled", "insufficient_system_resource"})
"""Finish reasons by which an endpoint says that it, not the model, broke off."""


class Function(msgspec.Struct):
    """A function called; `arguments` is text, or an object where a server decoded it."""

    name: str | None = None
    arguments: Any = None


class Called(msgspec.Struct):
    """A tool call, or a piece of one in a stream."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None


class Said(msgspec.Struct):
    """A message, or a piece of one in a stream."""

    content: Any = None
    tool_calls: list[Called] | None = None
    function_call: Function | None = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None


class Entry(msgspec.Struct):
    """A token of a chat's log-probabilities."""

    token: str
    logprob: float | None = None
    top_logprobs: list[Entry] | None = None


class Logprobs(msgspec.Struct):
    """Log-probabilities in the chat's form (`content`) or in the completion's (the rest)."""

    content: list[Entry] | None = None
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float | None] | None] | None = None


class Choice(msgspec.Struct):
    """One of the replies; only the first is ever asked for."""

    index: int | None = None
    message: Said | None = None
    delta: Said | None = None
    text: str | None = None
    finish_reason: Any = None
    logprobs: Logprobs | None = None
    prompt_logprobs: Any = None
    prompt_token_ids: Any = None
    error: Any = None


class Completion(msgspec.Struct):
    """A body, or a chunk of a stream."""

    choices: list[Choice] | None = None
    usage: Any = None
    model: Any = None
    error: Any = None
    object: Any = None


class Vector(msgspec.Struct):
    """One row of an embedding."""

    embedding: list[float]
    index: int | None = None


class Embedding(msgspec.Struct):
    """The body of /embeddings."""

    data: list[Vector] | None = None
    usage: Any = None
    model: Any = None


COMPLETION = msgspec.json.Decoder(Completion)
EMBEDDING = msgspec.json.Decoder(Embedding)


def first_choice(body: Completion, raw: bytes, http: Transport) -> Choice:
    """The choice that holds the reply. Raises CallError for an error in disguise and for no choices."""
    if body.error or body.object == "error" or body.choices is None:
        raise http.unreadable(raw)
    if not body.choices:
        raise http.broken("answered with no choices")
    choice = body.choices[0]
    if choice.error:
        raise http.unreadable(msgspec.json.encode({"error": choice.error}))
    return choice


def said_text(content: Any) -> tuple[str, str]:
    """Text and reasoning of a content, which is a text, nothing, or a list of parts."""
    if isinstance(content, str):
        return content, ""
    text, reasoning = [], []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            if "thinking" in part:
                thought = part["thinking"]
                reasoning.append(said_text(thought)[0])
            else:
                text.append(next((part[name] for name in ("text", "refusal") if isinstance(part.get(name), str)), ""))
    return "".join(text), "".join(reasoning)


def message_of(choice: Choice) -> tuple[tuple[Text | ToolCall, ...], str, bool]:
    """The parts and the reasoning of a choice, and whether it says that it refused."""
    said = choice.message
    if said is None:
        return ((Text(choice.text),) if choice.text else ()), "", False
    text, thought = said_text(said.content)
    refusal = said.refusal if isinstance(said.refusal, str) else ""
    parts: list[Text | ToolCall] = [Text(text or refusal)] if text or refusal else []
    calls = said.tool_calls or ([Called(function=said.function_call)] if said.function_call else [])
    for number, call in enumerate(calls):
        function = call.function or Function()
        parts.append(ToolCall(call.id or f"call_{number}", function.name or "", arguments_text(function.arguments)))
    for field in (said.reasoning_content, said.reasoning):
        if isinstance(field, str) and field:
            return tuple(parts), field, bool(refusal)
    return tuple(parts), thought, bool(refusal)


def finish_of(choice: Choice, parts: tuple[Text | ToolCall, ...], http: Transport, *, refused: bool) -> Finish:
    """How the reply ended. Raises CallFailedError where the endpoint broke off, or ended for no reason with nothing."""
    reason = choice.finish_reason
    finish = FINISHES.get(reason) if isinstance(reason, str) else None
    if isinstance(reason, str) and reason in _BREAKS:
        raise http.broken(f"broke off its reply (finish_reason {reason})")
    if finish is None and not parts:
        raise http.broken(f"said nothing and gave no known finish_reason ({str(reason)[:40]})")
    if refused and finish != "content_filter":
        return "refusal"
    if finish in {None, "stop"} and any(isinstance(part, ToolCall) for part in parts):
        return "tool_calls"
    return finish or "stop"


def logprobs_of(found: Logprobs | None) -> tuple[TokenLogprob, ...]:
    """Token log-probabilities of either form."""
    if found is None:
        return ()
    if found.content is not None:
        return tuple(
            TokenLogprob(
                entry.token,
                _nats(entry.logprob),
                _top((other.token, other.logprob) for other in entry.top_logprobs or ()),
            )
            for entry in found.content
        )
    tokens, nats = found.tokens or [], found.token_logprobs or []
    tops = found.top_logprobs or [None] * len(tokens)
    return tuple(
        TokenLogprob(token, _nats(number), _top((top or {}).items()))
        for token, number, top in zip(tokens, nats, tops, strict=False)
    )


def usage_of(usage: Any) -> Usage:
    """Tokens as counted by the endpoint."""
    if not isinstance(usage, dict):
        return Usage()
    prompt, output = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        count(usage.get("prompt_tokens")),
        count(usage.get("completion_tokens")),
        count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else None,
        count(output.get("reasoning_tokens")) if isinstance(output, dict) else None,
    )


def count(value: Any) -> int | None:
    """A number of tokens, or None where it is none."""
    return (
        int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None
    )


def arguments_text(arguments: Any, empty: str = "{}") -> str:
    """The arguments of a call as text, exactly as sent where they are text."""
    if isinstance(arguments, str):
        return arguments
    return empty if arguments is None else msgspec.json.encode(arguments).decode()


def _nats(number: float | None) -> float:
    return UNLIKELY if number is None else number


def _top(pairs: Any) -> dict[str, float]:
    """The alternatives. Tokens that are parts of one character are written alike; the likeliest stands for them."""
    top: dict[str, float] = {}
    for token, number in pairs:
        nats = _nats(number)
        if nats > top.get(token, -float("inf")):
            top[token] = nats
    return top
