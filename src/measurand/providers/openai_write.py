"""Requests in the words of OpenAI's chat completions, completions and embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from measurand.core.message import Image, Message, Text, ToolCall, ToolResult
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.providers.endings import refused_request


def chat(request: Generate, limit: str) -> dict[str, Any]:
    """The body of /chat/completions; `limit` names the field that bounds the output."""
    body: dict[str, Any] = {"messages": [wire for message in request.messages for wire in _messages(message)]}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    if request.schema is not None:
        wanted = {"name": "reply", "schema": request.schema, "strict": _is_closed(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    decode = request.decode
    _decode(body, decode, limit)
    if decode.effort:
        body["reasoning_effort"] = decode.effort
    if decode.top_logprobs:
        body["logprobs"] = True
        body["top_logprobs"] = decode.top_logprobs
    return body


def completion(request: Complete) -> dict[str, Any]:
    """The body of /completions."""
    body: dict[str, Any] = {"prompt": request.prompt}
    decode = request.decode
    _decode(body, decode, "max_tokens")
    if decode.effort:
        raise refused_request("a raw completion has no reasoning effort: leave `effort` empty in the protocol")
    if decode.top_logprobs:
        body["logprobs"] = decode.top_logprobs
    return body


def echo(context: str, continuations: tuple[str, ...], top: int = 1) -> dict[str, Any]:
    """The body of /completions that gives back the log-probability of every token of the prompts.

    With each come the `top` likeliest tokens in its place.

    The context goes along alone, as the first prompt, because its own tokens say where each continuation begins.
    """
    alone = [context] if context else []
    prompts = alone + [context + continuation for continuation in continuations]
    return {"prompt": prompts, "max_tokens": 0, "echo": True, "logprobs": top, "temperature": 0.0}


def of_prompt(context: str, continuations: tuple[str, ...], top: int = 0) -> dict[str, Any]:
    """The same in vLLM's own words, with the ids of the prompts' tokens."""
    body = echo(context, continuations)
    asked = {"prompt_logprobs": top, "return_token_ids": True, "max_tokens": 1}
    return {"prompt": body["prompt"], "temperature": 0.0} | asked


def next_token(context: str, top: int) -> dict[str, Any]:
    """The body of /completions that gives the `top` likeliest next tokens."""
    return {"prompt": context, "max_tokens": 1, "logprobs": top, "temperature": 0.0}


def _decode(body: dict[str, Any], decode: Decode, limit: str) -> None:
    if decode.temperature is not None:
        body["temperature"] = decode.temperature
    if decode.top_p is not None:
        body["top_p"] = decode.top_p
    if decode.max_tokens is not None:
        body[limit] = decode.max_tokens
    if decode.stop:
        body["stop"] = decode.stop
    if decode.seed is not None:
        body["seed"] = decode.seed


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    """A message as the wire knows it: each tool result is a message of its own, before what is said with it."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    for result in results:
        yield {"role": "tool", "tool_call_id": result.id, "content": result.text}
    if results and len(results) == len(message.parts):
        return
    if message.role == "tool":
        raise refused_request("a message of the tool holds more than tool results: give its text as a ToolResult")
    calls = [_call(part) for part in message.parts if isinstance(part, ToolCall)]
    if calls:
        yield {"role": message.role, "content": message.text or None, "tool_calls": calls}
    elif any(isinstance(part, Image) for part in message.parts):
        if message.role != "user":
            raise refused_request(f"an image stands in a message of the {message.role}: only a user may show images")
        yield {"role": "user", "content": [_shown(part) for part in message.parts if isinstance(part, Text | Image)]}
    else:
        yield {"role": message.role, "content": message.text}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _shown(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}


def _is_closed(schema: Json) -> bool:
    """Whether OpenAI's strict mode takes the schema: every object closed, and every property required."""
    if isinstance(schema, list):
        return all(_is_closed(inner) for inner in schema)
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        required = schema.get("required")
        names = set(properties) if isinstance(properties, dict) else set()
        if schema.get("additionalProperties") is not False or not isinstance(required, list) or names != set(required):
            return False
    return all(_is_closed(inner) for inner in schema.values())
