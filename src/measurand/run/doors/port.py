"""The innermost door: the provider itself, one request at a time or gathered into batches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from measurand.core.errors import CallError, CallFailedError
from measurand.core.ports import SampleProvider

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.core.ports import BatchProvider, Provider
    from measurand.core.request import Request
    from measurand.run.doors import Ask, Door

LINGER = 0.02
"""Seconds that a batch waits for the trials that are busy elsewhere."""


def _asking(provider: Provider) -> Door:
    """How the provider is asked: with the number of the sample where it keeps a reply for each."""
    if isinstance(provider, SampleProvider):
        sample = provider.sample
        return lambda ask: sample(ask.request, ask.sample_no)
    reply = provider.reply
    return lambda ask: reply(ask.request)


class Single:
    """Asks a provider, with a deadline behind the provider's own."""

    def __init__(self, provider: Provider, seconds: float) -> None:
        self._reply = _asking(provider)
        self._seconds = seconds

    async def __call__(self, ask: Ask) -> Reply:
        """Ask. Raises CallError only."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._reply(ask)
        except TimeoutError as error:
            why = f"no reply within {self._seconds:g} s"
            raise CallFailedError(why, where="timeout", transient=True) from error


class Direct:
    """Asks a provider that keeps a deadline of its own."""

    def __init__(self, provider: Provider) -> None:
        self._reply = _asking(provider)

    async def __call__(self, ask: Ask) -> Reply:
        """Ask. Raises CallError only."""
        return await self._reply(ask)


class Gather:
    """Collects the requests of the workers in play and sends them as one batch.

    A batch goes when it is full, when every worker waits for it, or after a short linger: an agent that runs a
    program must not hold up the others.
    """

    def __init__(self, provider: BatchProvider, seconds: float) -> None:
        self._provider = provider
        self._seconds = seconds
        self._in_play = 0
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def enter(self, workers: int) -> None:
        """So many workers begin."""
        self._in_play += workers

    def leave(self) -> None:
        """A worker has ended; it will not ask again."""
        self._in_play -= 1
        self._send_if_complete()

    async def __call__(self, ask: Ask) -> Reply:
        """Join the batch and wait for the reply. Raises CallError only."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        self._waiting.append((ask.request, future))
        self._send_if_complete()
        if self._waiting and self._timer is None:
            self._timer = loop.call_later(LINGER, self._send)
        return await future

    def _send_if_complete(self) -> None:
        if self._waiting and len(self._waiting) >= min(self._provider.size, max(self._in_play, 1)):
            self._send()

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch = [entry for entry in self._waiting if not entry[1].done()]
        self._waiting.clear()
        batch.sort(key=lambda entry: self._provider.affinity(entry[0]))
        for start in range(0, len(batch), self._provider.size):
            task = asyncio.ensure_future(self._run(batch[start : start + self._provider.size]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, batch: Sequence[tuple[Request, asyncio.Future[Reply]]]) -> None:
        try:
            async with asyncio.timeout(self._seconds * len(batch)):
                results = await self._provider.replies([request for request, _ in batch])
        except TimeoutError:
            why = f"no batch of {len(batch)} within {self._seconds:g} s for each"
            results = [CallFailedError(why, where="timeout", transient=True) for _ in batch]
        except CallError as error:
            results = [error] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, CallError):
                future.set_exception(result)
            else:
                future.set_result(result)
