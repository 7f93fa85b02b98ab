"""A scripted subject, for tests, demonstrations and the pages of the documentation."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from measurand.core.call import Reply
from measurand.core.errors import CallError, CallFailedError
from measurand.core.identity import canonical
from measurand.core.ports import Abilities
from measurand.core.request import Request
from measurand.core.subject import Model
from measurand.providers.plain import one_line, prompt_of, said

Said = str | tuple[float, ...] | Reply | Exception
"""What a script says: a text, one number for each continuation, a whole reply, or an error to raise."""

Script = Callable[[Request], Said | Awaitable[Said]]

EVERYTHING = Abilities(
    can=("chat", "complete", "loglikelihood", "images", "tools", "schema", "embed"), loglikelihood="any", local=True
)

KEPT = 1000
"""How many of the latest requests a fake remembers, so that a long run costs no memory."""


class Fake:
    """Answers as its script says, and counts.

    `asked` is how many requests came, `received` the latest of them, `most_at_once` how many were in play
    together; `starts` and `closes` count the calls of those names. `delay` is slept before each reply, in seconds.
    """

    def __init__(
        self, script: Script, name: str = "fake", *, delay: float = 0.0, abilities: Abilities = EVERYTHING
    ) -> None:
        self._script = script
        self._subject = Model(provider="fake", name=name)
        self._delay = delay
        self._abilities = abilities
        self._in_play = 0
        self.asked = 0
        self.received: deque[Request] = deque(maxlen=KEPT)
        self.most_at_once = 0
        self.starts = 0
        self.closes = 0

    @property
    def subject(self) -> Model:
        """Who answers."""
        return self._subject

    def describe(self) -> Abilities:
        """What it was told to offer."""
        return self._abilities

    async def start(self) -> None:
        """Count the start."""
        self.starts += 1

    async def close(self) -> None:
        """Count the close."""
        self.closes += 1

    async def reply(self, request: Request) -> Reply:
        """Say what the script says. Raises the CallError it gives, or CallFailedError for any other exception."""
        self._receive(request)
        try:
            if self._delay:
                await asyncio.sleep(self._delay)
            return await self._say(request)
        finally:
            self._in_play -= 1

    def _receive(self, request: Request) -> None:
        self.asked += 1
        self.received.append(request)
        self._in_play += 1
        self.most_at_once = max(self.most_at_once, self._in_play)

    async def _say(self, request: Request) -> Reply:
        try:
            what = self._script(request)
            if inspect.isawaitable(what):
                what = await what
        except Exception as error:  # noqa: BLE001 (whatever a script raises is something it says)
            what = error
        if isinstance(what, CallError):
            raise what
        if isinstance(what, Exception):
            raise CallFailedError(f"the script of {self._subject.name} raised {one_line(what)}") from what
        if isinstance(what, str):
            return said(what)
        if isinstance(what, tuple):
            return Reply(values=what)
        if isinstance(what, Reply):
            return what
        why = f"the script of {self._subject.name} gave {type(what).__name__}: give a text, numbers or a Reply"
        raise CallFailedError(why)


class FakeBatch(Fake):
    """A fake that also answers many requests at once. `batches` holds the size of each batch that came."""

    def __init__(
        self, script: Script, name: str = "fake", *, size: int, delay: float = 0.0, abilities: Abilities = EVERYTHING
    ) -> None:
        super().__init__(script, name, delay=delay, abilities=abilities)
        self.size = size
        self.batches: list[int] = []

    def affinity(self, request: Request) -> str:
        """The prompt, then the whole request: equal beginnings sort together, and ties have one order."""
        return f"{prompt_of(request)}\x00{canonical(request).decode()}"

    async def replies(self, requests: Sequence[Request]) -> Sequence[Reply | CallError]:
        """Answer all, in order, after one delay."""
        self.batches.append(len(requests))
        for request in requests:
            self._receive(request)
        try:
            if self._delay:
                await asyncio.sleep(self._delay)
            return [await self._outcome(request) for request in requests]
        finally:
            self._in_play -= len(requests)

    async def _outcome(self, request: Request) -> Reply | CallError:
        try:
            return await self._say(request)
        except CallError as error:
            return error
