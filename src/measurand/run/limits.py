"""How hard a run may push: concurrency, patience, and what it may spend."""

from __future__ import annotations

from measurand.core.record import Record


class RunLimits(Record, frozen=True):
    """Limits of one run. None of them is part of the protocol: they change when a reply comes, not what it says.

    `concurrency` is the most requests in flight at one endpoint; the engine finds the best number below it.
    Times are in seconds. `call_seconds` bounds one attempt, `patience` the waiting of one call over all its
    retries. `retry_share` bounds the retries of a run to this share of its requests (and never below 50).
    `max_cost` is in US dollars; `max_tokens` counts input and output together.
    """

    concurrency: int = 64
    max_tries: int = 6
    call_seconds: float = 600.0
    patience: float = 300.0
    trial_seconds: float = 86_400.0
    retry_share: float = 0.5
    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    grace: float = 10.0
