"""Opening the file: one engine for the writer, one for readers, and no error that a person cannot use."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from measurand.core.errors import StoreError
from measurand.store import migrations
from measurand.store.failures import explained

CACHE_KIB = 16_384
STATEMENTS = 512  # kept prepared: one for each table and number of rows that are written together
LOG_PAGES = 4000  # 16 MB: what is copied to the file less often is copied fewer times
_PAUSE_SECONDS = 0.02
_NO_PLACE = frozenset({"SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY", "SQLITE_READONLY_CANTINIT"})


def open_for_writing(path: Path, patience: float) -> Engine:
    """An engine whose transactions write. Creates or migrates the tables.

    `patience` is how many seconds to wait for another program's lock.
    """
    refuse_what_is_no_file(path)

    def connect() -> sqlite3.Connection:
        connection = _connect(f"{path.absolute().as_uri()}?mode=rwc", patience)
        _switch_to_wal(connection, patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        return connection

    with explained(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=1, max_overflow=0)
        # IDs are taken inside the transaction, so it must be the only writing one from its first statement.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        try:
            with engine.begin() as connection:
                migrations.bring_up_to_date(connection, str(path))
        except BaseException:
            engine.dispose()
            raise
    return engine


def open_for_reading(path: Path, patience: float) -> Engine:
    """An engine that only reads, whatever the rights of file and folder; usable while others write."""
    refuse_what_is_no_file(path)
    if not path.exists():
        raise StoreError(f"There is no store at {path}; check the path, or run something first.")

    def connect() -> sqlite3.Connection:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        try:
            connection = _connect(uri, patience)
        except sqlite3.OperationalError as error:
            # A folder that may not be written has no place for the index of the log. Without a log there is
            # nothing to index, and nobody can be writing.
            if error.sqlite_errorname not in _NO_PLACE or _has_log(path):
                raise
            connection = _connect(f"{uri}&immutable=1", patience)
        connection.execute("PRAGMA query_only = ON")
        return connection

    with explained(str(path)):
        engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=-1)
        try:
            with engine.connect() as connection:
                version = migrations.check(connection, str(path))
        except BaseException:
            engine.dispose()
            raise
    if not migrations.readable(version):
        engine.dispose()
        raise StoreError(
            f"The store {path} has schema version {version} and this program reads version {migrations.latest()}; "
            "open it once for writing, which brings it up to date.",
        )
    return engine


def refuse_what_is_no_file(path: Path) -> None:
    """Refuse a folder, and anything else that is no plain file."""
    with explained(str(path)):
        if path.is_dir():
            raise StoreError(f"{path} is a folder; give the path of a file in it, such as {path / 'store.db'}.")
        if path.exists() and not path.is_file():
            raise StoreError(f"{path} is not a file; give the path of a store, or of a new file.")
        if path.exists() and not os.access(path, os.R_OK):
            raise StoreError(f"The store {path} may not be read; ask for the right to read the file.")


def _connect(uri: str, patience: float) -> sqlite3.Connection:
    options: dict[str, Any] = {"isolation_level": None, "check_same_thread": False, "cached_statements": STATEMENTS}
    connection: sqlite3.Connection = sqlite3.connect(uri, uri=True, timeout=patience, **options)
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # the first to look into the file
    except BaseException:
        connection.close()
        raise
    return connection


def _switch_to_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Turn the write-ahead log on. SQLite does not wait for this lock by itself, so we do."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                connection.close()
                raise
            time.sleep(_PAUSE_SECONDS)
        except BaseException:
            connection.close()
            raise
        else:
            return


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0
