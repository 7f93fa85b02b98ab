"""A clock that goes on only when somebody sleeps: what waits and what expires is then sure on every machine."""

import asyncio

import pytest


class Clock:
    """Stands in for `time` and for `asyncio.sleep`. `now` is in seconds, `slept` each wait in its order."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self._yield = asyncio.sleep

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += max(seconds, 0.0)
        await self._yield(0)


def stopped(monkeypatch: pytest.MonkeyPatch, *modules: str, sleeping: bool = False) -> Clock:
    """The clock of these modules, and of every sleep in the test where that is asked for."""
    clock = Clock()
    for module in modules:
        monkeypatch.setattr(f"{module}.time", clock)
    if sleeping:
        monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    return clock
