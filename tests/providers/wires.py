"""The three wire formats as the tests speak them: how to ask for a provider, and what its server would say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from measurand.core.call import Finish
from measurand.core.message import Text, user
from measurand.core.ports import Provider
from measurand.core.request import Decode, Generate
from measurand.providers.anthropic import Anthropic, AnthropicOptions
from measurand.providers.connecting import HttpOptions, Timeouts
from measurand.providers.google import Google, GoogleOptions
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from tests.providers.server import Answer, as_events, as_json

KEY = "sk-planted-Ab3+/Zz9=secret"
ASK = Generate((user("What is 6 x 7?"),), decode=Decode(max_tokens=64))
PATIENT = HttpOptions(timeouts=Timeouts(60, 60, 60))


@dataclass(frozen=True)
class Wire:
    """A wire format: an adapter for the conformance tests."""

    name: str
    auth: str
    finishes: dict[str, Finish]
    error: dict[str, Any]
    blocked: Answer

    def provider(self, url: str, *, stream: bool = False, http: HttpOptions = PATIENT, key_env: str = "") -> Provider:
        common: dict[str, Any] = {"model": "m", "base_url": url, "stream": stream, "http": http, "key_env": key_env}
        match self.name:
            case "openai":
                return OpenAICompatible(OpenAIOptions(**common))
            case "anthropic":
                return Anthropic(AnthropicOptions(**common))
            case _:
                return Google(GoogleOptions(**common))

    def body(self, text: str | None, reason: str | None, *, thought: str = "", tools: bool = False) -> dict[str, Any]:
        """A whole reply with 11 tokens of input and 7 of output."""
        match self.name:
            case "openai":
                said: dict[str, Any] = {"role": "assistant", "content": text}
                if thought:
                    said["reasoning_content"] = thought
                if tools:
                    called = {"name": "add", "arguments": '{"a": 1}'}
                    said["tool_calls"] = [{"id": "c1", "type": "function", "function": called}]
                usage = {"prompt_tokens": 11, "completion_tokens": 7}
                choice = {"index": 0, "message": said, "finish_reason": reason}
                return {"id": "x", "model": "m-1", "choices": [choice], "usage": usage}
            case "anthropic":
                blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": thought}] if thought else []
                blocks += [{"type": "text", "text": text}] if text else []
                blocks += [{"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}}] if tools else []
                usage = {"input_tokens": 11, "output_tokens": 7}
                return {"type": "message", "model": "m-1", "content": blocks, "stop_reason": reason, "usage": usage}
            case _:
                parts: list[dict[str, Any]] = [{"text": thought, "thought": True}] if thought else []
                parts += [{"text": text}] if text else []
                parts += [{"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}}] if tools else []
                candidate = {"content": {"role": "model", "parts": parts}, "finishReason": reason}
                usage = {"promptTokenCount": 11, "candidatesTokenCount": 7}
                return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1"}

    def reply(self, text: str | None = "42", reason: str | None = "", **more: Any) -> Answer:
        """The reply as one body; the usual reason unless one is given."""
        return as_json(self.body(text, self.usual if reason == "" else reason, **more))

    def empty(self) -> Answer:
        """A success without a reply in it."""
        match self.name:
            case "openai":
                return as_json({"choices": []})
            case "anthropic":
                return as_json({"type": "message", "content": [], "stop_reason": None})
            case _:
                return as_json({"candidates": [], "usageMetadata": {}})

    def events(self, pieces: list[str], thought: str = "", *, tools: bool = False) -> list[Any]:
        """The reply as the payloads of a stream."""
        match self.name:
            case "openai":
                deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
                deltas += [{"reasoning_content": thought}] if thought else []
                deltas += [{"content": piece} for piece in pieces]
                if tools:
                    named = {"index": 0, "id": "c1", "function": {"name": "add", "arguments": ""}}
                    deltas += [{"tool_calls": [named]}]
                    pieces_of = ('{"a"', ": 1}")
                    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces_of]
                chunks: list[Any] = [{"model": "m-1", "choices": [{"delta": delta}]} for delta in deltas]
                chunks.append({"choices": [{"delta": {}, "finish_reason": "tool_calls" if tools else "stop"}]})
                chunks.append({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
                return [*chunks, "[DONE]"]
            case "anthropic":
                begun = {"model": "m-1", "content": [], "usage": {"input_tokens": 11, "output_tokens": 1}}
                events: list[Any] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
                blocks: list[Any] = [({"type": "thinking", "thinking": ""}, "thinking", [thought])] if thought else []
                blocks += [({"type": "text", "text": ""}, "text", pieces)] if pieces else []
                if tools:
                    named = {"type": "tool_use", "id": "c1", "name": "add", "input": {}}
                    blocks.append((named, "partial_json", ['{"a"', ": 1}"]))
                for index, (block, kind, texts) in enumerate(blocks):
                    events.append({"type": "content_block_start", "index": index, "content_block": block})
                    events += [
                        {"type": "content_block_delta", "index": index, "delta": {"type": "x", kind: text}}
                        for text in texts
                    ]
                    events.append({"type": "content_block_stop", "index": index})
                reason = {"stop_reason": "tool_use" if tools else "end_turn"}
                ended = {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 7}}
                return [*events, ended, {"type": "message_stop"}]
            case _:
                parts: list[dict[str, Any]] = [{"text": thought, "thought": True}] if thought else []
                parts += [{"text": piece} for piece in pieces]
                parts += [{"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}}] if tools else []
                found: list[Any] = [
                    {"candidates": [{"content": {"parts": [part]}}], "modelVersion": "m-1"} for part in parts
                ]
                found[-1]["candidates"][0]["finishReason"] = "STOP"
                found[-1]["usageMetadata"] = {"promptTokenCount": 11, "candidatesTokenCount": 7}
                return found

    def stream(self, pieces: list[str], **more: Any) -> Answer:
        """The reply as a stream."""
        return as_events(*self.events(pieces, **more))

    @property
    def usual(self) -> str:
        """The finish reason of an ordinary reply."""
        return next(iter(self.finishes))


OPENAI = Wire(
    "openai",
    "authorization",
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "content_filter": "content_filter",
        "model_length": "context",
        "something_new": "stop",
    },
    {"error": {"message": "Overloaded.", "type": "server_error", "code": None}},
    as_json({"error": {"code": "content_filter", "message": "filtered", "param": "prompt"}}, 400),
)
ANTHROPIC = Wire(
    "anthropic",
    "x-api-key",
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "context",
        "refusal": "refusal",
        "pause_turn": "length",
        "something_new": "stop",
    },
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    as_json({"type": "error", "error": {"message": "Output blocked by content filtering policy"}}, 400),
)
GOOGLE = Wire(
    "google",
    "x-goog-api-key",
    {
        "STOP": "stop",
        "MAX_TOKENS": "length",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "MALFORMED_FUNCTION_CALL": "stop",
        "SOMETHING_NEW": "stop",
    },
    {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}},
    as_json({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}),
)
WIRES = (OPENAI, ANTHROPIC, GOOGLE)


def text_of(parts: tuple[Any, ...]) -> str:
    """The text of parts."""
    return "".join(part.text for part in parts if isinstance(part, Text))


def body_of(answer: Answer) -> Any:
    """The JSON of an answer."""
    return json.loads(answer.body)
