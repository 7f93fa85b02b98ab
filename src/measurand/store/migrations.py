"""The schema's version: an older store is brought up to date in one transaction, a newer one is refused.

To change the schema: change `schema.py`, append to MIGRATIONS the function that turns the last version into
the new one, and add a store written by the last release to the tests.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, func, insert, inspect, select, update

from measurand.core.errors import StoreError
from measurand.store import schema


def add_decisions(connection: Connection) -> None:
    """Version 2 keeps signed decisions."""
    schema.decision.create(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (add_decisions,)
"""The function at place n turns version n + 1 into version n + 2."""

ADDITIONS = frozenset({add_decisions})
"""Migrations that only add a table: a store without it can still be read as it is."""


def latest() -> int:
    """The version that this program writes."""
    return 1 + len(MIGRATIONS)


def readable(version: int) -> bool:
    """Whether a store of that version can be read without bringing it up to date."""
    return all(migrate in ADDITIONS for migrate in MIGRATIONS[version - 1 :])


def check(connection: Connection, where: str) -> int:
    """The version of the store: 0 for an empty file. Refuses a newer one and other programs' databases."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return 0
    found = None
    if {schema.version.name, schema.journal.name} <= set(tables):
        found = connection.execute(select(func.max(schema.version.c.version))).scalar()
    if found is None:
        raise StoreError(f"{where} is another program's database; give the path of a store, or of a new file.")
    if found > latest():
        raise StoreError(
            f"The store {where} has schema version {found} and this program knows versions up to {latest()}; "
            "install the release of measurand that wrote it, or a later one.",
        )
    return int(found)


def bring_up_to_date(connection: Connection, where: str) -> None:
    """Create or migrate the tables. The caller's transaction makes it all or nothing."""
    found = check(connection, where)
    if found == 0:
        schema.metadata.create_all(connection)
        connection.execute(insert(schema.version), {"version": latest()})
        return
    for migrate in MIGRATIONS[found - 1 :]:
        migrate(connection)
    if found < latest():
        connection.execute(update(schema.version).values(version=latest()))
