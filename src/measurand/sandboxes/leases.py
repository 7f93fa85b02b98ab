"""What this process must not leave behind, written down so that others can remove it once the process is dead.

Each process that leases anything owns a folder in the user's state directory. It holds a lock there, which the
kernel drops when the process ends in whatever way; that, and not a process number, tells the living from the
dead. A reaper outside, which ends as soon as the owner does, clears up after a kill; whatever outlives even the
reaper is listed and removed by `measurand doctor`.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from measurand.core.errors import SandboxError
from measurand.core.record import Record

LABEL = "measurand.owner"
"""The label of containers; its value is the name of the owner's folder."""

ENGINE_SECONDS = 60.0
"""How long a container engine may take to answer one command."""

_OWNER = "owner.json"
_STALE_SECONDS = 60.0
_PASSED_ON = ("PATH", "HOME", "XDG_STATE_HOME", "TMPDIR", "PYTHONPATH", "DOCKER_HOST", "DOCKER_CONTEXT")

Kind = Literal["jail", "folder", "containers"]


class Lease(Record, frozen=True):
    """One thing to remove: a process by number and start time, a folder by path, containers by their label."""

    kind: Kind
    what: str
    started: int = 0


class Holder(Record, frozen=True):
    """Who owns leases: a process by number and start time (in ticks since the machine started)."""

    pid: int
    started: int
    since: str


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a dead owner left, in words."""

    kind: Kind
    what: str
    owner: int
    since: str


class Owner:
    """This process as an owner of leases. `name` is unique and is the value of the label of its containers."""

    def __init__(self, state: Path) -> None:
        self.name = f"{os.getpid()}-{secrets.token_hex(6)}"
        self.pid = os.getpid()
        self._folder = state / self.name
        new = state / f".new-{self.name}"
        try:
            new.mkdir(parents=True, mode=0o700)
            holder = Holder(self.pid, started(self.pid), time.strftime("%Y-%m-%d %H:%M:%S"))
            (new / _OWNER).write_bytes(msgspec.json.encode(holder))
            self._lock = os.open(new / _OWNER, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            new.rename(self._folder)
        except OSError as error:
            raise SandboxError(
                f"leases cannot be written to {state} ({error.strerror}): set XDG_STATE_HOME to a folder of yours"
            ) from error
        self._reaper = _start_reaper(state)
        atexit.register(self.close)

    @contextmanager
    def lease(self, lease: Lease) -> Iterator[None]:
        """Hold a lease; whoever holds it removes the thing itself, before this ends."""
        path = self._folder / f"{secrets.token_hex(8)}.json"
        path.write_bytes(msgspec.json.encode(lease))
        try:
            yield
        finally:
            path.unlink(missing_ok=True)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A fresh folder for this user alone, removed at the end with everything in it."""
        path = Path(tempfile.gettempdir()) / f"measurand-{secrets.token_hex(16)}"
        with self.lease(Lease("folder", str(path))):
            path.mkdir(mode=0o700)
            try:
                yield path
            finally:
                remove_tree(path)

    def close(self) -> None:
        """Give the folder back. Leases that are still held are left to the reaper."""
        if os.getpid() != self.pid:
            return  # a forked child: what it inherited is not its own
        with contextlib.suppress(OSError):
            if [entry.name for entry in self._folder.iterdir()] == [_OWNER]:
                shutil.rmtree(self._folder)


_owner: Owner | None = None


def owner() -> Owner:
    """The owner that this process is. Raises SandboxError where leases cannot be written down."""
    global _owner  # noqa: PLW0603 - a process is one owner, however many sandboxes it has
    if _owner is None or _owner.pid != os.getpid():
        _owner = Owner(state_folder())
    return _owner


def state_folder() -> Path:
    """Where this user's leases are written down."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "measurand" / "leases"


def leftovers() -> list[Leftover]:
    """What dead owners have left. Removes nothing."""
    return [_told(lease, holder) for _, holder, leases in _dead(state_folder()) for _, lease in leases if _there(lease)]


def clean() -> list[Leftover]:
    """Remove what dead owners have left and return it. What a living owner holds is never touched.

    What cannot be removed stays written down, and is not in the list.
    """
    removed = []
    for folder, holder, leases in _dead(state_folder()):
        for path, lease in leases:
            there = _there(lease)
            if there and not _remove(lease):
                continue
            path.unlink(missing_ok=True)
            if there:
                removed.append(_told(lease, holder))
        with contextlib.suppress(OSError):
            if [entry.name for entry in folder.iterdir()] == [_OWNER]:
                shutil.rmtree(folder)
    return removed


def started(pid: int) -> int:
    """When a process was started, in ticks since the machine was; 0 where it does not live, or without /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in {"Z", "X"} else int(fields[19])


