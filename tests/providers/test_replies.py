"""Replies as the many imitators of OpenAI, Anthropic and Google write them."""

from __future__ import annotations

from typing import Any

import pytest

from measurand.core.call import Reply, TokenLogprob, Usage
from measurand.core.errors import CallBlockedError, CallFailedError
from measurand.core.message import Text, ToolCall
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from tests.providers.server import Answer, Server, as_events, as_json
from tests.providers.wires import ANTHROPIC, ASK, GOOGLE, OPENAI, PATIENT, Wire


async def read(answer: Answer, request: Request = ASK, wire: Wire = OPENAI, **more: Any) -> Reply:
    async with Server(answer) as server:
        if wire is OPENAI:
            provider: Any = OpenAICompatible(OpenAIOptions(model="m", base_url=server.url, http=PATIENT, **more))
        else:
            provider = wire.provider(server.url, **more)
        await provider.start()
        try:
            reply: Reply = await provider.reply(request)
            return reply
        finally:
            await provider.close()


def said(message: dict[str, Any], finish: str | None = "stop", **choice: Any) -> Answer:
    return as_json({"choices": [{"message": message, "finish_reason": finish, **choice}]})


async def test_content_as_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "4"},
        "2",
        {"type": "audio"},
        17,
    ]
    reply = await read(said({"content": parts}))
    assert (reply.text, reply.reasoning) == ("42", "hm")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_fields(field: str) -> None:
    reply = await read(said({"content": "42", field: "hm"}))
    assert (reply.text, reply.reasoning) == ("42", "hm")
    reply = await read(said({"content": "42", field: {"effort": "low"}}))
    assert (reply.text, reply.reasoning) == ("42", "")


async def test_refusal_field() -> None:
    reply = await read(said({"content": None, "refusal": "I can't."}))
    assert (reply.text, reply.finish) == ("I can't.", "refusal")
    chunks = [{"choices": [{"delta": {"refusal": piece}}]} for piece in ("I ", "can't.")]
    stop = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    reply = await read(as_events(*chunks, stop, "[DONE]"), stream=True)
    assert (reply.text, reply.finish) == ("I can't.", "refusal")


async def test_null_content_that_stopped_is_an_empty_reply() -> None:
    reply = await read(said({"content": None}))
    assert (reply.parts, reply.finish) == ((), "stop")


@pytest.mark.parametrize("finish", ["stop", "tool_calls", None])
async def test_tool_calls_without_id_or_text(finish: str | None) -> None:
    calls = [{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "g", "arguments": {"a": 1}}}]
    reply = await read(said({"content": None, "tool_calls": calls}, finish))
    assert reply.parts == (ToolCall("call_0", "f", "{}"), ToolCall("call_1", "g", '{"a":1}'))
    assert (reply.finish, reply.text) == ("tool_calls", "")


async def test_arguments_are_kept_as_written() -> None:
    broken = '{"a": 1,, \\u00e9'
    reply = await read(said({"tool_calls": [{"id": "x", "function": {"name": "f", "arguments": broken}}]}))
    assert reply.tool_calls[0].arguments == broken


