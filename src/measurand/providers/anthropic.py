"""Anthropic's Messages API."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from measurand.core.call import Reply, Timings
from measurand.core.ports import Abilities
from measurand.core.record import Json, Record
from measurand.core.request import Generate, Request
from measurand.core.subject import Model
from measurand.providers import anthropic_read as read
from measurand.providers.anthropic_write import Thinking, message_body
from measurand.providers.connecting import HttpOptions, checked_fields, varied
from measurand.providers.endings import refused_request
from measurand.providers.http import Transport, encode
from measurand.providers.secrets import scrub

BASE_URL = "https://api.anthropic.com"

_OWN_FIELDS = frozenset({"messages", "system", "tools", "tool_choice", "stream", "model", "max_tokens"})


class AnthropicOptions(Record, frozen=True):
    """Whom to ask and how.

    `thinking` says what a protocol's reasoning effort means. `betas` are names of beta features. `extra` are
    further fields of the body. All three may change replies, so they enter the subject's revision.
    """

    model: str
    base_url: str = BASE_URL
    key_env: str = ""
    revision: str = ""
    api_version: str = "2023-06-01"
    betas: tuple[str, ...] = ()
    thinking: Thinking = Thinking()
    stream: bool = False
    extra: dict[str, Json] = {}
    http: HttpOptions = HttpOptions()


class Anthropic:
    """A provider that speaks Anthropic's Messages API. Raises InputError for options that cannot be used."""

    def __init__(self, options: AnthropicOptions) -> None:
        self.options = options
        headers = {"anthropic-version": options.api_version}
        if options.betas:
            headers["anthropic-beta"] = ",".join(options.betas)
        self._http = Transport(
            options.base_url,
            options.http,
            key_env=options.key_env,
            key_header=("x-api-key", ""),
            headers=headers,
        )
        self._url = self._http.url("/v1/messages")
        self._fields: dict[str, Any] = {"model": options.model, **checked_fields(options.extra, _OWN_FIELDS)}
        if options.stream:
            self._fields["stream"] = True
        base = str(self._http.base).rstrip("/")
        self._subject = Model(
            provider="anthropic",
            name=options.model,
            revision=varied(options.revision, _settings(options)),
            endpoint="" if base == BASE_URL else base,
        )

    @property
    def subject(self) -> Model:
        """Who answers."""
        return self._subject

    def describe(self) -> Abilities:
        """Conversations only: there are no raw completions, log-probabilities or vectors."""
        return Abilities(can=("chat", "images", "tools", "schema"), local=self._http.local, bounded=True)

    async def start(self) -> None:
        """Read the key and open the pool. Raises InputError for a key, a proxy or a bundle that cannot be used."""
        await self._http.start()

    async def close(self) -> None:
        """Close the pool. May be called twice."""
        await self._http.close()

    async def reply(self, request: Request) -> Reply:
        """Answer one request. Raises CallFailedError or CallBlockedError."""
        if not isinstance(request, Generate):
            kind = type(request).__name__
            raise refused_request(f"Anthropic has no {kind}: choose a protocol that asks by conversation (Generate)")
        http, begun = self._http, time.perf_counter()
        sent = encode(self._fields | message_body(request, self.options.thinking))
        first_token = None
        if self.options.stream:
            assembly = read.Assembly(http)
            await http.stream(self._url, sent, assembly)
            answer = assembly.message()
            if assembly.first_token is not None:
                first_token = assembly.first_token - begun
        else:
            answer, raw = await http.post(self._url, sent, read.MESSAGE)
            if answer.error or answer.content is None:
                raise http.unreadable(raw)
        parts, reasoning = read.parts_of(answer)
        return scrub(
            Reply(
                parts=parts,
                finish=read.finish_of(answer, parts, http),
                reasoning=reasoning,
                usage=read.usage_of(answer.usage),
                timings=Timings.since(begun, first_token),
                served_as=answer.model if isinstance(answer.model, str) else "",
            ),
        )


def _settings(options: AnthropicOptions) -> dict[str, Json]:
    """What may change replies and is no field of the subject; empty where nothing was set."""
    settings: dict[str, Json] = {}
    if options.extra:
        settings["extra"] = options.extra
    if options.betas:
        settings["betas"] = list(options.betas)
    if options.thinking != Thinking():
        settings["thinking"] = msgspec.to_builtins(options.thinking)
    return settings
