"""What goes over the wire, to the letter, for each format; and what each format cannot be asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from measurand.core.errors import CallFailedError
from measurand.core.message import Image, Message, Text, Tool, ToolCall, ToolResult, system, user
from measurand.core.ports import Provider
from measurand.core.request import Complete, Decode, Embed, Generate, Loglikelihood, Request
from measurand.providers.anthropic import Anthropic, AnthropicOptions
from measurand.providers.anthropic_write import Thinking
from measurand.providers.google import Google, GoogleOptions
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from tests.providers.server import Answer, Server, as_events, as_json
from tests.providers.wires import ANTHROPIC, ASK, GOOGLE, OPENAI, PATIENT

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOL = Tool("add", "Adds.", SCHEMA)
RICH = Generate(
    (
        system("Be brief."),
        Message("user", (Text("What is this?"), Image("image/png", "aGk="))),
        Message("assistant", (Text("Let me see."), ToolCall("c1", "add", '{"a": 1}'), ToolCall("c2", "add", ""))),
        Message("tool", (ToolResult("c1", "2"), ToolResult("c2", "no", error=True))),
        user("And?"),
    ),
    tools=(TOOL,),
    decode=Decode(temperature=0.5, top_p=0.9, max_tokens=100, stop=("\n\n",)),
)


async def sent(provider: Provider, server: Server, request: Request) -> Any:
    await provider.start()
    try:
        await provider.reply(request)
    except CallFailedError:
        assert server.heard, "it was to be sent"
    finally:
        await provider.close()
    return server.heard[-1].json


def openai(url: str, **more: Any) -> OpenAICompatible:
    return OpenAICompatible(OpenAIOptions(model="m", base_url=url, http=PATIENT, **more))


async def test_openai_chat() -> None:
    async with Server(OPENAI.reply()) as server:
        body = await sent(openai(server.url + "/v1/"), server, RICH)
    assert (server.heard[0].method, server.heard[0].target) == ("POST", "/v1/chat/completions")
    assert server.heard[0].headers["content-type"] == "application/json"
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
                    {"id": "c2", "type": "function", "function": {"name": "add", "arguments": ""}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
            {"role": "tool", "tool_call_id": "c2", "content": "no"},
            {"role": "user", "content": "And?"},
        ],
        "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 100,
        "stop": ["\n\n"],
    }


async def test_openai_decoding_and_options() -> None:
    decode = Decode(temperature=None, max_tokens=9, seed=7, top_logprobs=5, effort="low")
    request = Generate((user("hi"),), schema=SCHEMA, decode=decode)
    options: dict[str, Any] = {
        "organisation": "org",
        "project": "proj",
        "stream": True,
        "output_limit": "max_completion_tokens",
        "extra": {"top_k": 3, "seed": 1},
    }
    async with Server(OPENAI.stream(["x"])) as server:
        body = await sent(openai(server.url, **options), server, request)
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "top_k": 3,
        "max_completion_tokens": 9,
        "seed": 7,
        "reasoning_effort": "low",
        "logprobs": True,
        "top_logprobs": 5,
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
        },
    }
    heard = server.heard[0].headers
    assert (heard["openai-organization"], heard["openai-project"]) == ("org", "proj")


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "object"}, False),
        (SCHEMA | {"required": []}, False),
        ({"type": "array", "items": SCHEMA}, True),
        (SCHEMA | {"properties": {"a": {"anyOf": [{"type": "object"}, {"type": "null"}]}}}, False),
    ],
)
async def test_openai_is_strict_only_with_closed_schemas(schema: dict[str, Any], strict: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    async with Server(OPENAI.reply()) as server:
        body = await sent(openai(server.url), server, Generate((user("hi"),), schema=schema))
    assert body["response_format"]["json_schema"]["strict"] is strict


async def test_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "azure-key-1234")
    options: dict[str, Any] = {"preset": "azure", "deployment": "d1", "api_version": "2024-10-21", "key_env": "MY_KEY"}
    async with Server(OPENAI.reply()) as server:
        provider = openai(server.url, **options)
        await sent(provider, server, ASK)
    assert server.heard[0].target == "/openai/deployments/d1/chat/completions?api-version=2024-10-21"
    assert server.heard[0].headers["api-key"] == "azure-key-1234"
    assert "authorization" not in server.heard[0].headers
    assert provider.subject.endpoint.endswith("/openai/deployments/d1")


async def test_openai_completions_and_embeddings() -> None:
    async with Server(OPENAI.reply()) as server:
        decode = Decode(max_tokens=3, top_logprobs=2, stop=("a", "b"))
        body = await sent(openai(server.url), server, Complete("Once", decode))
        assert body == {
            "model": "m",
            "prompt": "Once",
            "temperature": 0.0,
            "max_tokens": 3,
            "logprobs": 2,
            "stop": ["a", "b"],
        }
        body = await sent(openai(server.url), server, Embed(("a", "b")))
        assert body == {"model": "m", "input": ["a", "b"], "encoding_format": "float"}
        body = await sent(openai(server.url, echo_logprobs=True), server, Loglikelihood("C:", (" a", " b")))
        assert body == {
            "model": "m",
            "prompt": ["C:", "C: a", "C: b"],
            "max_tokens": 0,
            "echo": True,
            "logprobs": 1,
            "temperature": 0.0,
        }
        body = await sent(openai(server.url, top_logprobs=20), server, Loglikelihood("C:", (" a", " b")))
        assert body == {"model": "m", "prompt": "C:", "max_tokens": 1, "logprobs": 20, "temperature": 0.0}
    assert [heard.target for heard in server.heard] == ["/completions", "/embeddings", "/completions", "/completions"]


async def test_anthropic() -> None:
    async with Server(ANTHROPIC.reply()) as server:
        options = AnthropicOptions(model="m", base_url=server.url, betas=("b1", "b2"), http=PATIENT)
        body = await sent(Anthropic(options), server, RICH)
    heard = server.heard[0]
    assert heard.target == "/v1/messages"
    assert (heard.headers["anthropic-version"], heard.headers["anthropic-beta"]) == ("2023-06-01", "b1,b2")
    assert body == {
        "model": "m",
        "system": "Be brief.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "add", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "2"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
        "tools": [{"name": "add", "description": "Adds.", "input_schema": SCHEMA}],
        "max_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop_sequences": ["\n\n"],
    }


@pytest.mark.parametrize(
    ("effort", "adaptive", "fields"),
    [
        ("low", False, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("5000", False, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        ("max", True, {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}),
    ],
)
async def test_anthropic_thinking(effort: str, adaptive: bool, fields: dict[str, Any]) -> None:  # noqa: FBT001 (a parameter of the test)
    decode = Decode(temperature=None, max_tokens=30_000, effort=effort)
    async with Server(ANTHROPIC.reply()) as server:
        options = AnthropicOptions(model="m", base_url=server.url, thinking=Thinking(adaptive=adaptive), http=PATIENT)
        body = await sent(Anthropic(options), server, Generate((user("hi"),), decode=decode))
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "max_tokens": 30_000,
        **fields,
    }


@pytest.mark.parametrize("stream", [False, True])
async def test_anthropic_schema_is_a_forced_tool(stream: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    called = {"type": "tool_use", "id": "c", "name": "measurand_reply", "input": {}}
    whole = ANTHROPIC.body(None, "tool_use") | {
        "content": [{"type": "text", "text": "Sure:"}, called | {"input": {"a": 1}}]
    }
    events = [
        {"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 11}}},
        {"type": "content_block_start", "index": 0, "content_block": called},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    ]
    async with Server(as_events(*events) if stream else as_json(whole)) as server:
        provider = ANTHROPIC.provider(server.url, stream=stream)
        await provider.start()
        reply = await provider.reply(Generate((user("hi"),), schema=SCHEMA, decode=Decode(max_tokens=9)))
        await provider.reply(Generate((user("hi"),), tools=(TOOL,), schema=SCHEMA, decode=Decode(max_tokens=9)))
        await provider.close()
    body, both = server.heard[0].json, server.heard[1].json
    assert body["tool_choice"] == {"type": "tool", "name": "measurand_reply"}
    assert body["tools"][0]["input_schema"] == SCHEMA
    assert both["tool_choice"] == {"type": "any"}
    assert [tool["name"] for tool in both["tools"]] == ["add", "measurand_reply"]
    assert reply.parts == (Text('{"a": 1}'),)
    assert reply.finish == "stop"


async def test_google() -> None:
    async with Server(GOOGLE.reply()) as server:
        extra = {"safetySettings": [], "generationConfig": {"topK": 3, "topP": 0.1}}
        options = GoogleOptions(model="gem/ini", base_url=server.url + "/v1beta", extra=extra, http=PATIENT)
        body = await sent(Google(options), server, RICH)
    assert server.heard[0].target == "/v1beta/models/gem/ini:generateContent"
    assert body == {
        "safetySettings": [],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "Let me see."},
                    {"functionCall": {"name": "add", "args": {"a": 1}}},
                    {"functionCall": {"name": "add", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "add", "response": {"result": "2"}}},
                    {"functionResponse": {"name": "add", "response": {"error": "no"}}},
                    {"text": "And?"},
                ],
            },
        ],
        "tools": [
            {"functionDeclarations": [{"name": "add", "description": "Adds.", "parametersJsonSchema": SCHEMA}]},
        ],
        "generationConfig": {
            "topK": 3,
            "temperature": 0.5,
            "topP": 0.9,
            "maxOutputTokens": 100,
            "stopSequences": ["\n\n"],
        },
    }


async def test_google_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEASURAND_API_KEY", "a-google-key-1")
    async with Server(GOOGLE.stream(["x"])) as server:
        decode = Decode(temperature=None, seed=3, top_logprobs=2, effort="high")
        provider = GOOGLE.provider(server.url, stream=True)
        body = await sent(provider, server, Generate((user("hi"),), schema=SCHEMA, decode=decode))
        assert body["generationConfig"] == {
            "seed": 3,
            "responseLogprobs": True,
            "logprobs": 2,
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"},
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        }
        body = await sent(provider, server, Generate((user("hi"),), decode=Decode(effort="512")))
        assert body["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 512
        body = await sent(provider, server, Generate((user("hi"),), decode=Decode(temperature=None)))
        assert "generationConfig" not in body
    assert server.heard[0].target == "/models/m:streamGenerateContent?alt=sse"
    assert all("a-google-key-1" not in heard.target for heard in server.heard)
    assert server.heard[0].headers["x-goog-api-key"] == "a-google-key-1"


async def test_google_embeddings() -> None:
    answer = Answer(json.dumps({"embeddings": [{"values": [1, 0.5]}, {"values": [0, 2]}]}).encode())
    async with Server(answer) as server:
        provider = GOOGLE.provider(server.url)
        await provider.start()
        reply = await provider.reply(Embed(("a", "b")))
        with pytest.raises(CallFailedError, match="2 vectors for 1"):
            await provider.reply(Embed(("a",)))
        await provider.close()
    assert reply.vectors == ((1.0, 0.5), (0.0, 2.0))
    assert server.heard[0].target == "/models/m:batchEmbedContents"
    assert server.heard[0].json["requests"][1] == {"model": "models/m", "content": {"parts": [{"text": "b"}]}}