async def test_old_function_call() -> None:
    reply = await read(said({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"))
    assert reply.parts == (ToolCall("call_0", "f", "{}"),)
    deltas = [{"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": "{}"}}]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    end = {"choices": [{"delta": {}, "finish_reason": "function_call"}]}
    assert (await read(as_events(*chunks, end, "[DONE]"), stream=True)).parts == reply.parts


async def test_interleaved_tool_calls_of_a_stream() -> None:
    def piece(index: int | None, arguments: str, called: str | None = None, name: str | None = None) -> dict[str, Any]:
        call = {"index": index, "id": called, "function": {"name": name, "arguments": arguments}}
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    chunks = [
        piece(0, "", "a", "f"),
        piece(1, "", "b", "g"),
        piece(1, "[2"),
        piece(0, "[1"),
        piece(1, "]"),
        piece(0, "]"),
    ]
    reply = await read(as_events(*chunks, end, "[DONE]"), stream=True)
    assert reply.parts == (ToolCall("a", "f", "[1]"), ToolCall("b", "g", "[2]"))
    chunks = [piece(None, "[1", "a", "f"), piece(None, "]"), piece(None, "[2]", "b", "g")]
    reply = await read(as_events(*chunks, end, "[DONE]"), stream=True)
    assert reply.parts == (ToolCall("a", "f", "[1]"), ToolCall("b", "g", "[2]"))


@pytest.mark.parametrize("separator", ["\n", "\n\n", "\r\n\r\n", "\n: ping\n\n"])
async def test_streams_of_all_spellings(separator: str) -> None:
    lines = [
        'data: {"choices":[],"prompt_filter_results":[]}',
        'data:{"choices":[{"delta":{"content":"B"},"finish_reason":"stop"}]}',
        'data: {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}',
        "data: [DONE]",
    ]
    for ending in ("", separator):
        body = (separator.join(lines) + ending).encode()
        for headers in ({"Content-Type": "text/event-stream"}, {}):
            reply = await read(Answer(body, 200, headers), stream=True)
            assert (reply.text, reply.finish, reply.usage) == ("B", "stop", Usage(3, 1))


async def test_error_in_the_middle_of_a_stream() -> None:
    start = {"choices": [{"delta": {"content": "4"}}]}
    with pytest.raises(CallFailedError) as caught:
        await read(as_events(start, {"error": {"message": "Rate limit reached", "code": 429}}), stream=True)
    assert (caught.value.transient, caught.value.limited) == (True, True)


@pytest.mark.parametrize("reason", ["error", "abort", "insufficient_system_resource"])
async def test_finish_reasons_that_say_the_endpoint_broke(reason: str) -> None:
    with pytest.raises(CallFailedError) as caught:
        await read(said({"content": "half of an"}, reason))
    assert caught.value.transient


async def test_error_inside_a_choice() -> None:
    with pytest.raises(CallFailedError, match="upstream died"):
        await read(said({"content": ""}, "error", error={"code": 502, "message": "upstream died"}))


async def test_filters_of_gateways() -> None:
    for status, error in (
        (400, {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}, "message": "m"}),
        (400, {"code": "invalid_prompt", "message": "Your prompt was flagged as violating the policy."}),
        (403, {"code": 403, "message": "Input was flagged by moderation."}),
    ):
        with pytest.raises(CallBlockedError):
            await read(as_json({"error": error}, status))


async def test_usage_details() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    body = OPENAI.body("42", "stop") | {"usage": usage}
    assert (await read(as_json(body))).usage == Usage(10, 9, 8, 7)
    body = ANTHROPIC.body("42", "end_turn")
    body["usage"] = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 4,
        "output_tokens": 9,
    }
    assert (await read(as_json(body), wire=ANTHROPIC)).usage == Usage(7, 9, 4)
    body = GOOGLE.body("42", "STOP")
    body["usageMetadata"] = {
        "promptTokenCount": 10,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 7,
        "cachedContentTokenCount": 8,
    }
    assert (await read(as_json(body), wire=GOOGLE)).usage == Usage(10, 9, 8, 7)


LOGPROBS = {
    "content": [
        {
            "token": "4",
            "logprob": -0.1,
            "bytes": [52],
            "top_logprobs": [
                {"token": "4", "logprob": -0.1},
                {"token": "\ufffd", "logprob": -3},
                {"token": "\ufffd", "logprob": -4},
            ],
        },
        {"token": "2", "logprob": None, "top_logprobs": []},
    ],
}


async def test_chat_logprobs() -> None:
    expected = (TokenLogprob("4", -0.1, {"4": -0.1, "\ufffd": -3.0}), TokenLogprob("2", -9999.0))
    assert (await read(said({"content": "42"}, logprobs=LOGPROBS))).logprobs == expected
    chunks = [
        {"choices": [{"delta": {"content": text}, "logprobs": {"content": [entry]}}]}
        for text, entry in zip("42", LOGPROBS["content"], strict=True)
    ]
    end: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": "stop", "logprobs": None}]}
    assert (await read(as_events(*chunks, end, "[DONE]"), stream=True)).logprobs == expected


