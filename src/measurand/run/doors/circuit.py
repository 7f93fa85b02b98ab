"""A run whose every call fails is stopped after a few calls, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurand.core.errors import CallFailedError, RunStoppedError

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.run.doors import Ask, Door

FATAL = 2
"""Failures that nothing could survive (a bad key), in a row, that open the circuit."""
BEFORE_SUCCESS = 5
"""Failures of any kind in a row that open it while nothing has worked yet."""
AFTER_SUCCESS = 50
"""The same once something has worked."""


class Circuit:
    """Counts failures in a row, after retries; opens for good."""

    def __init__(self, inner: Door) -> None:
        self._inner = inner
        self._failures = 0
        self._fatal = 0
        self._worked = False
        self._reason = ""

    async def __call__(self, ask: Ask) -> Reply:
        """Ask, or raise RunStoppedError once the circuit is open."""
        if self._reason:
            raise RunStoppedError(self._reason)
        try:
            reply = await self._inner(ask)
        except CallFailedError as error:
            self._count(ask, error)
            raise
        self._failures = self._fatal = 0
        self._worked = True
        return reply

    def _count(self, ask: Ask, error: CallFailedError) -> None:
        self._failures += 1
        self._fatal = self._fatal + 1 if error.fatal else 0
        allowed = AFTER_SUCCESS if self._worked else BEFORE_SUCCESS
        if self._fatal >= FATAL or self._failures >= allowed:
            self._reason = f"{ask.who} failed {self._failures} times in a row: {error.why}"
            raise RunStoppedError(self._reason) from error
