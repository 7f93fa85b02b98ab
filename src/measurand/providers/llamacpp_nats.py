"""Log-likelihoods of one-token continuations, from a llama.cpp server's own endpoints."""

from __future__ import annotations

import time

import msgspec

from measurand.core.call import Reply, Timings, Usage
from measurand.core.errors import CallFailedError
from measurand.core.request import Loglikelihood
from measurand.providers.connecting import HttpOptions
from measurand.providers.http import Transport, encode

_WIDTHS = (2048, 1 << 20)
"""How many of the likeliest tokens are asked for: many at once, since it is the prompt that costs; then all."""

_FLOOR = -103.28
"""Nats. A softmax in float32 is 0 below this, and its logarithm unknown; the smallest it can hold is exp(-103.28)."""


class _Tokens(msgspec.Struct):
    tokens: list[int]


class _Token(msgspec.Struct):
    id: int
    logprob: float | None = None
    top_logprobs: list[_Token] = []


class _Completion(msgspec.Struct):
    completion_probabilities: list[_Token]
    tokens_evaluated: int


_TOKENS = msgspec.json.Decoder(_Tokens)
_COMPLETION = msgspec.json.Decoder(_Completion)


class NextToken:
    """Measures continuations that are exactly one token, by the server's own tokeniser."""

    def __init__(self, address: str, http: HttpOptions, *, cache_prompt: bool) -> None:
        self._http = Transport(address, http)
        self._cache_prompt = cache_prompt

    async def start(self) -> None:
        """Open the connection."""
        await self._http.start()

    async def close(self) -> None:
        """Close the connection. May be called twice."""
        await self._http.close()

    async def reply(self, request: Loglikelihood) -> Reply:
        """One number for each continuation. Raises CallFailedError where one is not a single token."""
        begun = time.perf_counter()
        context = await self._tokens(request.context)
        if not context:
            raise _unmeasured("without a context there is no next token to measure")
        wanted = [await self._continuation(request.context, context, text) for text in request.continuations]
        measured: dict[int, float] = {}
        evaluated = 0
        for width in _WIDTHS:
            if wanted and not measured.keys() >= set(wanted):
                measured, evaluated = await self._likeliest(context, width)
        missing = [text for text, token in zip(request.continuations, wanted, strict=True) if token not in measured]
        if missing:
            raise CallFailedError(f"llama.cpp gave no log-probability of {missing[0][:40]!r}", where="reply")
        return Reply(
            values=tuple(measured[token] for token in wanted),
            usage=Usage(input=evaluated, output=0),
            timings=Timings.since(begun),
        )

    async def _continuation(self, text: str, context: list[int], continuation: str) -> int:
        """The one token that the continuation adds."""
        whole = await self._tokens(text + continuation)
        added = len(whole) - len(context)
        shown = repr(continuation[:40])
        if whole[: len(context)] != context:
            raise _unmeasured(f"the join before {shown} falls inside a token")
        if added != 1:
            raise _unmeasured(f"{shown} is {added} tokens here, and only single ones can be measured")
        return whole[-1]

    async def _tokens(self, text: str) -> list[int]:
        body = encode({"content": text, "add_special": True, "parse_special": True})
        answer, _ = await self._http.post(self._http.url("/tokenize"), body, _TOKENS)
        return answer.tokens

    async def _likeliest(self, context: list[int], width: int) -> tuple[dict[int, float], int]:
        """The log-probabilities of the likeliest next tokens, and how many tokens the context has."""
        body = {
            "prompt": context,
            "n_predict": 1,
            "n_probs": width,
            "temperature": 0.0,
            "post_sampling_probs": False,
            "cache_prompt": self._cache_prompt,
        }
        answer, _ = await self._http.post(self._http.url("/completion"), encode(body), _COMPLETION)
        if not answer.completion_probabilities:
            raise CallFailedError("llama.cpp gave no log-probabilities of the next token", where="reply")
        top = answer.completion_probabilities[0].top_logprobs
        return {
            token.id: max(_FLOOR if token.logprob is None else token.logprob, _FLOOR) for token in top
        }, answer.tokens_evaluated


def _unmeasured(why: str) -> CallFailedError:
    mend = "choose a protocol that asks by chat or completion, or whose options are single letters"
    return CallFailedError(f"{why}: {mend}", where="seam")
