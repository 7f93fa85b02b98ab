"""Whose turn it is: so many programs at once, and those of one test after another, for they share its jail."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable


class Lanes:
    """A semaphore of `width` turns whose waiters stand in lanes; within a lane, first come, first served.

    A turn goes on to the lane that it was given back from, as long as somebody waits there; else to the lane that
    has waited longest of those in which nobody has a turn; else to the one that has waited longest.
    """

    def __init__(self, width: int) -> None:
        self._free = width
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        self._having: Counter[Hashable] = Counter()

    @contextlib.asynccontextmanager
    async def turn(self, lane: Hashable) -> AsyncIterator[None]:
        """Wait for a turn, and have it."""
        await self._come(lane)
        try:
            yield
        finally:
            self._leave(lane)

    async def _come(self, lane: Hashable) -> None:
        if self._free:
            self._free -= 1
            self._having[lane] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(lane, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it came just as its owner was told to stop
                self._leave(lane)
            raise

    def _leave(self, lane: Hashable) -> None:
        self._having[lane] -= 1
        if not self._having[lane]:
            del self._having[lane]
        while self._waiting:
            chosen = self._after(lane)
            waiters = self._waiting[chosen]
            turn = waiters.popleft()
            if not waiters:
                del self._waiting[chosen]
            if not turn.done():
                turn.set_result(None)
                self._having[chosen] += 1
                return
        self._free += 1

    def _after(self, lane: Hashable) -> Hashable:
        if lane in self._waiting:
            return lane
        return next((other for other in self._waiting if other not in self._having), next(iter(self._waiting)))
