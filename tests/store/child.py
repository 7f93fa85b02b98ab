"""Work on a store in a process of its own, to be killed, limited or raced: `python child.py WHAT PATH …`."""

from __future__ import annotations

import asyncio
import resource
import signal
import sys

from measurand.core.errors import StoreError
from measurand.core.ports import CallMade, Store
from measurand.core.run import Slot
from measurand.store import open_store
from tests.store.examples import SUBJECT_ID, asked, items, key_of, marks, protocol, run, trial

CONCURRENCY = 16
TEXT = "what was said " * 30


def say(what: object) -> None:
    """Tell the parent at once."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


async def journal(store: Store, name: str, n: int, *, tell: bool) -> None:
    """Record n calls at once in the name of somebody, and tell of each one that is acknowledged."""
    numbers = iter(range(n))

    async def worker() -> None:
        for number in numbers:
            await store.record(key_of(f"{name} {number}"), SUBJECT_ID, asked(number, f"{name} {number} {TEXT}"))
            if tell:
                say(number)

    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))


async def trials(store: Store, name: str, n: int) -> None:
    """Work on one shared run: every process finishes a sample of its own."""
    shared, sample = run(n, 2), int(name)
    store.open_run(shared, protocol(n, 2), items(n))
    session = store.begin_session(shared.id, CONCURRENCY)
    say(f"unclean {session.unclean}")
    for number in range(n):
        slot, key = Slot(number, sample), key_of(f"{name} {number}")
        await store.record(key, SUBJECT_ID, asked(number))
        store.finish(slot, trial(shared, slot), [CallMade("target", key)], marks(shared, slot))
    await store.flush()
    store.end_session(session.id, 0)


async def session(store: Store) -> None:
    """Begin a session and wait to be killed."""
    shared = run(1)
    store.open_run(shared, protocol(1), items(1))
    say(f"unclean {store.begin_session(shared.id, CONCURRENCY).unclean}")
    await asyncio.Event().wait()


def main(what: str, path: str, name: str = "", n: str = "0", limit: str = "0") -> None:
    store = open_store(path)
    if int(limit):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    if what == "session":
        asyncio.run(session(store))
    elif what == "trials":
        asyncio.run(trials(store, name, int(n)))
    else:
        asyncio.run(journal(store, name, int(n), tell=what == "tell"))
    store.close()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except StoreError as error:
        sys.exit(f"StoreError: {error}")
