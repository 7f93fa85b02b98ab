"""What a run is doing right now: counters that the doors turn and that progress lines read."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurand.core.call import Usage
    from measurand.core.subject import Price


@dataclass(slots=True)
class Meter:
    """Counters of one run. Times are `time.monotonic()` seconds."""

    planned: int = 0
    price: Price | None = None
    done: int = 0
    done_before: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    replayed: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    started: float = field(default_factory=time.monotonic)
    in_flight: dict[int, tuple[float, str]] = field(default_factory=dict)
    pauses: dict[str, tuple[float, float]] = field(default_factory=dict)
    served: set[str] = field(default_factory=set)
    scoring: int = 0
    last_error: str = ""
    stopping: str = ""

    def spend(self, usage: Usage) -> None:
        """Count the tokens and the money of one fresh reply."""
        self.input_tokens += usage.input or 0
        self.output_tokens += usage.output or 0
        self.cost += cost_of(usage, self.price) or 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Trials a second in this session."""
        return self.done / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Expected seconds until the plan is done, once there is something to go by."""
        left = self.planned - self.done_before - self.done
        return left / self.rate if self.done else None

    def waiting(self) -> str:
        """What is being waited for, and since when; empty where nothing takes long."""
        now = time.monotonic()
        for what, (since, until) in self.pauses.items():
            if until > now:
                return f"{what}: {until - now:.0f} s to go, since {now - since:.0f} s"
        for since, what in self.in_flight.values():  # the dict keeps order, so the first is the oldest
            if now - since > 5:  # noqa: PLR2004 - seconds after which a person begins to wonder
                return f"a reply from {what}, since {now - since:.0f} s"
            break
        return f"{self.scoring} programs in the sandbox" if self.scoring else ""


class Clock:
    """Says when a monotonic moment was, in ISO 8601 UTC to the second; makes each text once."""

    def __init__(self) -> None:
        self._zero = time.time() - time.monotonic()
        self._second = 0
        self._text = ""

    def at(self, moment: float) -> str:
        """The time of day at `moment`, seconds of `time.monotonic()`."""
        second = int(self._zero + moment)
        if second != self._second:
            self._second = second
            self._text = datetime.fromtimestamp(second, UTC).isoformat().replace("+00:00", "Z")
        return self._text


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """US dollars for one reply, or None without a price or a count."""
    if price is None or usage.input is None or usage.output is None:
        return None
    cached = usage.cached_input or 0
    cached_price = price.input if price.cached_input is None else price.cached_input
    return ((usage.input - cached) * price.input + cached * cached_price + usage.output * price.output) / 1e6
