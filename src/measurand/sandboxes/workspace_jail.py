"""The jail of a workspace: how it is built, held and ended."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from measurand.core.errors import SandboxError
from measurand.sandboxes.jail.codec import encode
from measurand.sandboxes.jail.workspace_mounts import FOLDERS, GROUND
from measurand.sandboxes.jailed import printable
from measurand.sandboxes.leases import Lease, owner, started
from measurand.sandboxes.room import (
    Room,
    as_user,
    close_all,
    filter_file,
    find_room,
    memory_file,
    module_files,
    outside_uid,
    top_level,
)

if TYPE_CHECKING:
    from measurand.core.workspace import WorkspaceLimits
    from measurand.sandboxes.workspace_base import Base

_DEATH_SECONDS = 10.0
_INIT = re.compile(rb'"child-pid": (\d+)')
_MOUNTS = Path(__file__).parent / "jail" / "workspace_mounts.py"
_NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SYSTEM = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_PATH = "/usr/local/bin:/usr/bin:/bin:/python/bin"
_PLACES = dict(zip(FOLDERS, ("/work", "/tmp", "/dev/shm", "/run"), strict=True))  # noqa: S108 - the jail's own

_PROC_MEND = "inside Docker, /proc can be mounted with `--security-opt systempaths=unconfined`"

_turns = itertools.count()


class WorkspaceJail:
    """Bubblewrap's process, and the driver that is the first process of the namespaces behind it."""

    def __init__(self, process: subprocess.Popen[bytes], init: int | None, fds: Sequence[int]) -> None:
        self._process = process
        self._init = init
        self._said = fds[0]
        self._fds = fds
        self._leases = contextlib.ExitStack()
        if init is not None:
            self._leases.enter_context(owner().lease(Lease("jail", str(init), started(init))))

    @classmethod
    async def start(cls, limits: WorkspaceLimits, base: Base | None, control: socket.socket) -> Self:
        """Build one. Raises SandboxError where there is no way to."""
        room = await asyncio.to_thread(room_of_workspaces)
        owner()
        uid = base.uid if base else outside_uid(next(_turns))
        inside = {"memory": limits.memory_bytes, "disk": limits.disk_bytes, "processes": limits.processes}
        job = memory_file(encode((inside, _shell(), _environment())))
        said = os.memfd_create("measurand")
        reading, informing = os.pipe()
        seccomp = filter_file()
        files = [*module_files("workspace_disk", "workspace_driver"), *_accounts()]
        mounts = [_outside_interpreter(room), "-sSB", "-c", _MOUNTS.read_text("utf-8")]
        command = [
            *mounts,
            str(base.path) if base else "",
            str(limits.disk_bytes),
            *_command(room, files, (informing, seccomp), base),
        ]
        try:
            process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own command; it is not waited for
                [*command, str(job), str(control.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                pass_fds=[job, control.fileno(), informing, seccomp, *(fd for fd, _ in files)],
                start_new_session=True,
                cwd="/",
                env={"LANG": "C.UTF-8"},
                **as_user(uid),
            )
        except OSError as error:
            close_all([said, reading])
            raise SandboxError(f"no process could be started: {error}") from error
        finally:
            close_all([job, informing, seccomp, *(fd for fd, _ in files)])
        try:
            return cls(process, await _init_of(reading), (said, reading))
        except BaseException:
            await _end(process, None)
            close_all([said, reading])
            raise

    @property
    def outside(self) -> int:
        """The number of bubblewrap's process, from which all others descend."""
        return self._process.pid

    def complaint(self) -> str:
        """The last line that was written while the jail was being built."""
        text = os.pread(self._said, 1 << 16, 0).decode("utf-8", "backslashreplace")
        said = printable((text.strip().splitlines() or ["it gave no reason"])[-1][:300])
        return f"{said}; {_PROC_MEND}" if "mount proc" in said else said

    async def kill(self) -> None:
        """End everything inside, and wait until it is gone. The first process takes all others with it."""
        try:
            await _end(self._process, self._init)
        finally:
            self._leases.close()
            close_all(self._fds)


async def _end(process: subprocess.Popen[bytes], init: int | None) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            if init is not None:
                os.kill(init, signal.SIGKILL)  # its number cannot pass to another while bubblewrap, its parent, lives
            else:
                os.killpg(process.pid, signal.SIGKILL)
    try:
        await asyncio.shield(asyncio.to_thread(process.wait, _DEATH_SECONDS))
    except subprocess.TimeoutExpired:
        raise SandboxError(f"a workspace could not be ended within {_DEATH_SECONDS:g} seconds") from None


async def _init_of(reading: int) -> int | None:
    """The number of the first process inside, which bubblewrap names as soon as it exists; None where it failed."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(reading, ready.set)
    try:
        async with asyncio.timeout(_DEATH_SECONDS):
            await ready.wait()
    except TimeoutError:
        raise SandboxError(f"bubblewrap has not built a jail within {_DEATH_SECONDS:g} seconds; try again") from None
    finally:
        loop.remove_reader(reading)
    found = _INIT.search(os.read(reading, 1 << 12))
    return int(found[1]) if found else None


def _command(room: Room, files: Sequence[tuple[int, str]], fds: tuple[int, int], base: Base | None) -> list[str]:
    """Bubblewrap's command line. The root is read-only; all that can be written to is of the one limited size."""
    command = [room.bwrap, *(f"--unshare-{name}" for name in _NAMESPACES), "--disable-userns", "--as-pid-1"]
    command += ["--uid", "65534", "--gid", "65534", "--hostname", "jail", "--new-session", "--die-with-parent"]
    command += ["--clearenv", "--setenv", "LANG", "C.UTF-8", "--info-fd", str(fds[0]), "--seccomp", str(fds[1])]
    command += ["--ro-bind", "/usr", "/usr", *top_level(), "--proc", "/proc"]
    for path in _SYSTEM:
        command += ["--ro-bind-try", path, path]
    if room.interpreter.prefix:
        command += ["--ro-bind", room.interpreter.prefix, "/python", "--setenv", "LD_LIBRARY_PATH", "/python/lib"]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        command += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    for host, inside in base.packages if base else ():
        command += ["--ro-bind", host, inside]
    for fd, destination in files:
        command += ["--file", str(fd), destination]
    for name, place in _PLACES.items():
        command += ["--bind", f"{GROUND}/{name}", place]
    command += ["--chdir", "/work", "--remount-ro", "/", "--", room.interpreter.path, "-sSB", "-c"]
    return [
        *command,
        "import sys; sys.path[0] = '/jail'; from measurand.sandboxes.jail.workspace_driver import run; run()",
    ]


def _outside_interpreter(room: Room) -> str:
    """The interpreter as it is called outside; that the jail's user may run it has been tried."""
    path, prefix = room.interpreter.path, room.interpreter.prefix
    return f"{prefix}{path.removeprefix('/python')}" if prefix else path


def _accounts() -> list[tuple[int, str]]:
    """Files that give the jail's user a name."""
    passwd = b"root:x:0:0:root:/tmp:/bin/sh\nagent:x:65534:65534:agent:/tmp:/bin/sh\n"
    return [
        (memory_file(passwd), "/etc/passwd"),
        (memory_file(b"root:x:0:\nagent:x:65534:\n"), "/etc/group"),
        (memory_file(b"127.0.0.1 localhost\n"), "/etc/hosts"),
    ]


def _environment() -> dict[str, str]:
    return {
        "PATH": _PATH,
        "HOME": "/tmp",  # noqa: S108 - the jail's own
        "LANG": "C.UTF-8",
        "USER": "agent",
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def interpreter_inside() -> str:
    """Where Python is in a workspace. Raises SandboxError where there is none."""
    return room_of_workspaces().interpreter.path


@cache
def _shell() -> str:
    return "/bin/bash" if shutil.which("bash", path="/bin:/usr/bin") else "/bin/sh"


@cache
def room_of_workspaces() -> Room:
    """A jail that was built once, to see that it can be. Raises SandboxError with what is missing."""
    return find_room()
