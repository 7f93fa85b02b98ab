"""The one layer that tries again: jittered back-off, with a budget for each call and for the run."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from measurand.core.errors import CallFailedError

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.run.doors import Ask, Door
    from measurand.run.limits import RunLimits
    from measurand.run.meter import Meter

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
FREE_RETRIES = 50
"""Retries that a run may make before their share of its requests counts."""


class Retry:
    """Tries again what may pass: full jitter, with the endpoint's Retry-After as the floor."""

    def __init__(self, limits: RunLimits, inner: Door, meter: Meter) -> None:
        self._limits = limits
        self._inner = inner
        self._meter = meter

    async def __call__(self, ask: Ask) -> Reply:
        """Ask up to `max_tries` times. Raises the last CallFailedError with the number of tries."""
        began = time.monotonic()
        for attempt in range(1, self._limits.max_tries + 1):
            try:
                return await self._inner(ask)
            except CallFailedError as error:
                error.tries = attempt
                self._meter.errors[error.where] += 1
                self._meter.last_error = error.why
                wait = _wait(attempt, error.retry_after)
                if not self._may_retry(error, attempt, time.monotonic() - began + wait):
                    raise
                self._meter.retries += 1
                if not error.limited:  # a rate limit is waited out by the limiter, for everybody
                    self._meter.pauses["backing off"] = (began, time.monotonic() + wait)
                await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _may_retry(self, error: CallFailedError, attempt: int, waited: float) -> bool:
        allowed = FREE_RETRIES + self._limits.retry_share * self._meter.sent
        return (
            error.transient
            and attempt < self._limits.max_tries
            and waited <= self._limits.patience
            and self._meter.retries < allowed
        )


def _wait(attempt: int, retry_after: float | None) -> float:
    """Seconds to wait: uniform up to an exponential ceiling, never less than the endpoint asked for."""
    ceiling = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
    jitter = random.uniform(0, ceiling)  # noqa: S311 - spreads load; nothing secret hangs on it
    return jitter if retry_after is None else retry_after + jitter * 0.1
