"""Google's Gemini API: generateContent and batchEmbedContents."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

from measurand.core.call import Reply, Timings
from measurand.core.ports import Abilities
from measurand.core.record import Json, Record
from measurand.core.request import Embed, Generate, Request
from measurand.core.subject import Model
from measurand.providers import google_read as read
from measurand.providers.connecting import HttpOptions, checked_fields, varied
from measurand.providers.endings import refused_request
from measurand.providers.google_write import content_body, embedding_body
from measurand.providers.http import Transport, encode
from measurand.providers.secrets import scrub

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"

_OWN_FIELDS = frozenset({"contents", "systemInstruction", "tools"})


class GoogleOptions(Record, frozen=True):
    """Whom to ask and how. `extra` are further fields of the body, such as safetySettings.

    They may change replies, so they enter the subject's revision.
    """

    model: str
    base_url: str = BASE_URL
    key_env: str = ""
    revision: str = ""
    stream: bool = False
    extra: dict[str, Json] = {}
    http: HttpOptions = HttpOptions()


class Google:
    """A provider that speaks Google's Gemini API. Raises InputError for options that cannot be used."""

    def __init__(self, options: GoogleOptions) -> None:
        self.options = options
        self._http = Transport(
            options.base_url,
            options.http,
            key_env=options.key_env,
            key_header=("x-goog-api-key", ""),
        )
        self._extra = checked_fields(options.extra, _OWN_FIELDS)
        self._name = f"models/{options.model.removeprefix('models/')}"
        path = "/" + quote(self._name)
        whole, streamed = f"{path}:generateContent", f"{path}:streamGenerateContent"
        self._url = self._http.url(streamed, "alt=sse") if options.stream else self._http.url(whole)
        self._embeddings = self._http.url(f"{path}:batchEmbedContents")
        base = str(self._http.base).rstrip("/")
        self._subject = Model(
            provider="google",
            name=options.model,
            revision=varied(options.revision, options.extra),
            endpoint="" if base == BASE_URL else base,
        )

    @property
    def subject(self) -> Model:
        """Who answers."""
        return self._subject

    def describe(self) -> Abilities:
        """Conversations and vectors: there are no raw completions."""
        return Abilities(can=("chat", "images", "tools", "schema", "embed"), local=self._http.local, bounded=True)

    async def start(self) -> None:
        """Read the key and open the pool. Raises InputError for a key, a proxy or a bundle that cannot be used."""
        await self._http.start()

    async def close(self) -> None:
        """Close the pool. May be called twice."""
        await self._http.close()

    async def reply(self, request: Request) -> Reply:
        """Answer one request. Raises CallFailedError or CallBlockedError."""
        match request:
            case Generate():
                return await self._said(request)
            case Embed():
                return await self._embedded(request)
            case _:
                kind = type(request).__name__
                raise refused_request(f"Google has no {kind}: choose a protocol that asks by conversation (Generate)")

    async def _said(self, request: Generate) -> Reply:
        http, begun = self._http, time.perf_counter()
        sent = encode(content_body(request, self._extra))
        first_token = None
        if self.options.stream:
            assembly = read.Assembly(http)
            await http.stream(self._url, sent, assembly)
            answer, candidate = assembly.body, assembly.candidate()
            if assembly.first_token is not None:
                first_token = assembly.first_token - begun
        else:
            answer, raw = await http.post(self._url, sent, read.ANSWER)
            candidate = read.first_candidate(answer, raw, http)
        parts, reasoning = read.parts_of(candidate)
        return scrub(
            Reply(
                parts=parts,
                finish=read.finish_of(candidate, parts, http),
                reasoning=reasoning,
                logprobs=read.logprobs_of(candidate.logprobsResult),
                usage=read.usage_of(answer.usageMetadata),
                timings=Timings.since(begun, first_token),
                served_as=answer.modelVersion if isinstance(answer.modelVersion, str) else "",
            ),
        )

    async def _embedded(self, request: Embed) -> Reply:
        begun = time.perf_counter()
        body: dict[str, Any] = embedding_body(request, self._name)
        answer, raw = await self._http.post(self._embeddings, encode(body), read.EMBEDDINGS)
        if answer.embeddings is None:
            raise self._http.unreadable(raw)
        if len(answer.embeddings) != len(request.texts):
            why = f"gave {len(answer.embeddings)} vectors for {len(request.texts)} texts"
            raise self._http.broken(why, transient=False)
        return Reply(
            vectors=tuple(tuple(row.values) for row in answer.embeddings),
            timings=Timings.since(begun),
        )