async def test_google_logprobs() -> None:
    body = GOOGLE.body("4", "STOP")
    body["candidates"][0]["logprobsResult"] = {
        "chosenCandidates": [{"token": "4", "logProbability": -0.1}],
        "topCandidates": [
            {"candidates": [{"token": "4", "logProbability": -0.1}, {"token": "5", "logProbability": -3}]}
        ],
    }
    expected = (TokenLogprob("4", -0.1, {"4": -0.1, "5": -3.0}),)
    assert (await read(as_json(body), wire=GOOGLE)).logprobs == expected
    assert (await read(as_events(body), wire=GOOGLE, stream=True)).logprobs == expected


async def test_completions() -> None:
    logprobs = {"tokens": [" a", " b"], "token_logprobs": [-1, None], "top_logprobs": [{" a": -1, " c": -2}, None]}
    choice = {"text": " a b", "finish_reason": "length", "logprobs": logprobs}
    expected = (TokenLogprob(" a", -1.0, {" a": -1.0, " c": -2.0}), TokenLogprob(" b", -9999.0))
    reply = await read(as_json({"choices": [choice], "model": "m"}), Complete("x"))
    assert (reply.text, reply.finish, reply.logprobs) == (" a b", "length", expected)
    pieces = [{"choices": [{"text": piece}]} for piece in (" a", " b")]
    end = {"choices": [{"text": "", "finish_reason": "length"}]}
    live = await read(as_events(*pieces, end, "[DONE]"), Complete("x"), stream=True)
    assert (live.text, live.finish) == (" a b", "length")
    assert live.timings.first_token is not None


async def test_embeddings_in_order() -> None:
    rows = [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2.5]}]
    reply = await read(as_json({"data": rows, "model": "e", "usage": {"prompt_tokens": 2}}), Embed(("a", "b")))
    assert (reply.vectors, reply.usage.input, reply.served_as) == (((1.0, 2.5), (3.0, 4.0)), 2, "e")
    with pytest.raises(CallFailedError, match="2 vectors for 3"):
        await read(as_json({"data": rows}), Embed(("a", "b", "c")))
    with pytest.raises(CallFailedError, match="verloaded"):
        await read(as_json(OPENAI.error), Embed(("a",)))


def echoed(*prompts: list[tuple[str, float | None]]) -> Answer:
    """Echoed prompts, sent in the wrong order."""
    choices = [
        {
            "index": index,
            "text": "",
            "logprobs": {"tokens": [token for token, _ in prompt], "token_logprobs": [nats for _, nats in prompt]},
        }
        for index, prompt in enumerate(prompts)
    ]
    return as_json({"choices": choices[::-1], "usage": {"prompt_tokens": 9}})


CONTEXT: list[tuple[str, float | None]] = [("<s>", None), ("Answer", -5.0), (":", -1.0)]
MEASURE = Loglikelihood("Answer:", (" Paris", " Bern!"))


async def test_loglikelihood_by_echo() -> None:
    answer = echoed(CONTEXT, [*CONTEXT, (" Paris", -0.5)], [*CONTEXT, (" Bern", -2.0), ("!", -0.25)])
    reply = await read(answer, MEASURE, echo_logprobs=True)
    assert reply.values == (-0.5, -2.25)
    assert reply.usage.input == 9


async def test_loglikelihood_without_context() -> None:
    answer = echoed([("<s>", None), ("Hi", -3.0)], [("<s>", None), ("H", -1.0), ("o", -2.0)])
    assert (await read(answer, Loglikelihood("", ("Hi", "Ho")), echo_logprobs=True)).values == (-3.0, -3.0)
    with pytest.raises(CallFailedError, match="without a context"):
        await read(echoed([("Hi", None), ("!", -1.0)]), Loglikelihood("", ("Hi!",)), echo_logprobs=True)


