"""What every local provider must keep to, whatever it asks."""

from __future__ import annotations

import asyncio

from measurand.core.call import Reply
from measurand.core.errors import CallError
from measurand.core.identity import identity
from measurand.core.message import Image, Message, Text, Tool, system, user
from measurand.core.ports import Provider
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling

HOSTILE: tuple[Request, ...] = (
    Generate(()),
    Generate((user(""),)),
    Generate((user("\ud83d"),)),
    Generate((user("\x00\x1b[31m"),)),
    Generate((system("be brief"), user("a"))),
    Generate((Message("user", (Text("see"), Image("image/png", "AAAA"))),)),
    Generate((user("a"),), tools=(Tool("t", "d", {"type": "object"}),)),
    Generate((user("a"),), schema={"type": "object"}),
    Complete(""),
    Loglikelihood("", ("a",)),
    Loglikelihood("a", ()),
    Rolling("", 8, 8),
    Rolling("a", 1 << 40, 1),
    Rolling("\ud83d", 8, 8),
    Embed(()),
    Embed(("a",)),
)


async def keeps_to_the_port(provider: Provider) -> None:
    """Two starts and closes, hostile requests, a stable subject, a light description; CallError and no other error."""
    first = identity(provider.subject)
    abilities = provider.describe()
    assert set(abilities.can) <= {"chat", "complete", "loglikelihood", "rolling", "images", "tools", "schema", "embed"}
    assert ("loglikelihood" in abilities.can) == (abilities.loglikelihood != "none")
    await provider.start()
    for request in HOSTILE:
        [ended] = await asyncio.gather(provider.reply(request), return_exceptions=True)
        if isinstance(ended, Reply):
            assert not ended.replayed_from
        else:
            assert isinstance(ended, CallError), request
            assert str(ended).isprintable(), str(ended)
            assert len(str(ended)) < 2000
    await provider.close()
    await provider.close()
    assert identity(provider.subject) == first
