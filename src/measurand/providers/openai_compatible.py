"""OpenAI, Azure, and every server that speaks like OpenAI: vLLM, Ollama, LM Studio, llama.cpp, gateways."""

from __future__ import annotations

import time
from typing import Any, Literal

from measurand.core.benchmark import Ability
from measurand.core.call import Reply, Timings
from measurand.core.errors import InputError
from measurand.core.ports import Abilities
from measurand.core.record import Json, Record
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling
from measurand.core.subject import Model
from measurand.providers import openai_prompt
from measurand.providers import openai_read as read
from measurand.providers import openai_write as write
from measurand.providers.connecting import HttpOptions, checked_fields, varied
from measurand.providers.endings import refused_request
from measurand.providers.http import Transport, encode
from measurand.providers.openai_likelihood import (
    ECHOED_TOP,
    PROBE,
    UNVERIFIABLE,
    check_sum,
    continuation_nats,
    next_token_nats,
    text_nats,
)
from measurand.providers.openai_stream import Assembly
from measurand.providers.secrets import header_value, redact, scrub

PRESETS: dict[str, str] = {
    "openai": "https://api.openai.com/v1",
    "azure": "",
    "vllm": "http://127.0.0.1:8000/v1",
    "sglang": "http://127.0.0.1:30000/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "cerebras": "https://api.cerebras.ai/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "groq": "https://api.groq.com/openai/v1",
    "huggingface": "https://router.huggingface.co/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "xai": "https://api.x.ai/v1",
}
"""Base URLs by name. Any other server is given by its `base_url`."""

_OWN_FIELDS = frozenset({"messages", "prompt", "input", "stream", "model", "tools", "n", "echo", "prompt_logprobs"})


class OpenAIOptions(Record, frozen=True):
    """Whom to ask and how.

    `preset` names a base URL and `base_url` replaces it. `key_env` names the variable that holds the key where
    it is not the host's own. `extra` are further fields of the body; since they may change replies they enter
    the subject's revision. `echo_logprobs` says that the server echoes prompts with log-probabilities,
    `prompt_logprobs` that it gives those of a prompt's tokens by their ids (vLLM), `top_logprobs` that it gives that
    many of the likeliest next tokens.
    """

    model: str
    preset: str = "openai"
    base_url: str = ""
    key_env: str = ""
    revision: str = ""
    organisation: str = ""
    project: str = ""
    deployment: str = ""
    api_version: str = ""
    stream: bool = False
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    echo_logprobs: bool = False
    prompt_logprobs: bool = False
    top_logprobs: int = 0
    extra: dict[str, Json] = {}
    http: HttpOptions = HttpOptions()


