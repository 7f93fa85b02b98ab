"""Money, tokens and time: a run that has spent its budget sends nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurand.core.errors import RunStoppedError

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.run.doors import Ask, Door
    from measurand.run.limits import RunLimits
    from measurand.run.meter import Meter


class Budget:
    """Refuses a request once a budget is spent, and counts what fresh replies took.

    Requests already in flight are let through, so a run may pass its budget by at most those.
    """

    def __init__(self, limits: RunLimits, inner: Door, meter: Meter) -> None:
        self._limits = limits
        self._inner = inner
        self._meter = meter

    async def __call__(self, ask: Ask) -> Reply:
        """Check, ask, count. Raises RunStoppedError that names the budget."""
        self._check()
        reply = await self._inner(ask)
        self._meter.spend(reply.usage)
        return reply

    def _check(self) -> None:
        limits, meter = self._limits, self._meter
        if limits.max_cost is not None and meter.cost >= limits.max_cost:
            raise RunStoppedError(f"the budget of {limits.max_cost:g} USD is spent; raise --max-cost to go on")
        if limits.max_tokens is not None and meter.input_tokens + meter.output_tokens >= limits.max_tokens:
            raise RunStoppedError(f"the budget of {limits.max_tokens} tokens is spent; raise --max-tokens to go on")
        if limits.max_seconds is not None and meter.seconds >= limits.max_seconds:
            raise RunStoppedError(f"the budget of {limits.max_seconds:g} s is spent; raise --max-time to go on")
