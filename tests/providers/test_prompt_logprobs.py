"""Log-probabilities of a prompt's tokens by their ids, in replies of the schema of vLLM's server."""

from __future__ import annotations

import json
import math
from string import ascii_lowercase
from typing import Any

import pytest

from measurand.core.call import Reply
from measurand.core.errors import CallFailedError
from measurand.core.request import Loglikelihood, Request, Rolling
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from measurand.wiring.opening import SubjectOptions, open_subject
from tests.providers.server import Answer, Server, as_json

Token = tuple[int, str, float]
"""The id of a token that stands in a prompt, its text, and its log-probability."""
BOS = (1, "<s>", 0.0)
OTHERS = ((900, " the", -2.0), (901, " a", -3.0))
"""The likeliest tokens, whichever stands there."""


def completion(*prompts: list[Token], top: int = 0, **more: Any) -> Answer:
    """A body of /v1/completions with `prompt_logprobs` and `return_token_ids`. Places list the prompt's token first."""
    choices = []
    for index, prompt in enumerate(prompts):
        listed: list[dict[str, Any] | None] = [None]
        for number, text, nats in prompt[1:]:
            entries = [(number, text, nats, 3), *((*one, rank) for rank, one in enumerate(OTHERS[:top], 1))]
            listed.append({str(i): {"logprob": v, "rank": r, "decoded_token": t} for i, t, v, r in entries})
        choices.append(
            {
                "index": index,
                "text": " x",
                "logprobs": None,
                "finish_reason": "length",
                "stop_reason": None,
                "token_ids": [7],
                "prompt_logprobs": listed,
                "prompt_token_ids": [number for number, _, _ in prompt],
            }
            | more
        )
    usage = {"prompt_tokens": sum(map(len, prompts)), "completion_tokens": len(prompts), "total_tokens": 0}
    return as_json(
        {
            "id": "cmpl-1",
            "object": "text_completion",
            "created": 1,
            "model": "m",
            "choices": choices,
            "service_tier": None,
            "system_fingerprint": None,
            "usage": usage,
            "kv_transfer_params": None,
        }
    )


async def ask(request: Request, *answers: Answer) -> tuple[Reply, list[Any]]:
    async with Server(*answers) as server:
        provider = OpenAICompatible(OpenAIOptions("m", base_url=server.url, prompt_logprobs=True))
        await provider.start()
        try:
            reply = await provider.reply(request)
        finally:
            await provider.close()
        return reply, [json.loads(heard.body) for heard in server.heard]


CONTEXT: list[Token] = [BOS, (10, "Answer", -5.0), (11, ":", -1.0)]
PARIS: list[Token] = [*CONTEXT, (12, " Paris", -0.5)]
BERN: list[Token] = [*CONTEXT, (13, " Bern", -2.0), (14, "!", -0.25)]
MEASURE = Loglikelihood("Answer:", (" Paris", " Bern!"))
TEXT = Rolling("Once upon a time", 16, 16)
ONCE: list[Token] = [BOS, (20, "Once", -1.0), (21, " upon", -2.0), (22, " a", -0.5), (23, " time", -0.25)]


async def test_options_by_the_ids_of_their_tokens() -> None:
    reply, (body,) = await ask(MEASURE, completion(CONTEXT, PARIS, BERN))
    assert reply.values == (-0.5, -2.25)
    assert reply.usage.input == 12
    assert body == {
        "model": "m",
        "prompt": ["Answer:", "Answer: Paris", "Answer: Bern!"],
        "temperature": 0.0,
        "prompt_logprobs": 0,
        "return_token_ids": True,
        "max_tokens": 1,
    }


async def test_where_several_are_listed_the_ids_say_which_one_stands_there() -> None:
    reply, _ = await ask(MEASURE, completion(CONTEXT, PARIS, BERN, top=2))
    assert reply.values == (-0.5, -2.25)


