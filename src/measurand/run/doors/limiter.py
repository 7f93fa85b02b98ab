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


class Limiter:
    """Additive increase, multiplicative decrease (Chiu and Jain 1989), with a fast start.

    One instance for each endpoint, shared by the runs that use it. A Retry-After pauses everybody. The place
    is released while a call backs off, since the retry door lies outside.
    """

    def __init__(self, most: int, inner: Door, meter: Meter) -> None:
        self._most = most
        self._inner = inner
        self._meter = meter
        self._limit = float(min(FIRST, most))
        self._seen_limit = False
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open_at = 0.0
        self._cut_at = 0.0
        self._counter = 0

    @property
    def limit(self) -> int:
        """The number of requests allowed in flight now."""
        return int(self._limit)

    async def __call__(self, ask: Ask) -> Reply:
        """Wait for a place, ask, give the place back, and learn from how it went."""
        await self._enter()
        self._counter += 1
        ticket = self._counter
        meter = self._meter
        meter.sent += 1
        sent_at = time.monotonic()
        meter.in_flight[ticket] = (sent_at, ask.who)
        try:
            reply = await self._inner(ask)
        except CallFailedError as error:
            if error.limited:
                self._slow_down(sent_at, error.retry_after)
            raise
        else:
            self._speed_up()
            return reply
        finally:
            del meter.in_flight[ticket]
            self._in_flight -= 1
            self._wake()

    async def _enter(self) -> None:
        while self._in_flight >= int(self._limit) or self._open_at > 0:
            pause = self._open_at - time.monotonic()
            if self._open_at > 0 and pause <= 0:
                self._open_at = 0.0
                continue
            if pause > 0:
                await asyncio.sleep(pause)
                continue
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._wake()  # the place was ours already: hand it on
                raise
        self._in_flight += 1

    def _wake(self) -> None:
        free = int(self._limit) - self._in_flight
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1

    def _speed_up(self) -> None:
        if self._limit < self._most:
            step = 1 / self._limit if self._seen_limit else 1.0
            self._limit = min(float(self._most), self._limit + step)

    def _slow_down(self, sent_at: float, retry_after: float | None) -> None:
        now = time.monotonic()
        if retry_after is not None:
            self._open_at = max(self._open_at, now + min(retry_after, LONGEST_PAUSE))
            self._meter.pauses["the rate limit"] = (now, self._open_at)
        if sent_at > self._cut_at:  # requests sent before the last cut say nothing about the new limit
            self._cut_at = now
            self._seen_limit = True
            self._limit = max(1.0, self._limit / 2)
