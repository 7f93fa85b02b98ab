"""Who works on a run, and what sessions that never ended may have paid for in vain."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

from sqlalchemy import Connection, insert, or_, select, update

from measurand.store.schema import session

_STATE, _START = 0, 19  # fields of /proc/PID/stat behind the name, which may hold anything; see proc(5)


def host() -> str:
    """This machine since it was started: process ids mean nothing beyond that."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}".strip()


def process(pid: int) -> str:
    """A process's id and start, which together are never used twice; empty if there is no such process."""
    started = _started(pid)
    return f"{pid} {started}" if started else ""


def begin(connection: Connection, run: int, concurrency: int, now: int) -> tuple[int, int]:
    """Begin a session. Returns its id and how many requests earlier ones may have paid for in vain.

    That is, over the sessions of this run not yet counted: the concurrency of those that neither ended nor
    live, and the requests in flight of those that ended. Each is counted once, so a sum is reported once. A
    session on another machine cannot be seen, and is taken for dead.
    """
    here = host()
    rows = connection.execute(select(session).where(session.c.run == run, session.c.counted.is_(False))).all()
    lost = [row for row in rows if row.ended is not None or not (row.host == here and _lives(row.process))]
    if lost:
        done = [row.id for row in lost]
        connection.execute(update(session).where(session.c.id.in_(done)).values(counted=True))
    values = {
        "run": run,
        "host": here,
        "process": process(os.getpid()),
        "concurrency": concurrency,
        "began": now,
        "in_flight": 0,
        "counted": False,
    }
    made = connection.execute(insert(session).values(values)).inserted_primary_key
    unclean = sum(row.concurrency if row.ended is None else row.in_flight for row in lost)
    return int(made[0]) if made else 0, unclean


def end(connection: Connection, session_id: int, in_flight: int, now: int) -> None:
    """End a session; one that left nothing in flight needs no counting."""
    connection.execute(
        update(session)
        .where(session.c.id == session_id, or_(session.c.ended.is_(None), session.c.counted.is_(False)))
        .values(ended=now, in_flight=in_flight, counted=in_flight == 0),
    )


def _lives(mark: str) -> bool:
    return bool(mark) and process(int(mark.split(maxsplit=1)[0])) == mark


def _started(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat")
    try:
        fields = stat.read_text().rpartition(")")[2].split()
        return "" if fields[_STATE] in "ZX" else fields[_START]  # a zombie is dead, it only awaits burial
    except (OSError, IndexError):
        pass
    if stat.parent.parent.joinpath("self").exists():
        return ""
    try:  # where there is no /proc (macOS)
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        asked = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603 - fixed
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()
