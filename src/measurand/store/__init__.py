"""The store: every paid call in a journal before it is used, and all that was derived from it.

A store is one SQLite file in WAL mode with synchronous=NORMAL: what was acknowledged survives the death of
the process (kill -9), but not a power cut. Long texts are kept once, by hash. Any number of processes may
read it and write to it at once, on one machine; a network file system gives no such guarantee.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from measurand.core.errors import StoreError

if TYPE_CHECKING:
    from measurand.core.ports import Store

__all__ = ["open_store"]

_SQLITE = "sqlite:///"
PATIENCE_SECONDS = 30.0


def open_store(location: str | Path, *, read_only: bool = False, patience: float = PATIENCE_SECONDS) -> Store:
    """Open a store, creating it where there is none.

    Args:
        location: A path, `sqlite:///path`, or `:memory:` for one that ends with the process.
        read_only: Only read, whatever the rights; the file must exist.
        patience: How many seconds to wait while another program holds the file locked.

    Raises:
        StoreError: If it cannot be opened; the message says how to mend that.
    """
    text = str(location)
    if text in {":memory:", "sqlite://", f"{_SQLITE}:memory:"}:
        from measurand.store.memory import MemoryStore

        return MemoryStore()
    path = text.removeprefix(_SQLITE)
    if not path or "\x00" in path:
        raise StoreError("The path of the store is empty or no path; give one such as runs.db.")
    if "://" in path:
        raise StoreError(f"{_without_secrets(path)} is not a store this release can open; give the path of a file.")
    from measurand.store.sql_store import SqlStore  # here, because SQLAlchemy takes a third of a second

    return SqlStore(Path(path).expanduser(), read_only=read_only, patience=patience)


def _without_secrets(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
