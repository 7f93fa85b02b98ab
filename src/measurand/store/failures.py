"""What the database says, in a sentence that says what to do. No raw database error leaves this package."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from measurand.core.errors import StoreError

_REMEDIES = {
    "SQLITE_BUSY": "stayed locked by another program; close that program and start again, nothing recorded is lost",
    "SQLITE_LOCKED": "stayed locked by another program; close that program and start again, nothing recorded is lost",
    "SQLITE_FULL": "cannot be written because the disk is full; make room and start again, nothing recorded is lost",
    "SQLITE_READONLY": "may not be written; make the file and its folder writable, or open it for reading only",
    "SQLITE_PERM": "may not be opened; ask for the right to read and write the file and its folder",
    "SQLITE_AUTH": "may not be opened; ask for the right to read and write the file and its folder",
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and that you may read and write in it",
    "SQLITE_NOTADB": "is not a database; give the path of a store, or of a file that does not exist yet",
    "SQLITE_CORRUPT": "is damaged; use a copy of it, or recover what there is with `sqlite3 FILE .recover`",
    "SQLITE_CONSTRAINT": "was handed a trial that names an item or a call it does not hold; record calls first",
    "SQLITE_IOERR": "cannot be read or written by the operating system (no room, a limit, or a broken disk); "
    "mend that and start again, nothing recorded is lost",
    "SQLITE_TOOBIG": "was handed a value larger than a database row may be (1 GB); store less in one record",
}


def explain(error: BaseException, where: str) -> StoreError:
    """The StoreError for what went wrong with the store at `where`."""
    if isinstance(error, StoreError):
        return StoreError(str(error))
    if isinstance(error, PermissionError):
        return StoreError(f"The store {where} {_REMEDIES['SQLITE_CANTOPEN']}.")
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    code = getattr(cause, "sqlite_errorname", "") or ""
    for prefix, remedy in _REMEDIES.items():
        if code.startswith(prefix):
            return StoreError(f"The store {where} {remedy}.")
    return StoreError(f"The store {where} cannot be used: {type(cause).__name__}: {cause}.")


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Let nothing but a StoreError out of a block that talks to the database."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise explain(error, where) from error
