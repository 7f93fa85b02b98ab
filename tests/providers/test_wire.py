"""Connections that break, hang, lead elsewhere or never end, and streams that are cut: for every remote provider."""

from __future__ import annotations

import asyncio

import pytest

from measurand.core.errors import CallFailedError
from measurand.core.message import user
from measurand.core.request import Generate
from measurand.providers.connecting import HttpOptions, Timeouts
from tests.providers.asking import ask, failing
from tests.providers.server import Answer, Server, as_events, as_json
from tests.providers.wires import ASK, PATIENT, Wire


@pytest.mark.parametrize("tools", [False, True])
async def test_streamed_reply_is_the_same(wire: Wire, *, tools: bool) -> None:
    pieces = [] if tools else ["4", "2 ", "é🙂"]
    whole = wire.reply(
        "".join(pieces) or None, "tool_use" if tools and wire.name == "anthropic" else "", thought="hm", tools=tools
    )
    for how in ("whole", "drip"):
        streamed = Answer(
            wire.stream(pieces, thought="hm", tools=tools).body, 200, {"Content-Type": "text/event-stream"}, how
        )
        async with Server(whole, streamed) as server:
            plain = await ask(wire.provider(server.url))
            live = await ask(wire.provider(server.url, stream=True))
        assert live.timings.first_token is not None
        assert 0 < live.timings.first_token <= live.timings.total
        assert live.parts == plain.parts or [part.name for part in live.tool_calls] == ["add"]
        assert (live.finish, live.reasoning, live.usage, live.served_as) == (
            plain.finish,
            plain.reasoning,
            plain.usage,
            plain.served_as,
        )


async def test_cut_streams(wire: Wire) -> None:
    events = wire.events(["4", "2"])
    last = {"openai": 3, "anthropic": 2, "google": 1}[wire.name]
    error = await failing(wire, as_events(*events[:-last]), stream=True)
    assert (error.transient, error.where) == (True, "reply")


async def test_stream_cut_after_its_end_is_whole(wire: Wire) -> None:
    if wire.name == "google":
        pytest.skip("its finish reason comes with the last chunk")
    events = as_events(*wire.events(["4", "2"])[:-1])
    long = Answer(
        events.body, 200, {"Content-Type": "text/event-stream", "Content-Length": str(len(events.body) + 50)}, "raw"
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999\r\n\r\n"
    async with Server(Answer(head + long.body, how="raw")) as server:
        assert (await ask(wire.provider(server.url, stream=True))).text == "42"


async def test_broken_chunks_are_never_passed_over(wire: Wire) -> None:
    events = wire.events(["4", "2"])
    for broken in ('{"cho', "[]", "<html>", wire.error):
        error = await failing(wire, as_events(*events[:2], broken, *events[2:]), stream=True)
        assert error.transient


async def test_stream_answered_without_one(wire: Wire) -> None:
    error = await failing(wire, wire.reply(), stream=True)
    assert not error.transient
    assert "`stream`" in error.why
    error = await failing(wire, as_json(wire.error), stream=True)
    assert error.transient
    error = await failing(wire, as_json(wire.error, 429, Retry_After="3"), stream=True)
    assert (error.limited, error.retry_after) == (True, 3)


async def test_cut_bodies_and_connections(wire: Wire) -> None:
    whole = wire.reply().body
    for answer in (
        Answer(whole, how="cut"),
        Answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n" + whole[:30], how="raw"),
        Answer(b"\x00\x01\x02 nonsense\r\n\r\n", how="raw"),
        Answer(how="slam"),
    ):
        error = await failing(wire, answer)
        assert (error.transient, error.where) == (True, "network")


@pytest.mark.parametrize("how", ["hang", "stall"])
async def test_hanging_socket(wire: Wire, how: str) -> None:
    hasty = HttpOptions(timeouts=Timeouts(60, 0.3, 60))
    error = await failing(wire, Answer(b"x" * 100, how=how), http=hasty)  # type: ignore[arg-type]
    assert (error.transient, error.where) == (True, "network")
    assert "timeouts.read" in error.why


async def test_slow_body_ends_at_the_total(wire: Wire) -> None:
    slow = Answer(b" " * 4_000_000, how="drip")
    error = await failing(wire, slow, http=HttpOptions(timeouts=Timeouts(60, 60, 0.4)))
    assert error.transient
    assert "timeouts.total" in error.why


async def test_redirect_is_not_followed(wire: Wire) -> None:
    async with Server(wire.reply()) as elsewhere:
        target = f"http://user:hunter22@127.0.0.1:{elsewhere.port}/v1?token=abcdef#x"
        error = await failing(wire, Answer(b"", 307, {"Location": target}))
        assert elsewhere.heard == []
    assert (error.transient, error.fatal) == (False, True)
    assert f"127.0.0.1:{elsewhere.port}/v1" in error.why
    assert "hunter22" not in error.why
    assert "abcdef" not in error.why


async def test_refused_connection(wire: Wire) -> None:
    async with Server() as server:
        url = server.url
    with pytest.raises(CallFailedError) as caught:
        await ask(wire.provider(url))
    assert (caught.value.transient, caught.value.where) == (True, "network")
    assert "could not be reached" in caught.value.why


async def test_unknown_host(wire: Wire) -> None:
    with pytest.raises(CallFailedError) as caught:
        await ask(wire.provider("http://no-such-host.invalid"))
    assert (caught.value.transient, caught.value.where) == (True, "network")


async def test_large_replies_are_refused(wire: Wire) -> None:
    http = HttpOptions(timeouts=PATIENT.timeouts, max_body=5_000)
    for answer in (
        wire.reply("x" * 6_000),
        Answer(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"3e8\r\n" + b"x" * 1000 + b"\r\n" * 9, how="raw"
        ),
    ):
        error = await failing(wire, answer, http=http)
        assert error.where in {"reply", "network"}
    error = await failing(wire, wire.stream(["x" * 6_000]), stream=True, http=http)
    assert "5000 bytes" in error.why


async def test_large_requests_go_out(wire: Wire) -> None:
    text = "x" * 2_000_000
    async with Server(wire.reply()) as server:
        await ask(wire.provider(server.url), Generate((user(text),), decode=ASK.decode))
    assert text.encode() in server.heard[0].body


async def test_connections_are_kept_and_shared(wire: Wire) -> None:
    async with Server(wire.reply()) as server:
        provider = wire.provider(server.url)
        await provider.start()
        for _ in range(20):
            await provider.reply(ASK)
        assert server.connections == 1
        await asyncio.gather(*(provider.reply(ASK) for _ in range(300)))
        await provider.close()
    assert server.connections <= 300


async def test_cancellation_passes(wire: Wire) -> None:
    async with Server(Answer(how="hang")) as server:
        provider = wire.provider(server.url)
        await provider.start()
        task = asyncio.create_task(provider.reply(ASK))
        while not server.heard:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.close()
