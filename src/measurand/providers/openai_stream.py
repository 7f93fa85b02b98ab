"""A streamed reply of OpenAI's form, put together into the body that would have come whole."""

from __future__ import annotations

import time
from typing import Any

from measurand.core.call import TokenLogprob
from measurand.providers.http import Transport
from measurand.providers.openai_read import (
    COMPLETION,
    Called,
    Choice,
    Completion,
    Function,
    Said,
    arguments_text,
    first_choice,
    logprobs_of,
    said_text,
)


class Assembly:
    """Puts a streamed reply together into the same body that would have come whole."""

    def __init__(self, http: Transport) -> None:
        self.first_token: float | None = None
        self.body = Completion()
        self._http = http
        self._pieces: dict[str, list[str]] = {"text": [], "content": [], "refusal": [], "reasoning": []}
        self._calls: dict[int, Called] = {}
        self._entries: list[TokenLogprob] = []
        self._over = False
        self._reason: Any = None

    @property
    def finished(self) -> bool:
        """Whether [DONE] or a finish reason was seen."""
        return self._over or self._reason is not None

    @property
    def logprobs(self) -> tuple[TokenLogprob, ...]:
        """Token log-probabilities so far."""
        return tuple(self._entries)

    def feed(self, payload: bytes) -> bool:
        """Take one chunk. Raises CallError for a broken one: it may have held text, so it is never passed over."""
        if payload == b"[DONE]":
            self._over = True
            return True
        chunk = self._http.decode(COMPLETION, payload)
        self.body.usage = chunk.usage or self.body.usage
        self.body.model = chunk.model or self.body.model
        if not chunk.choices and not chunk.error and (chunk.choices is not None or chunk.usage):
            return False  # Azure's verdict on the prompt, or the count of tokens at the end
        choice = first_choice(chunk, payload, self._http)
        self._entries += logprobs_of(choice.logprobs)
        if choice.finish_reason is not None:
            self._reason = choice.finish_reason
        if choice.text:
            self._add("text", choice.text)
        if choice.delta is not None:
            self._take(choice.delta)
        return False

    def choice(self) -> Choice:
        """The whole choice."""
        joined = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        if joined["text"]:
            return Choice(text=joined["text"], finish_reason=self._reason)
        said = Said(joined["content"], list(self._calls.values()), None, joined["refusal"], joined["reasoning"])
        return Choice(message=said, finish_reason=self._reason)

    def _take(self, delta: Said) -> None:
        text, thought = said_text(delta.content)
        self._add("content", text)
        for piece in (delta.reasoning_content or delta.reasoning, thought):
            self._add("reasoning", piece)
        self._add("refusal", delta.refusal)
        calls = delta.tool_calls or ([Called(function=delta.function_call)] if delta.function_call else [])
        for piece in calls:
            self._call(piece)

    def _add(self, name: str, piece: Any) -> None:
        if isinstance(piece, str) and piece:
            self._seen()
            self._pieces[name].append(piece)

    def _call(self, piece: Called) -> None:
        """Join a piece to its call: by index, or to the last call where it brings neither index nor id."""
        self._seen()
        index = piece.index
        if index is None:
            index = len(self._calls) if piece.id or not self._calls else max(self._calls)
        function = piece.function or Function()
        call = self._calls.setdefault(index, Called(index, None, Function("", "")))
        call.id = call.id or piece.id
        whole = call.function or Function("", "")
        whole.name = whole.name or function.name
        whole.arguments += arguments_text(function.arguments, empty="")

    def _seen(self) -> None:
        if self.first_token is None:
            self.first_token = time.perf_counter()
