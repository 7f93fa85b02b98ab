"""What every remote provider does, whatever its wire format."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest

from measurand.core.call import Usage
from measurand.core.errors import CallBlockedError, CallError, CallFailedError
from measurand.core.message import ToolCall, user
from measurand.core.request import Embed, Generate, Loglikelihood
from tests.clock import stopped
from tests.providers.asking import ask, failing
from tests.providers.server import Answer, Server, as_json
from tests.providers.wires import ASK, WIRES, Wire


async def test_reply(wire: Wire) -> None:
    async with Server(wire.reply("42", thought="six sevens")) as server:
        provider = wire.provider(server.url)
        reply = await ask(provider)
    assert (reply.text, reply.reasoning, reply.finish, reply.served_as) == ("42", "six sevens", "stop", "m-1")
    assert (reply.usage.input, reply.usage.output) == (11, 7)
    assert reply.timings.total > 0
    assert reply.timings.first_token is None
    assert reply.replayed_from == ""
    assert provider.describe().local
    assert provider.subject.endpoint == server.url  # type: ignore[union-attr]


async def test_tool_calls(wire: Wire) -> None:
    async with Server(wire.reply(None, tools=True)) as server:
        reply = await ask(wire.provider(server.url))
    assert reply.parts == (ToolCall("c1", "add", '{"a": 1}'),)
    assert (reply.finish, reply.text) == ("tool_calls", "")


FINISHES = [pytest.param(wire, reason, id=f"{wire.name}-{reason}") for wire in WIRES for reason in wire.finishes]


@pytest.mark.parametrize(("spoken", "reason"), FINISHES)
async def test_finish_reasons(spoken: Wire, reason: str) -> None:
    tools = reason in {"tool_calls", "function_call"}
    async with Server(spoken.reply("some text", reason, tools=tools)) as server:
        reply = await ask(spoken.provider(server.url))
    assert reply.finish == spoken.finishes[reason]
    assert reply.text == "some text"


async def test_cut_off_without_text_is_a_reply(wire: Wire) -> None:
    limit = next(reason for reason, finish in wire.finishes.items() if finish == "length")
    async with Server(wire.reply("", limit)) as server:
        reply = await ask(wire.provider(server.url))
    assert (reply.text, reply.finish) == ("", "length")


@pytest.mark.parametrize("reason", [None, "something_new"])
async def test_nothing_for_no_reason_is_a_failure(wire: Wire, reason: str | None) -> None:
    error = await failing(wire, wire.reply(None, reason))
    assert (error.transient, error.where) == (True, "reply")


async def test_text_without_a_reason_is_a_reply(wire: Wire) -> None:
    async with Server(wire.reply("42", None)) as server:
        assert (await ask(wire.provider(server.url))).finish == "stop"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"Date": formatdate(1_000_000, usegmt=True), "Retry-After": formatdate(1_000_012, usegmt=True)}, 12),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1e300"}, 3600),
        ({"Retry-After": formatdate(1_000_000, usegmt=True)}, None),
        ({"Retry-After": "soon", "x-ratelimit-reset-requests": "1m30s"}, 90),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "20s",
                "x-ratelimit-reset-tokens": "1s",
            },
            20,
        ),
        ({}, None),
    ],
)
async def test_rate_limit(wire: Wire, headers: dict[str, str], seconds: float | None) -> None:
    error = await failing(wire, as_json(wire.error, 429, **headers), wire.reply())
    assert (error.limited, error.transient, error.fatal) == (True, True, False)
    assert error.retry_after == (None if seconds is None else pytest.approx(seconds))


async def test_rate_limit_with_a_date_counts_from_our_clock_where_there_is_no_other(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = stopped(monkeypatch, "measurand.providers.endings").now
    error = await failing(wire, as_json(wire.error, 429, Retry_After=formatdate(now + 30, usegmt=True)))
    assert error.retry_after == 30


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 529])
async def test_transient_statuses(wire: Wire, status: int) -> None:
    async with Server(as_json(wire.error, status), wire.reply()) as server:
        provider = wire.provider(server.url)
        await provider.start()
        with pytest.raises(CallFailedError) as caught:
            await provider.reply(ASK)
        assert (caught.value.transient, caught.value.limited, caught.value.fatal) == (True, False, False)
        assert "Overloaded" in caught.value.why
        assert (await provider.reply(ASK)).text == "42"
        await provider.close()
        assert len(server.heard) == 2


@pytest.mark.parametrize("status", [401, 403])
async def test_denied(wire: Wire, status: int) -> None:
    error = await failing(wire, as_json({"error": {"message": "no"}}, status))
    assert (error.transient, error.fatal) == (False, True)
    assert "MEASURAND_API_KEY" in error.why


async def test_no_such_model(wire: Wire) -> None:
    error = await failing(wire, as_json({"error": {"message": "no such model", "code": "model_not_found"}}, 404))
    assert (error.transient, error.fatal) == (False, True)


async def test_quota_used_up(wire: Wire) -> None:
    error = await failing(wire, as_json({"error": {"message": "You exceeded", "code": "insufficient_quota"}}, 429))
    assert (error.transient, error.fatal, error.limited) == (False, True, False)


async def test_bad_request(wire: Wire) -> None:
    error = await failing(wire, as_json({"error": {"message": "temperature must be <= 2"}}, 400))
    assert (error.transient, error.fatal, error.where) == (False, False, "provider")
    assert "temperature must be" in error.why


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens.",
        "prompt is too long: 200002 tokens > 200000 maximum",
        "The input token count (1048600) exceeds the maximum number of tokens allowed (1048575).",
        "the request exceeds the available context size, try increasing it",
    ],
)
async def test_context_exceeded(wire: Wire, words: str) -> None:
    error = await failing(wire, as_json({"error": {"message": words}}, 400))
    assert (error.transient, error.fatal, error.where) == (False, False, "context")


async def test_blocked_prompt(wire: Wire) -> None:
    async with Server(wire.blocked) as server:
        with pytest.raises(CallBlockedError) as caught:
            await ask(wire.provider(server.url))
    assert caught.value.by


async def test_success_with_an_error_body(wire: Wire) -> None:
    for body in (wire.error, {"object": "error", "message": "overloaded"}, {"error": "overloaded"}):
        error = await failing(wire, as_json(body))
        assert (error.transient, error.fatal) == (True, False)
        assert "verloaded" in error.why


async def test_no_choices(wire: Wire) -> None:
    error = await failing(wire, wire.empty())
    assert error.where == "reply"
    if wire.name != "anthropic":
        assert "no choices" in error.why


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"<html>Bad gateway</html>",
        b'{"choices": [',
        b"null",
        b"[]",
        b"17",
        b"{}",
        b"\xff\xfe",
        b"[" * 50_000,
    ],
)
async def test_unreadable_bodies(wire: Wire, body: bytes) -> None:
    error = await failing(wire, Answer(body, 200, {"Content-Type": "application/json"}))
    assert (error.transient, error.where, error.fatal) == (True, "reply", False)


@pytest.mark.parametrize("body", [b"", b"<html>x</html>", b"{", b"\x00\x1b[31m\xff", b'{"error": {"error": 3}}'])
async def test_errors_without_words(wire: Wire, body: bytes) -> None:
    error = await failing(wire, Answer(body, 500))
    assert error.transient
    assert error.why.isprintable()


async def test_half_a_surrogate_pair_is_refused(wire: Wire) -> None:
    async with Server(wire.reply()) as server:
        with pytest.raises(CallFailedError) as caught:
            await ask(wire.provider(server.url), Generate((user("\ud83d"),), decode=ASK.decode))
    assert (caught.value.where, caught.value.transient) == ("request", False)
    assert server.heard == []


async def test_what_it_cannot_do_is_refused(wire: Wire) -> None:
    provider = wire.provider("http://127.0.0.1:9")
    await provider.start()
    can = provider.describe().can
    for name, request in (("loglikelihood", Loglikelihood("a", ("b",))), ("embed", Embed(("a",)))):
        if name in can:
            continue
        with pytest.raises(CallFailedError) as caught:
            await provider.reply(request)
        assert caught.value.fatal
    await provider.close()


async def test_not_started(wire: Wire) -> None:
    with pytest.raises(CallError):
        await wire.provider("http://127.0.0.1:9").reply(ASK)


async def test_odd_counts_are_no_counts(wire: Wire) -> None:
    body = wire.body("42", wire.usual)
    name = "usageMetadata" if wire.name == "google" else "usage"
    odd: list[Any] = [None, [], "many", dict.fromkeys(body[name], "x"), dict.fromkeys(body[name], -1)]
    for usage in odd:
        async with Server(as_json(body | {name: usage})) as server:
            assert (await ask(wire.provider(server.url))).usage == Usage()
