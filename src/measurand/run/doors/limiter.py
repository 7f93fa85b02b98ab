"""How many requests are in flight at one endpoint: as many as it bears, found by trying."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from measurand.core.errors import CallFailedError

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.run.doors import Ask, Door
    from measurand.run.meter import Meter

FIRST = 8
"""In flight before anything is known of the endpoint: a bad key costs no more than these."""
LONGEST_PAUSE = 120.0


class Pace:
    """Additive increase, multiplicative decrease (Chiu and Jain 1989), after a fast start.

    `limit` requests may be in flight; none before `open_at` (monotonic seconds, 0 for no pause).
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(FIRST, most))
        self._seen_limit = False
        self._cut_at = 0.0
        self.open_at = 0.0

    @property
    def limit(self) -> int:
        """The number of requests allowed in flight now."""
        return int(self._limit)

    def speed_up(self) -> None:
        """A request went well: one more for each reply until a limit was met, then one more for each round."""
        if self._limit < self._most:
            step = 1 / self._limit if self._seen_limit else 1.0
            self._limit = min(float(self._most), self._limit + step)

    def slow_down(self, sent_at: float, retry_after: float | None) -> None:
        """A request met a rate limit: half as many from now on, and a pause where one is asked for."""
        now = time.monotonic()
        if retry_after is not None:
            self.open_at = max(self.open_at, now + min(retry_after, LONGEST_PAUSE))
        if sent_at > self._cut_at:  # requests sent before the last cut say nothing about the new limit
            self._cut_at = now
            self._seen_limit = True
            self._limit = max(1.0, self._limit / 2)


class Limiter:
    """Lets in as many requests as the pace allows; a Retry-After pauses everybody.

    The place is released while a call backs off, since the retry door lies outside.
    """

    def __init__(self, most: int, inner: Door, meter: Meter) -> None:
        self.pace = Pace(most)
        self._inner = inner
        self._meter = meter
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __call__(self, ask: Ask) -> Reply:
        """Wait for a place, ask, give the place back, and learn from how it went."""
        await self._enter()
        meter = self._meter
        meter.sent += 1
        ticket, sent_at = meter.sent, time.monotonic()
        meter.in_flight[ticket] = (sent_at, ask.who)
        try:
            reply = await self._inner(ask)
        except CallFailedError as error:
            if error.limited:
                self.pace.slow_down(sent_at, error.retry_after)
                meter.pauses["the rate limit"] = (sent_at, self.pace.open_at)
            raise
        else:
            self.pace.speed_up()
            return reply
        finally:
            del meter.in_flight[ticket]
            self._in_flight -= 1
            self._wake()

    async def _enter(self) -> None:
        while True:
            pause = self.pace.open_at - time.monotonic() if self.pace.open_at else 0.0
            if pause > 0:
                await asyncio.sleep(pause)
            elif self._in_flight < self.pace.limit:
                self.pace.open_at = 0.0
                self._in_flight += 1
                return
            else:
                await self._queue()

    async def _queue(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._wake()  # the place was ours already: hand it on
            raise

    def _wake(self) -> None:
        free = self.pace.limit - self._in_flight
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1
