"""Whatever an endpoint writes, the outcome is a reply that can be stored, or a CallError."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from yarl import URL

from measurand.core.call import Reply
from measurand.core.errors import CallError
from measurand.core.identity import canonical
from measurand.core.request import Complete, Loglikelihood, Request
from measurand.providers.http import Sink, Transport
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from tests.providers.wires import ASK, OPENAI, PATIENT, WIRES, Wire

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        1 << 70,
        1e308,
        "",
        "x",
        "stop",
        [],
        {},
        [[]],
        [None],
        ["x"],
        [{}],
        {"a": 1},
        {"text": {}},
    ],
)


class Canned(Transport):
    """A transport that answers from a can."""

    can: list[bytes]

    async def post(self, url: URL, body: bytes, decoder: Any) -> tuple[Any, bytes]:
        return self.decode(decoder, self.can[0]), self.can[0]

    async def stream(self, url: URL, body: bytes, sink: Sink) -> None:
        for payload in self.can:
            sink.feed(payload)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a tree."""
    yield path
    if isinstance(tree, dict | list):
        for name, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(inner, (*path, name))


def spoiled(tree: Any, place: int, junk: Any) -> Any:
    """The tree with one value replaced."""
    paths = list(places(tree))
    path = paths[place % len(paths)]
    if not path:
        return junk
    tree = copy.deepcopy(tree)
    inner = tree
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = junk
    return tree


def outcome(provider: Any, request: Request, can: list[bytes]) -> None:
    canned = Canned("http://127.0.0.1:9", PATIENT)
    canned.can = can
    provider._http = canned
    try:
        ended: Reply | CallError = asyncio.run(provider.reply(request))
    except CallError as error:
        ended = error
    assert canonical(ended) if isinstance(ended, Reply) else str(ended).isprintable()


LOGPROBS = {
    "content": [{"token": "4", "logprob": -1.0, "top_logprobs": [{"token": "5", "logprob": -2.0}]}],
    "tokens": ["C", "4"],
    "token_logprobs": [None, -1.0],
    "top_logprobs": [None, {"4": -1.0}],
}


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@settings(max_examples=120, deadline=None)
@given(place=st.integers(0, 200), junk=JUNK, stream=st.booleans())
def test_spoiled_replies(wire: Wire, place: int, junk: Any, *, stream: bool) -> None:
    provider = wire.provider("http://127.0.0.1:9", stream=stream)
    if stream:
        events = spoiled(wire.events(["4", "2"], "hm", tools=True), place, junk)
        spoilt = [
            event if isinstance(event, str) else json.dumps(event)
            for event in (events if isinstance(events, list) else ())
        ]
        outcome(provider, ASK, [event.encode() for event in spoilt])
    else:
        body = wire.body("42", wire.usual, thought="hm", tools=True)
        if wire is OPENAI:
            body["choices"][0]["logprobs"] = LOGPROBS
        outcome(provider, ASK, [json.dumps(spoiled(body, place, junk)).encode()])


@settings(max_examples=120, deadline=None)
@given(place=st.integers(0, 200), junk=JUNK, how=st.sampled_from(["complete", "echo", "next"]))
def test_spoiled_completions(place: int, junk: Any, how: str) -> None:
    logprobs = LOGPROBS | {"content": None}
    choices = [{"index": 0, "text": "4", "finish_reason": "stop", "logprobs": logprobs}] * (2 if how == "echo" else 1)
    body = {"choices": choices, "model": "m", "usage": {"prompt_tokens": 1}}
    options = OpenAIOptions("m", base_url="http://127.0.0.1:9", echo_logprobs=how == "echo", top_logprobs=5)
    request = Complete("x") if how == "complete" else Loglikelihood("C", ("4",))
    outcome(OpenAICompatible(options), request, [json.dumps(spoiled(body, place, junk)).encode()])
