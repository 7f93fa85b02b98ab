"""A provider kept running over several runs, so that weights are loaded once for all that a checkpoint is asked."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.core.call import Reply
from measurand.core.errors import CallError
from measurand.core.ports import Abilities, BatchProvider, Provider
from measurand.core.request import Request
from measurand.core.subject import Subject


class Kept:
    """Answers as the provider does; starts it at the first start, and closes it at `end` alone."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._runs = False

    @property
    def subject(self) -> Subject:
        """Who answers."""
        return self._provider.subject

    def describe(self) -> Abilities:
        """What it can do."""
        return self._provider.describe()

    async def start(self) -> None:
        """Start the provider, unless it runs."""
        if not self._runs:
            await self._provider.start()
            self._runs = True

    async def reply(self, request: Request) -> Reply:
        """Answer one request."""
        return await self._provider.reply(request)

    async def close(self) -> None:
        """Leave it running for the next run."""

    async def end(self) -> None:
        """Close the provider, also where its start failed half-way."""
        self._runs = False
        await self._provider.close()


class KeptBatch(Kept):
    """The same for a provider that is faster on many requests at once."""

    def __init__(self, provider: Provider, batch: BatchProvider) -> None:
        super().__init__(provider)
        self._batch = batch
        self.size = batch.size

    def affinity(self, request: Request) -> str:
        """A sort key: requests that share work sort together."""
        return self._batch.affinity(request)

    async def replies(self, requests: Sequence[Request]) -> Sequence[Reply | CallError]:
        """Answer all, in order."""
        return await self._batch.replies(requests)


def kept(provider: Provider) -> Kept:
    """The provider, to be kept running until `end`."""
    return KeptBatch(provider, provider) if isinstance(provider, BatchProvider) else Kept(provider)
