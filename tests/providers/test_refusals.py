"""What each wire format cannot be asked, and what was said going back as it came."""

from __future__ import annotations

import json

import pytest

from measurand.core.errors import CallFailedError
from measurand.core.message import Image, Message, Text, ToolCall, ToolResult, assistant, system, user
from measurand.core.request import Complete, Decode, Generate, Loglikelihood, Request
from tests.providers.asking import ask
from tests.providers.server import Answer, Server
from tests.providers.wires import ANTHROPIC, ASK, GOOGLE, OPENAI, WIRES, Wire

LIMIT = Decode(max_tokens=64)
REFUSED = [
    (ANTHROPIC, Generate((user("hi"),)), "max_tokens"),
    (ANTHROPIC, Generate((user("hi"),), decode=Decode(max_tokens=9, seed=1)), "seed"),
    (ANTHROPIC, Generate((user("hi"),), decode=Decode(max_tokens=9, top_logprobs=1)), "log-prob"),
    (ANTHROPIC, Generate((user("hi"),), decode=Decode(max_tokens=9000, effort="low")), "temperature"),
    (ANTHROPIC, Generate((user("hi"),), decode=Decode(None, max_tokens=9, effort="low")), "raise it"),
    (ANTHROPIC, Generate((user("hi"),), decode=Decode(None, max_tokens=9, effort="huge")), "low, medium, high"),
    (ANTHROPIC, Generate((user("hi"),), schema={}, decode=Decode(None, max_tokens=9, effort="5")), "schema"),
    (ANTHROPIC, Generate((user("hi"), system("x")), decode=LIMIT), "beginning"),
    (GOOGLE, Generate((user("hi"), system("x"))), "beginning"),
    (GOOGLE, Generate((Message("tool", (ToolResult("c9", "x"),)),)), "no call"),
    (GOOGLE, Complete("x"), "Complete"),
    (OPENAI, Generate((Message("assistant", (Image("image/png", "aGk="),)),)), "image"),
    (OPENAI, Generate((Message("tool", (Text("x"),)),)), "ToolResult"),
    (OPENAI, Complete("x", Decode(effort="low")), "effort"),
    (OPENAI, Loglikelihood("x", ("y",)), "echo_logprobs"),
]


@pytest.mark.parametrize(("spoken", "request_", "word"), REFUSED)
async def test_what_the_format_has_no_words_for_is_refused_unsent(spoken: Wire, request_: Request, word: str) -> None:
    async with Server(spoken.reply()) as server:
        provider = spoken.provider(server.url)
        await provider.start()
        with pytest.raises(CallFailedError, match=word) as caught:
            await provider.reply(request_)
        await provider.close()
    assert (caught.value.fatal, caught.value.where) == (True, "request")
    assert server.heard == []


@pytest.mark.parametrize("spoken", [ANTHROPIC, GOOGLE])
@pytest.mark.parametrize("arguments", ['{"a":', "[1]", "{" * 50_000])
async def test_broken_arguments_end_this_call_only(spoken: Wire, arguments: str) -> None:
    history = (user("hi"), Message("assistant", (ToolCall("c", "add", arguments),)))
    async with Server(spoken.reply()) as server:
        provider = spoken.provider(server.url)
        await provider.start()
        with pytest.raises(CallFailedError) as caught:
            await provider.reply(Generate(history, decode=LIMIT))
        await provider.close()
    assert not caught.value.fatal


async def test_what_was_said_goes_back_as_it_came() -> None:
    """A whole exchange with a tool, for each format: the server sees its own call again."""
    for spoken in WIRES:
        reason = "tool_use" if spoken is ANTHROPIC else ""
        body = spoken.body(None, reason or spoken.usual, tools=True)
        if spoken is GOOGLE:
            body["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "c2ln"
        async with Server(Answer(json.dumps(body).encode())) as server:
            provider = spoken.provider(server.url)
            await provider.start()
            first = await provider.reply(ASK)
            back = Message("tool", tuple(ToolResult(call.id, "2") for call in first.tool_calls))
            await provider.reply(Generate((*ASK.messages, Message("assistant", first.parts), back), decode=LIMIT))
            await provider.close()
        again = server.heard[1].json
        if spoken is GOOGLE:
            part = {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
            assert again["contents"][1]["parts"] == [part]
        elif spoken is ANTHROPIC:
            assert again["messages"][1]["content"] == body["content"]
        else:
            assert again["messages"][1]["tool_calls"] == body["choices"][0]["message"]["tool_calls"]


async def test_assistant_prefill_and_empty_texts() -> None:
    history = Generate((user(""), assistant("So")), decode=LIMIT)
    for spoken in WIRES:
        async with Server(spoken.reply()) as server:
            await ask(spoken.provider(server.url), history)
            body = server.heard[0].json
        assert "So" in json.dumps(body)