@pytest.mark.parametrize(
    "prompts",
    [
        [CONTEXT, [("<s>", None), ("Answer", -5.0), (": Paris", -1.0)], [*CONTEXT, (" Bern!", -1.0)]],
        [CONTEXT, [*CONTEXT, (" Paris", -0.5), (" more", -0.5)], [*CONTEXT, (" Bern!", -1.0)]],
        [CONTEXT, [*CONTEXT, (" Paris", None)], [*CONTEXT, (" Bern!", -1.0)]],
        [CONTEXT, [*CONTEXT, (" Paris", -0.5)]],
    ],
)
async def test_loglikelihoods_that_cannot_be_divided_are_failures(prompts: list[Any]) -> None:
    with pytest.raises(CallFailedError) as caught:
        await read(echoed(*prompts), MEASURE, echo_logprobs=True)
    assert not caught.value.transient


async def test_server_that_does_not_echo() -> None:
    choice = {"text": "x", "logprobs": None}
    with pytest.raises(CallFailedError, match="echo"):
        await read(as_json({"choices": [choice] * 3}), MEASURE, echo_logprobs=True)


@pytest.mark.parametrize("form", ["completions", "chat"])
async def test_loglikelihood_of_the_next_token(form: str) -> None:
    top = {" Paris": -0.5, " Bern!": -2.0, " x": -9.0}
    logprobs: dict[str, Any] = {"tokens": [" Paris"], "token_logprobs": [-0.5], "top_logprobs": [top]}
    if form == "chat":
        entries = [{"token": token, "logprob": nats} for token, nats in top.items()]
        logprobs = {"content": [{"token": " Paris", "logprob": -0.5, "top_logprobs": entries}]}
    answer = as_json({"choices": [{"text": " Paris", "finish_reason": "length", "logprobs": logprobs}]})
    assert (await read(answer, MEASURE, top_logprobs=20)).values == (-0.5, -2.0)
    with pytest.raises(CallFailedError, match="' Rome'") as caught:
        await read(answer, Loglikelihood("Answer:", (" Paris", " Rome")), top_logprobs=20)
    assert not caught.value.transient
    with pytest.raises(CallFailedError, match="top_logprobs"):
        await read(as_json({"choices": [{"text": "x"}]}), MEASURE, top_logprobs=20)


async def test_anthropic_errors_of_a_stream_and_its_blocks() -> None:
    start = {"type": "message_start", "message": {"model": "m"}}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(CallFailedError, match="Overloaded") as caught:
        await read(as_events(start, error), wire=ANTHROPIC, stream=True)
    assert caught.value.transient
    lost = {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}}
    with pytest.raises(CallFailedError):
        await read(as_events(start, lost), wire=ANTHROPIC, stream=True)


async def test_anthropic_blocks_that_are_not_ours_are_left_out() -> None:
    body = ANTHROPIC.body("42", "end_turn")
    body["content"] += [{"type": "redacted_thinking", "data": "x"}, {"type": "server_tool_use", "id": "s", "input": {}}]
    assert (await read(as_json(body), wire=ANTHROPIC)).parts == (Text("42"),)
    body["content"] = []
    assert (await read(as_json(body), wire=ANTHROPIC)).parts == ()


async def test_google_blocks_in_a_stream_and_calls_without_id() -> None:
    with pytest.raises(CallBlockedError, match="SAFETY"):
        await read(as_events({"promptFeedback": {"blockReason": "SAFETY"}}), wire=GOOGLE, stream=True)
    body = GOOGLE.body("Wait.", "STOP")
    call = {"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"}
    body["candidates"][0]["content"]["parts"] += [call, {"text": "x"}, call]
    reply = await read(as_json(body), wire=GOOGLE)
    assert reply.parts == (
        Text("Wait."),
        ToolCall("call_1|c2ln", "f", "{}"),
        Text("x"),
        ToolCall("call_3|c2ln", "f", "{}"),
    )


async def test_replies_are_finite_and_can_be_stored() -> None:
    from measurand.core.identity import canonical

    reply = await read(said({"content": "42", "reasoning": "é🙂"}, logprobs=LOGPROBS))
    assert canonical(reply)


async def test_generate_asks_for_one_choice_and_reads_the_first() -> None:
    choices = [{"message": {"content": text}, "finish_reason": "stop"} for text in "ab"]
    assert (await read(as_json({"choices": choices}), Generate(ASK.messages))).text == "a"
