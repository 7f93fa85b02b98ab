"""The outermost door: what was paid for once is replayed, and what is new is committed before it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from measurand.core.call import Asked, Reply
from measurand.core.errors import CallFailedError

if TYPE_CHECKING:
    from measurand.core.ports import Store
    from measurand.run.doors import Ask, Door
    from measurand.run.meter import Meter


class Journal:
    """Replays from the store, or asks once and records.

    Two trials that ask the same thing at the same time share one request. With `offline` nothing is asked:
    what the journal lacks is a failure that says so.
    """

    def __init__(self, store: Store, inner: Door, meter: Meter, *, offline: bool = False) -> None:
        self._store = store
        self._inner = inner
        self._meter = meter
        self._offline = offline
        self._known: dict[bytes, Reply | None] = {}
        self._pending: dict[bytes, asyncio.Future[Reply] | None] = {}

    def look_ahead(self, keys: Sequence[bytes]) -> None:
        """Look up many keys at once, so that the calls to come need no query each."""
        found = self._store.recall(keys)
        self._known.update((key, _reply(found.get(key))) for key in keys)

    async def __call__(self, ask: Ask) -> Reply:
        """Replay, join a request already on its way, or ask."""
        key = ask.key
        looked_up = key in self._known
        known = self._known.pop(key) if looked_up else _reply(self._store.recall((key,)).get(key))
        if known is not None:
            self._meter.replayed += 1
            self._meter.served.add(known.served_as)
            return known
        if self._offline:
            message = "this reply is not in the store; run it with a subject to ask for it"
            raise CallFailedError(message, where="journal")
        if key in self._pending:
            waiting = self._pending[key]
            if waiting is None:
                waiting = self._pending[key] = asyncio.get_running_loop().create_future()
            return await asyncio.shield(waiting)
        return await self._ask_once(ask)

    async def _ask_once(self, ask: Ask) -> Reply:
        key = ask.key
        self._pending[key] = None
        try:
            reply = await self._inner(ask)
            await self._store.record(key, ask.subject_id, Asked(ask.request, reply))
            self._meter.served.add(reply.served_as)
        except BaseException as error:
            waiting = self._pending.pop(key)
            if waiting is not None and not waiting.done():
                waiting.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
                waiting.exception()  # seen: whoever joined may have gone away too
            raise
        waiting = self._pending.pop(key)
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)
        return reply


def _reply(found: object) -> Reply | None:
    return found if isinstance(found, Reply) else None