class OpenAICompatible:
    """A provider that speaks OpenAI's chat completions. Raises InputError for options that cannot be used."""

    def __init__(self, options: OpenAIOptions) -> None:
        self.options = options
        base = options.base_url or _preset(options.preset)
        self._http = Transport(
            base,
            options.http,
            key_env=options.key_env,
            key_header=("api-key", "") if options.preset == "azure" else ("Authorization", "Bearer "),
            headers=_headers(options),
        )
        path = f"/openai/deployments/{options.deployment}" if options.deployment else ""
        query = f"api-version={options.api_version}" if options.api_version else ""
        self._chat = self._http.url(f"{path}/chat/completions", query)
        self._completions = self._http.url(f"{path}/completions", query)
        self._embeddings = self._http.url(f"{path}/embeddings", query)
        self._is_believed = False
        self._fields: dict[str, Any] = {"model": options.model, **checked_fields(options.extra, _OWN_FIELDS)}
        self._stream_fields = {"stream": True, "stream_options": {"include_usage": True}} if options.stream else {}
        address = str(self._http.base).rstrip("/") + path
        self._subject = Model(
            provider="openai",
            name=options.model,
            revision=varied(options.revision, options.extra),
            endpoint="" if address == PRESETS["openai"] else address,
        )

    @property
    def subject(self) -> Model:
        """Who answers."""
        return self._subject

    @property
    def _reads_prompts(self) -> bool:
        """Whether the server gives the log-probabilities of a prompt's own tokens."""
        return self.options.echo_logprobs or self.options.prompt_logprobs

    def describe(self) -> Abilities:
        """What the options say that the server can do."""
        measured: Literal["none", "next_token", "any"] = "none"
        if self.options.top_logprobs:
            measured = "next_token"
        if self._reads_prompts:
            measured = "any"
        scored: tuple[Ability, ...] = () if measured == "none" else ("loglikelihood",)
        if self._reads_prompts:
            scored = (*scored, "rolling")
        can: tuple[Ability, ...] = ("chat", "complete", "images", "tools", "schema", "embed", *scored)
        said = dict.fromkeys(scored, UNVERIFIABLE)
        return Abilities(can=can, loglikelihood=measured, local=self._http.local, bounded=True, conditions=said)

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
                return await self._said(self._chat, write.chat(request, self.options.output_limit))
            case Complete():
                return await self._said(self._completions, write.completion(request))
            case Loglikelihood():
                return await self._measured(request)
            case Rolling():
                return await self._read(request)
            case Embed():
                return await self._embedded(request)

    async def _said(self, url: Any, body: dict[str, Any]) -> Reply:
        """Generate or complete, whole or streamed."""
        http, begun = self._http, time.perf_counter()
        sent = encode(self._fields | body | self._stream_fields)
        first_token = None
        if self.options.stream:
            assembly = Assembly(http)
            await http.stream(url, sent, assembly)
            answer, choice, logprobs = assembly.body, assembly.choice(), assembly.logprobs
            if assembly.first_token is not None:
                first_token = assembly.first_token - begun
        else:
            answer, raw = await http.post(url, sent, read.COMPLETION)
            choice = read.first_choice(answer, raw, http)
            logprobs = read.logprobs_of(choice.logprobs)
        parts, reasoning, refused = read.message_of(choice)
        return scrub(
            Reply(
                parts=parts,
                finish=read.finish_of(choice, parts, http, refused=refused),
                reasoning=reasoning,
                logprobs=logprobs,
                usage=read.usage_of(answer.usage),
                timings=Timings.since(begun, first_token),
                served_as=answer.model if isinstance(answer.model, str) else "",
            ),
        )

    async def _measured(self, request: Loglikelihood) -> Reply:
        """Log-likelihoods, by echo or from the likeliest next tokens."""
        begun = time.perf_counter()
        top = self.options.top_logprobs
        if self.options.prompt_logprobs:
            body, measure = write.of_prompt(request.context, request.continuations), openai_prompt.continuation_nats
        elif self.options.echo_logprobs:
            body, measure = write.echo(request.context, request.continuations), continuation_nats
        elif top:
            body, measure = write.next_token(request.context, top), next_token_nats
        else:
            raise refused_request(
                f"{self.options.model} gives no log-likelihoods here: ask by generation, or set `echo_logprobs`, "
                "`prompt_logprobs` or `top_logprobs` where the server can",
            )
        answer, raw = await self._http.post(self._completions, encode(self._fields | body), read.COMPLETION)
        read.first_choice(answer, raw, self._http)
        return Reply(
            values=measure(request, answer.choices or [], self._http),
            usage=read.usage_of(answer.usage),
            timings=Timings.since(begun),
            served_as=redact(answer.model) if isinstance(answer.model, str) else "",
        )

    async def _read(self, request: Rolling) -> Reply:
        """The log-probability of a whole text, once the server's probabilities are seen to be ones."""
        if not self._reads_prompts:
            raise refused_request(
                f"{self.options.model} gives no log-probability of a text: set `echo_logprobs` or `prompt_logprobs` "
                "where the server can",
            )
        begun = time.perf_counter()
        if not self._is_believed:
            check_sum(await self._measured(PROBE), self._http)
            self._is_believed = True
        by_ids = self.options.prompt_logprobs
        body = (write.of_prompt if by_ids else write.echo)("", (request.text,), ECHOED_TOP)
        answer, raw = await self._http.post(self._completions, encode(self._fields | body), read.COMPLETION)
        summed = openai_prompt.text_nats if by_ids else text_nats
        nats, count = summed(request, read.first_choice(answer, raw, self._http), self._http)
        return Reply(
            values=(nats,),
            counts=(count,),
            usage=read.usage_of(answer.usage),
            timings=Timings.since(begun),
            served_as=redact(answer.model) if isinstance(answer.model, str) else "",
        )

    async def _embedded(self, request: Embed) -> Reply:
        begun = time.perf_counter()
        body = {"input": request.texts, "encoding_format": "float"}
        answer, raw = await self._http.post(self._embeddings, encode(self._fields | body), read.EMBEDDING)
        if answer.data is None:
            raise self._http.unreadable(raw)
        rows = sorted(answer.data, key=lambda row: row.index or 0)
        if len(rows) != len(request.texts):
            raise self._http.broken(f"gave {len(rows)} vectors for {len(request.texts)} texts", transient=False)
        return Reply(
            vectors=tuple(tuple(row.embedding) for row in rows),
            usage=read.usage_of(answer.usage),
            timings=Timings.since(begun),
            served_as=redact(answer.model) if isinstance(answer.model, str) else "",
        )


def _preset(name: str) -> str:
    base = PRESETS.get(name)
    if base is None:
        raise InputError(f"there is no preset {name}: use one of {', '.join(PRESETS)}, or give base_url.")
    if not base:
        raise InputError(f"the preset {name} has no address of its own: give base_url.")
    return base


def _headers(options: OpenAIOptions) -> dict[str, str]:
    named = {"OpenAI-Organization": options.organisation, "OpenAI-Project": options.project}
    return {name: header_value(name, value) for name, value in named.items() if value}
