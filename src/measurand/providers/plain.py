"""What a program that knows only text is given, and what may be made of what it gives back."""

from __future__ import annotations

from typing import Any

import msgspec

from measurand.core.call import Reply
from measurand.core.errors import CallFailedError
from measurand.core.message import Image, Message, Text, ToolResult
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling

_FIELDS = ("text", "finish", "reasoning", "usage")

_LONGEST = 500
"""Characters of a program's own words that are shown."""


def said(text: str) -> Reply:
    """A reply of plain text."""
    return Reply((Text(text),))


def prompt_of(request: Request) -> str:
    """The text by which people know a request: the last user message, the raw prompt, or the context."""
    match request:
        case Generate(messages=messages):
            return next((message.text for message in reversed(messages) if message.role == "user"), "")
        case Complete(prompt=prompt):
            return prompt
        case Loglikelihood(context=context):
            return context
        case Rolling(text=text):
            return text
        case Embed(texts=texts):
            return "\n".join(texts)


def only_text(request: Request, who: str, mend: str) -> str:
    """The text of a request that is nothing but one text. `mend` says how `who` may be given more.

    Raises CallFailedError for anything else: a system message or an earlier turn is never dropped in silence.
    """
    match request:
        case Complete(prompt=prompt):
            return prompt
        case Generate(messages=(message,), tools=(), schema=None) if message.role == "user":
            return _text(message, who)
        case Generate(messages=messages, tools=(), schema=None):
            why = f"the request is a conversation of {len(messages)} messages and {who} takes one text; {mend}"
            raise CallFailedError(why, where="request", fatal=True)
    raise _beyond(who)


def messages_of(request: Request, who: str) -> list[dict[str, str]]:
    """The conversation as plain data: `role` and `content`. Raises CallFailedError for what is more than text."""
    match request:
        case Generate(messages=messages, tools=(), schema=None):
            return [{"role": message.role, "content": _text(message, who)} for message in messages]
    raise _beyond(who)


def reply_of(value: Any, who: str) -> Reply:
    """The reply in what a program gave back: a text, a Reply, or an object with `text` and perhaps `usage`.

    Raises CallFailedError for anything else.
    """
    if isinstance(value, str):
        return said(value)
    if isinstance(value, Reply):
        return value
    if not isinstance(value, dict):
        wanted = 'the answer\'s text, or {"text": …, "usage": {"input": …, "output": …}}'
        raise _wrong(f"{who} returned {'nothing' if value is None else type(value).__name__}: return {wanted}")
    if unknown := sorted(str(name) for name in value.keys() - set(_FIELDS)):
        raise _wrong(f"{who} returned the unknown field '{unknown[0]}': the fields are {', '.join(_FIELDS)}")
    if not isinstance(value.get("text"), str):
        raise _wrong(f"{who} returned an object without a text: give the answer as the field `text`")
    fields = {name: inner for name, inner in value.items() if name != "text"}
    try:
        reply = msgspec.convert(fields, Reply)
    except msgspec.ValidationError as error:
        raise _wrong(f"{who} returned a reply that cannot be used: {error}") from None
    return msgspec.structs.replace(reply, parts=(Text(value["text"]),))


def one_line(error: BaseException) -> str:
    """An exception in one line: its type and what it says."""
    words = tidy(str(error)[:2000])
    if len(words) > _LONGEST:
        words = words[:_LONGEST] + "…"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def tidy(text: str) -> str:
    """One line of what can be printed."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def _text(message: Message, who: str) -> str:
    """The text of a message, the results of tools included."""
    if any(isinstance(part, Image) for part in message.parts):
        raise CallFailedError(f"the request shows an image, and {who} takes text only", where="request", fatal=True)
    return message.text or "\n".join(part.text for part in message.parts if isinstance(part, ToolResult))


def _beyond(who: str) -> CallFailedError:
    why = f"{who} answers in text: ask it by chat or by completion, without tools or a JSON schema"
    return CallFailedError(why, where="request", fatal=True)


def _wrong(why: str) -> CallFailedError:
    return CallFailedError(why, where="reply")
