"""Whole texts by a server that echoes: believed only as far as its probabilities can be ones."""

from __future__ import annotations

import json
import math
from string import ascii_lowercase
from typing import Any

import pytest

from measurand.core.call import Reply
from measurand.core.errors import CallFailedError
from measurand.core.request import Rolling
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from tests.providers.server import Answer, Server, as_json

TEXT = Rolling("Once upon a time", 16, 16)
Token = tuple[str, float | None, dict[str, float]]


def echoed(*prompts: list[Token]) -> Answer:
    choices = [
        {
            "index": index,
            "logprobs": {
                "tokens": [token for token, _, _ in prompt],
                "token_logprobs": [nats for _, nats, _ in prompt],
                "top_logprobs": [top for _, _, top in prompt],
            },
        }
        for index, prompt in enumerate(prompts)
    ]
    return as_json({"choices": choices})


def probe(share: float) -> Answer:
    """What a server says of one context and twenty-six letters that might follow it, each with one share."""
    context: list[Token] = [("<s>", None, {}), ("The", -3.0, {})]
    return echoed(context, *([*context, (f" {letter}", math.log(share), {})] for letter in ascii_lowercase))


def text(*nats: float, first: bool = True, top: float = -9.0) -> Answer:
    tokens = ["Once", " upon", " a", " time"]
    head: list[Token] = [("<s>", None, {})] if first else []
    return echoed(head + [(token, value, {"the": top}) for token, value in zip(tokens, nats, strict=True)])


async def read(*answers: Answer, request: Rolling = TEXT, **options: Any) -> tuple[Reply, list[Any]]:
    async with Server(*answers) as server:
        provider = OpenAICompatible(OpenAIOptions("m", base_url=server.url, **({"echo_logprobs": True} | options)))
        await provider.start()
        try:
            replies = [await provider.reply(request) for _ in range(2)]
        finally:
            await provider.close()
        assert replies[0].values == replies[1].values
        return replies[0], [json.loads(heard.body) for heard in server.heard]


async def test_the_sum_over_the_text_once_the_server_is_believed() -> None:
    reply, heard = await read(probe(0.03), text(-1.0, -2.0, -0.5, -0.25))
    assert reply.values == (-3.75,)
    assert reply.counts == (4,)
    assert [len(body["prompt"]) for body in heard] == [27, 1, 1]  # it is asked once whether it can be believed
    assert heard[1]["prompt"] == [TEXT.text]
    assert heard[1]["echo"] is True
    assert heard[1]["logprobs"] == 5


async def test_eight_tenths_for_every_token_are_no_probabilities() -> None:
    with pytest.raises(CallFailedError, match=r"sum to 20\.80") as caught:
        await read(probe(0.8), text(*(math.log(0.8),) * 4))
    assert caught.value.fatal


async def test_alternatives_that_exceed_one_together_are_none_either() -> None:
    with pytest.raises(CallFailedError, match=r"sum to 1\.60"):
        await read(probe(0.03), text(*(math.log(0.8),) * 4, top=math.log(0.8)))


async def test_a_first_token_without_probability_is_refused() -> None:
    answer = echoed([("Once upon", None, {}), (" a time", -1.0, {})])
    with pytest.raises(CallFailedError, match="without a context"):
        await read(probe(0.03), answer)


async def test_a_text_beyond_the_window_is_refused() -> None:
    with pytest.raises(CallFailedError, match="4 tokens and the protocol's window 3"):
        await read(probe(0.03), text(-1.0, -2.0, -0.5, -0.25), request=Rolling(TEXT.text, 3, 3))


async def test_a_server_that_does_not_echo_is_refused() -> None:
    with pytest.raises(CallFailedError, match="echo_logprobs"):
        await read(probe(0.03), echo_logprobs=False)


def test_what_nobody_can_verify_is_said() -> None:
    provider = OpenAICompatible(OpenAIOptions("m", base_url="http://127.0.0.1:9", echo_logprobs=True))
    abilities = provider.describe()
    assert "rolling" in abilities.can
    assert "nobody can verify" in abilities.conditions["rolling"]
    assert "rolling" not in OpenAICompatible(OpenAIOptions("m", base_url="http://127.0.0.1:9")).describe().can
