"""Requests in the words of Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

import msgspec

from measurand.core.message import Image, Message, Part, Text, ToolCall, ToolResult
from measurand.core.record import Record
from measurand.core.request import Decode, Generate
from measurand.providers.endings import refused_request

REPLY_TOOL = "measurand_reply"
"""The tool whose arguments are the reply where the protocol asks for JSON of a schema."""


class Thinking(Record, frozen=True):
    """What a reasoning effort means: the model's own choice (`adaptive`), or a budget of tokens for its name.

    An effort that is a number is a budget as it stands.
    """

    adaptive: bool = False
    low: int = 2048
    medium: int = 8192
    high: int = 24576


def message_body(request: Generate, thinking: Thinking) -> dict[str, Any]:
    """The body of /v1/messages. Raises CallFailedError for what the API cannot be asked."""
    body: dict[str, Any] = {}
    rest = list(request.messages)
    system: list[str] = []
    while rest and rest[0].role == "system":
        system.append(rest.pop(0).text)
    if system:
        body["system"] = "\n\n".join(system)
    body["messages"] = _turns(rest)
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in request.tools
    ]
    if request.schema is not None:
        what = "Give the reply to the user, in this form."
        tools.append({"name": REPLY_TOOL, "description": what, "input_schema": request.schema})
        body["tool_choice"] = {"type": "any"} if request.tools else {"type": "tool", "name": REPLY_TOOL}
    if tools:
        body["tools"] = tools
    _decode(body, request.decode)
    if request.decode.effort:
        if request.schema is not None:
            raise refused_request(
                "Anthropic cannot think and be held to a schema at once: leave out `effort` or `schema`",
            )
        _think(body, request.decode, thinking)
    return body


def _decode(body: dict[str, Any], decode: Decode) -> None:
    if decode.max_tokens is None:
        raise refused_request("Anthropic wants a limit of output tokens: set `max_tokens` in the protocol's decoding")
    if decode.seed is not None or decode.top_logprobs:
        raise refused_request("Anthropic has neither seeds nor log-probabilities: leave out `seed` and `top_logprobs`")
    body["max_tokens"] = decode.max_tokens
    if decode.temperature is not None:
        body["temperature"] = decode.temperature
    if decode.top_p is not None:
        body["top_p"] = decode.top_p
    if decode.stop:
        body["stop_sequences"] = decode.stop


def _think(body: dict[str, Any], decode: Decode, thinking: Thinking) -> None:
    """Ask for reasoning. Refuses, rather than changes, decoding that does not go with it."""
    if decode.temperature not in {None, 1.0}:
        raise refused_request("Anthropic thinks at its own temperature: set `temperature` to None beside `effort`")
    if thinking.adaptive:
        body["thinking"] = {"type": "adaptive"}
        body["output_config"] = {"effort": decode.effort}
        return
    named = {"low": thinking.low, "medium": thinking.medium, "high": thinking.high}
    budget = int(decode.effort) if decode.effort.isdecimal() else named.get(decode.effort)
    if budget is None:
        known = ", ".join(named)
        raise refused_request(f"no budget is known for the effort {decode.effort}: use a number of tokens or {known}")
    if decode.max_tokens is not None and budget >= decode.max_tokens:
        raise refused_request(
            f"the effort {decode.effort} is {budget} tokens of thinking, but `max_tokens`, which holds thinking and "
            f"answer, is {decode.max_tokens}: raise it",
        )
    body["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _turns(messages: list[Message]) -> list[dict[str, Any]]:
    """The turns, in which user and assistant alternate; results of tools belong to the user's."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            raise refused_request("Anthropic takes a system message at the beginning only: move it there")
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [_block(part) for part in message.parts if not (isinstance(part, Text) and not part.text)]
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(media_type=kind, data=data):
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case ToolCall(id=called, name=name, arguments=arguments):
            return {"type": "tool_use", "id": called, "name": name, "input": arguments_object(arguments)}
        case ToolResult(id=called, text=text, error=error):
            block = {"type": "tool_result", "tool_use_id": called, "content": text}
            return block | {"is_error": True} if error else block


def arguments_object(arguments: str) -> dict[str, Any]:
    """The arguments of an earlier tool call as the object that some APIs want. Raises CallFailedError."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        problem = refused_request("an earlier tool call's arguments are no JSON object, which this API cannot be shown")
    problem.fatal = False
    raise problem
