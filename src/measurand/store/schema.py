"""The tables: thin rows, integer references, long texts elsewhere. Portable types only.

`body` columns hold JSON as `texts.py` packs it. Times are microseconds since 1970, UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _to(name: str, table: str, *, optional: bool = False) -> Column[int]:
    return Column(name, Integer, ForeignKey(f"{table}.id"), nullable=optional)


def _of_trial(name: str, *columns: Column[int] | Column[bytes] | Column[str]) -> Table:
    """A table of what belongs to a trial: stored in the order of trials, and gone with its trial."""
    owner = Column("trial", Integer, ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    place = Column("place", Integer, primary_key=True, autoincrement=False)
    return Table(name, metadata, owner, place, *columns, sqlite_with_rowid=False)


version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

name = Table("name", metadata, _id(), Column("text", Text, nullable=False, unique=True))

blob = Table(
    "blob",
    metadata,
    Column("hash", LargeBinary(16), primary_key=True),
    Column("deflated", Boolean, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

subject = Table(
    "subject",
    metadata,
    _id(),
    Column("key", String(64), nullable=False, unique=True),
    Column("body", LargeBinary),
)

protocol = Table(
    "protocol",
    metadata,
    _id(),
    Column("key", String(64), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)

item_set = Table("item_set", metadata, _id(), Column("sha256", String(64), nullable=False, unique=True))

# The items of a set are written at once, so the order of their ids is the order of the plan.
item = Table(
    "item",
    metadata,
    _id(),
    _to("item_set", "item_set"),
    Column("item_no", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("item_set", "item_no"),
)

run = Table(
    "run",
    metadata,
    _id(),
    Column("key", String(16), nullable=False, unique=True),
    _to("protocol", "protocol"),
    _to("subject", "subject"),
    _to("item_set", "item_set"),
    Column("body", LargeBinary, nullable=False),
)

# `process` names a process for good (its id and start); `counted` says that its losses have been reported.
session = Table(
    "session",
    metadata,
    _id(),
    Column("run", Integer, ForeignKey("run.id"), nullable=False, index=True),
    Column("host", Text, nullable=False),
    Column("process", Text, nullable=False),
    Column("concurrency", Integer, nullable=False),
    Column("began", BigInteger, nullable=False),
    Column("ended", BigInteger),
    Column("in_flight", Integer, nullable=False),
    Column("counted", Boolean, nullable=False),
)

journal = Table(
    "journal",
    metadata,
    _id(),
    Column("key", LargeBinary(16), nullable=False, unique=True),
    _to("subject", "subject"),
    Column("ran", Boolean, nullable=False),
    Column("sent", LargeBinary, nullable=False),
    Column("received", LargeBinary, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
)

trial = Table(
    "trial",
    metadata,
    _id(),
    _to("run", "run"),
    _to("item", "item"),
    Column("sample_no", Integer, nullable=False),
    Column("member", Text, nullable=False),
    _to("outcome", "name"),
    Column("body", LargeBinary, nullable=False),
    Column("cost", Float),
    Column("started", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    UniqueConstraint("run", "item", "sample_no", "member"),
)

# A call is in the journal, or kept here whole. `of` is null where it is just the trial.
call = _of_trial("call", _to("role", "name"), _to("journal", "journal", optional=True), Column("body", LargeBinary))
call.append_constraint(CheckConstraint("journal IS NOT NULL OR body IS NOT NULL", name="call_is_known"))

reading = _of_trial(
    "reading",
    _to("reader", "name"),
    Column("step", Integer),
    Column("of", Text),
    Column("body", LargeBinary, nullable=False),
)

score = _of_trial(
    "score",
    _to("metric", "name"),
    _to("by", "name"),
    Column("of", LargeBinary),
    Column("body", LargeBinary, nullable=False),
)

# A decision that somebody signed is never changed: a later one supersedes it.
decision = Table(
    "decision",
    metadata,
    _id(),
    Column("key", String(16), nullable=False),
    Column("signer", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("key", "signer"),
)