async def test_a_server_without_ids_is_read_where_one_token_is_listed_and_refused_where_several_are() -> None:
    old: dict[str, Any] = {"prompt_token_ids": None}
    reply, _ = await ask(MEASURE, completion(CONTEXT, PARIS, BERN, **old))
    assert reply.values == (-0.5, -2.25)
    with pytest.raises(CallFailedError, match="lists 3 tokens in one place and not which of them stands there"):
        await ask(MEASURE, completion(CONTEXT, PARIS, BERN, top=2, **old))


async def test_the_likeliest_tokens_without_the_one_that_stands_there_are_refused() -> None:
    swapped: dict[str, Any] = {"prompt_token_ids": [1, 10, 999]}
    with pytest.raises(CallFailedError, match="the 1 likeliest tokens in one place and not the one that stands there"):
        await ask(Loglikelihood("", ("Answer:",)), completion(CONTEXT, **swapped))


@pytest.mark.parametrize(
    ("request_", "answer", "says"),
    [
        (MEASURE, completion(CONTEXT, [BOS, (10, "Answer", -5.0), (15, ": Paris", -1.0)], BERN), "inside a token"),
        (MEASURE, completion(CONTEXT, CONTEXT, BERN), "or none of its own"),
        (MEASURE, completion(CONTEXT, PARIS), "2 prompts of 3"),
        (MEASURE, completion(CONTEXT, PARIS, BERN, prompt_logprobs=None), "set `prompt_logprobs` to false"),
        (MEASURE, completion(CONTEXT, PARIS, BERN, prompt_logprobs=[{"a": 1}]), "that are none"),
        (MEASURE, completion(CONTEXT, PARIS, BERN, prompt_token_ids=[1]), "1 token ids"),
        (Loglikelihood("", ("Hi!",)), completion([(30, "Hi", 0.0), (31, "!", -1.0)]), "without a context"),
    ],
)
async def test_what_cannot_be_divided_is_a_failure(request_: Request, answer: Answer, says: str) -> None:
    with pytest.raises(CallFailedError, match=says) as caught:
        await ask(request_, answer)
    assert not caught.value.transient


async def test_tokens_that_lose_their_blanks_alone_are_still_the_text() -> None:
    bare = [(number, text.strip(), nats) for number, text, nats in ONCE]
    reply, _ = await ask(Loglikelihood("", ("Once upon a time",)), completion(bare))
    assert reply.values == (-3.75,)


def probe(share: float) -> Answer:
    context: list[Token] = [BOS, (40, "The", -3.0)]
    letters = [[*context, (50 + at, f" {letter}", math.log(share))] for at, letter in enumerate(ascii_lowercase)]
    return completion(context, *letters)


async def test_a_whole_text_once_the_server_is_believed() -> None:
    reply, bodies = await ask(TEXT, probe(0.03), completion(ONCE, top=2))
    assert reply.values == (-3.75,)
    assert reply.counts == (4,)
    assert [body["prompt_logprobs"] for body in bodies] == [0, 5]
    with pytest.raises(CallFailedError, match=r"sum to 20\.80"):
        await ask(TEXT, probe(0.8))
    certain: list[Token] = [BOS, *((number, text, math.log(0.9)) for number, text, _ in ONCE[1:])]
    with pytest.raises(CallFailedError, match=r"sum to 1\.09 in the place of 'Once'"):
        await ask(TEXT, probe(0.03), completion(certain, top=2))
    with pytest.raises(CallFailedError, match="4 tokens and the protocol's window 3"):
        await ask(Rolling(TEXT.text, 3, 3), probe(0.03), completion(ONCE))


def test_vllm_is_asked_so() -> None:
    provider = open_subject("vllm:m", SubjectOptions())
    assert isinstance(provider, OpenAICompatible)
    assert provider.options.prompt_logprobs
    assert provider.describe().loglikelihood == "any"
    assert "rolling" in provider.describe().can
