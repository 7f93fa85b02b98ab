"""Replies in the words of Anthropic's Messages API: read leniently, whole or streamed."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from measurand.core.call import Finish, Usage
from measurand.core.message import Text, ToolCall
from measurand.providers.anthropic_write import REPLY_TOOL
from measurand.providers.http import Transport
from measurand.providers.openai_read import count

FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "context",
    "tool_use": "tool_calls",
    "refusal": "refusal",
    "pause_turn": "length",  # the turn was cut by a limit of the server's, so the answer is not whole
}


class Block(msgspec.Struct):
    """A block of content. `input` is kept as it was written."""

    type: str = ""
    text: Any = None
    thinking: Any = None
    id: Any = None
    name: Any = None
    input: msgspec.Raw = msgspec.Raw(b"{}")


class Message(msgspec.Struct):
    """The body of a reply."""

    content: list[Block] | None = None
    stop_reason: Any = None
    usage: Any = None
    model: Any = None
    error: Any = None


class Delta(msgspec.Struct):
    """A piece of a block, or of the message."""

    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    stop_reason: Any = None


class Event(msgspec.Struct):
    """An event of a stream."""

    type: str
    index: int = 0
    message: Message | None = None
    content_block: Block | None = None
    delta: Delta | None = None
    usage: Any = None
    error: Any = None


MESSAGE = msgspec.json.Decoder(Message)
_EVENT = msgspec.json.Decoder(Event)


def parts_of(message: Message) -> tuple[tuple[Text | ToolCall, ...], str]:
    """The parts and the reasoning. The reply that was asked for as a tool's arguments is text again."""
    parts: list[Text | ToolCall] = []
    reasoning: list[str] = []
    for number, block in enumerate(message.content or ()):
        if block.type == "text" and isinstance(block.text, str) and block.text:
            parts.append(Text(block.text))
        elif block.type == "thinking" and isinstance(block.thinking, str):
            reasoning.append(block.thinking)
        elif block.type == "tool_use":
            arguments = bytes(block.input).decode("utf-8", "replace")
            if block.name == REPLY_TOOL:
                parts = [part for part in parts if isinstance(part, ToolCall)]
                parts.append(Text(arguments))
            else:
                parts.append(ToolCall(str(block.id or f"call_{number}"), str(block.name or ""), arguments))
    return tuple(parts), "".join(reasoning)


def finish_of(message: Message, parts: tuple[Text | ToolCall, ...], http: Transport) -> Finish:
    """How the reply ended. Raises CallFailedError where it ended for no known reason with nothing."""
    reason = message.stop_reason
    finish = FINISHES.get(reason) if isinstance(reason, str) else None
    if finish is None and not parts:
        raise http.broken(f"said nothing and gave no known stop_reason ({str(reason)[:40]})")
    calls = any(isinstance(part, ToolCall) for part in parts)
    if finish in {None, "stop", "tool_calls"}:
        return "tool_calls" if calls else "stop"
    return finish or "stop"


def usage_of(usage: Any) -> Usage:
    """Tokens as counted by the endpoint, which counts cached input apart from the rest."""
    if not isinstance(usage, dict):
        return Usage()
    cached = count(usage.get("cache_read_input_tokens"))
    counts = [cached, count(usage.get("input_tokens")), count(usage.get("cache_creation_input_tokens"))]
    known = [number for number in counts if number is not None]
    return Usage(sum(known) if known else None, count(usage.get("output_tokens")), cached)


class Assembly:
    """Puts a streamed reply together into the message that would have come whole."""

    def __init__(self, http: Transport) -> None:
        self.first_token: float | None = None
        self._http = http
        self._blocks: dict[int, tuple[Block, list[str]]] = {}
        self._usage: dict[str, Any] = {}
        self._model: Any = None
        self._reason: Any = None
        self._over = False

    @property
    def finished(self) -> bool:
        """Whether a stop reason or the end was seen."""
        return self._over or self._reason is not None

    def feed(self, payload: bytes) -> bool:
        """Take one event. Raises CallError for a broken one or an error."""
        event = self._http.decode(_EVENT, payload)
        if event.error or event.type == "error":
            raise self._http.unreadable(payload)
        if event.message is not None:
            self._model = event.message.model
            self._count(event.message.usage)
        self._count(event.usage)
        if event.content_block is not None:
            self._open(event.index, event.content_block)
        if event.delta is not None:
            self._take(event.index, event.delta)
        self._over = event.type == "message_stop"
        return self._over

    def message(self) -> Message:
        """The whole message."""
        blocks = [_whole(block, "".join(pieces)) for _, (block, pieces) in sorted(self._blocks.items())]
        return Message(blocks, self._reason, self._usage, self._model)

    def _open(self, index: int, block: Block) -> None:
        begun = block.text if block.type == "text" else block.thinking
        self._blocks[index] = (block, [begun] if isinstance(begun, str) else [])

    def _take(self, index: int, delta: Delta) -> None:
        if delta.stop_reason is not None:
            self._reason = delta.stop_reason
        piece = delta.text or delta.thinking or delta.partial_json
        if not piece:
            return
        if index not in self._blocks:
            raise self._http.broken("streamed a piece of a block that it had not begun")
        if self.first_token is None:
            self.first_token = time.perf_counter()
        self._blocks[index][1].append(piece)

    def _count(self, usage: Any) -> None:
        """Take over counts; the last one stands, and a null says nothing."""
        if isinstance(usage, dict):
            self._usage |= {name: number for name, number in usage.items() if number is not None}


def _whole(block: Block, joined: str) -> Block:
    """The block with its pieces in place."""
    if block.type == "text":
        return Block(type="text", text=joined)
    if block.type == "thinking":
        return Block(type="thinking", thinking=joined)
    given = msgspec.Raw(joined.encode()) if joined else block.input
    return Block(type=block.type, id=block.id, name=block.name, input=given)
