"""Asking a provider once, and the failure that comes of it."""

from __future__ import annotations

import pytest

from measurand.core.call import Reply
from measurand.core.errors import CallFailedError
from measurand.core.ports import Provider
from measurand.core.request import Generate
from measurand.providers.connecting import HttpOptions
from tests.providers.server import Answer, Server
from tests.providers.wires import ASK, PATIENT, Wire


async def ask(provider: Provider, request: Generate = ASK) -> Reply:
    await provider.start()
    try:
        return await provider.reply(request)
    finally:
        await provider.close()
        await provider.close()


async def failing(
    wire: Wire, *script: Answer, stream: bool = False, http: HttpOptions | None = None
) -> CallFailedError:
    """The failure that the first answer of the script leads to."""
    async with Server(*script) as server:
        provider = wire.provider(server.url, stream=stream, http=http or PATIENT)
        with pytest.raises(CallFailedError) as caught:
            await ask(provider)
        assert len(server.heard) == 1, "a provider never retries"
        assert caught.value.__context__ is None, "aiohttp's exceptions hold the request's headers"
        return caught.value
