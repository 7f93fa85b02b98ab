"""What is said: a message and its parts."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Json, Record

Role = Literal["system", "user", "assistant", "tool"]


class Text(Record, frozen=True, tag="text", gc=False):
    """Plain text."""

    text: str


class Image(Record, frozen=True, tag="image", gc=False):
    """An image: `data` is base64 and `media_type` an IANA type such as image/png."""

    media_type: str
    data: str


class ToolCall(Record, frozen=True, tag="tool_call", gc=False):
    """A call the subject wants made; `arguments` is the JSON text exactly as the subject wrote it."""

    id: str
    name: str
    arguments: str


class ToolResult(Record, frozen=True, tag="tool_result", gc=False):
    """What a tool call gave back."""

    id: str
    text: str
    error: bool = False


Part = Text | Image | ToolCall | ToolResult


class Message(Record, frozen=True):
    """One message of a conversation."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class Tool(Record, frozen=True):
    """A tool offered to the subject; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Json]


def user(text: str) -> Message:
    """A user message of plain text."""
    return Message("user", (Text(text),))


def system(text: str) -> Message:
    """A system message of plain text."""
    return Message("system", (Text(text),))


def assistant(text: str) -> Message:
    """An assistant message of plain text."""
    return Message("assistant", (Text(text),))