def remove_tree(path: Path) -> bool:
    """Remove a folder that a stranger has filled: links are not followed, and no mode keeps it alive."""
    for top, folders, _ in os.walk(path):  # does not follow links
        for folder in [top, *(os.path.join(top, name) for name in folders)]:  # noqa: PTH118 - as os.walk gives them
            if not os.path.islink(folder):  # noqa: PTH114 - as os.walk gives them
                with contextlib.suppress(OSError):
                    os.chmod(folder, 0o700)  # noqa: PTH101 - as os.walk gives them
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def _dead(state: Path) -> Iterator[tuple[Path, Holder, list[tuple[Path, Lease]]]]:
    """The folders of dead owners, each locked while it is looked at."""
    for folder in sorted(state.iterdir()) if state.is_dir() else []:
        try:
            lock = os.open(folder / _OWNER, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.name.startswith(".") and time.time() - folder.stat().st_mtime < _STALE_SECONDS:
                continue  # its owner is about to lock it
            holder = msgspec.json.decode((folder / _OWNER).read_bytes(), type=Holder)
            yield folder, holder, [(path, _read(path)) for path in folder.glob("*.json") if path.name != _OWNER]
        except (BlockingIOError, FileNotFoundError, msgspec.MsgspecError):
            continue  # it lives, another is at work here, or it was cut off while it was being written
        finally:
            os.close(lock)


def _read(path: Path) -> Lease:
    """What is cut off was never come to: a lease is written before there is anything to remove."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Lease)
    except msgspec.MsgspecError:
        return Lease("jail", "0")


def _there(lease: Lease) -> bool:
    match lease.kind:
        case "jail":
            return lease.started != 0 and started(int(lease.what)) == lease.started
        case "folder":
            return os.path.lexists(lease.what)
        case "containers":
            found = _containers(lease.what)
            return found is None or bool(found)


def _remove(lease: Lease) -> bool:
    match lease.kind:
        case "jail":
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(lease.what), signal.SIGKILL)
            return True
        case "folder":
            return not Path(lease.what).is_symlink() and remove_tree(Path(lease.what))
        case "containers":
            found = _containers(lease.what)
            return found is not None and engine("rm", "--force", *found).returncode == 0


def _containers(name: str) -> list[str] | None:
    """The containers of an owner; None where no engine answers."""
    done = engine("ps", "--all", "--quiet", "--filter", f"label={LABEL}={name}")
    return done.stdout.split() if done.returncode == 0 else None


def engine(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Have the container engine do something. Where there is none, the return code is 127."""
    path = shutil.which("docker")
    if path is None:
        return subprocess.CompletedProcess(arguments, 127, "", "docker is not installed")
    try:
        return subprocess.run(  # noqa: S603 - our own command
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ENGINE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return subprocess.CompletedProcess(arguments, 127, "", str(error))


def _told(lease: Lease, holder: Holder) -> Leftover:
    return Leftover(lease.kind, lease.what, holder.pid, holder.since)


def _start_reaper(state: Path) -> int:
    """A process that waits for ours to end and then cleans up. Returns the descriptor that it waits on.

    It is a session of its own, so that what interrupts us does not interrupt it, and it holds none of our
    descriptors, so that nobody waits for it. It knows no secret of our environment.
    """
    reading, writing = os.pipe()
    nowhere = os.open(os.devnull, os.O_RDWR)
    environment = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
    environment["XDG_STATE_HOME"] = str(state.parent.parent)
    root = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {root!r}); from measurand.sandboxes.leases import reap; reap()"
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", code],
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), *((os.POSIX_SPAWN_DUP2, nowhere, fd) for fd in (1, 2))],
            setsid=True,
        )
    except OSError:
        pass  # then `measurand doctor` is left, and the next owner's reaper
    finally:
        os.close(reading)
        os.close(nowhere)
    return writing


def reap() -> None:
    """The reaper's work: clear up after those who died before, wait for our owner to end, clear up after it."""
    os.chdir("/")
    clean()
    while os.read(0, 1):
        pass
    for _ in range(20):  # the lock may be dropped a moment after the pipe is closed
        clean()
        time.sleep(0.1)
