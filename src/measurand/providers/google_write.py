"""Requests in the words of Google's generateContent."""

from __future__ import annotations

from typing import Any

from measurand.core.message import Image, Message, Part, Text, ToolCall, ToolResult
from measurand.core.record import Json
from measurand.core.request import Decode, Embed, Generate
from measurand.providers.anthropic_write import arguments_object
from measurand.providers.endings import refused_request

SIGNED = "|"
"""Stands in a tool call's id between the id and the signature of the thought behind it.

Google wants the signature back with the call, and our records have no other place for it.
"""


def content_body(request: Generate, extra: dict[str, Json]) -> dict[str, Any]:
    """The body of generateContent, with further fields; where both set one, the request has the last word.

    Raises CallFailedError for what the API cannot be asked.
    """
    body: dict[str, Any] = dict(extra)
    rest = list(request.messages)
    system: list[dict[str, Any]] = []
    while rest and rest[0].role == "system":
        system.append({"text": rest.pop(0).text})
    if system:
        body["systemInstruction"] = {"parts": system}
    body["contents"] = _turns(rest)
    if request.tools:
        declared = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
    config = body.get("generationConfig", {}) | _config(request.decode)
    if request.schema is not None:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
    if config:
        body["generationConfig"] = config
    return body


def embedding_body(request: Embed, name: str) -> dict[str, Any]:
    """The body of batchEmbedContents."""
    return {"requests": [{"model": name, "content": {"parts": [{"text": text}]}} for text in request.texts]}


def _config(decode: Decode) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if decode.temperature is not None:
        config["temperature"] = decode.temperature
    if decode.top_p is not None:
        config["topP"] = decode.top_p
    if decode.max_tokens is not None:
        config["maxOutputTokens"] = decode.max_tokens
    if decode.stop:
        config["stopSequences"] = decode.stop
    if decode.seed is not None:
        config["seed"] = decode.seed
    if decode.top_logprobs:
        config |= {"responseLogprobs": True, "logprobs": decode.top_logprobs}
    if decode.effort:
        budget = decode.effort.isdecimal()
        wanted = {"thinkingBudget": int(decode.effort)} if budget else {"thinkingLevel": decode.effort}
        config["thinkingConfig"] = {"includeThoughts": True, **wanted}
    return config


def _turns(messages: list[Message]) -> list[dict[str, Any]]:
    """The turns of user and model. A tool's result names its function, which only the call's id tells."""
    names = {part.id: part.name for message in messages for part in message.parts if isinstance(part, ToolCall)}
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            raise refused_request("Google takes a system message at the beginning only: move it there")
        role = "model" if message.role == "assistant" else "user"
        parts = [_part(part, names) for part in message.parts]
        if turns and turns[-1]["role"] == role:
            turns[-1]["parts"] += parts
        else:
            turns.append({"role": role, "parts": parts})
    return turns


def _part(part: Part, names: dict[str, str]) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"text": text}
        case Image(media_type=kind, data=data):
            return {"inlineData": {"mimeType": kind, "data": data}}
        case ToolCall(id=called, name=name, arguments=arguments):
            wire: dict[str, Any] = {"functionCall": {"name": name, "args": arguments_object(arguments)}}
            _, signed, signature = called.partition(SIGNED)
            return wire | {"thoughtSignature": signature} if signed else wire
        case ToolResult(id=called, text=text, error=error):
            if called not in names:
                raise refused_request(f"a tool result answers no call of this conversation ({called[:40]})")
            response = {"error": text} if error else {"result": text}
            return {"functionResponse": {"name": names[called], "response": response}}
