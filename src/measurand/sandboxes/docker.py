"""Programs in containers, where a Docker engine answers: for machines that allow no user namespaces."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from measurand.core.errors import SandboxError
from measurand.sandboxes.clock import WORK, factor_of
from measurand.sandboxes.jail.container_relay import CHUNK, FRAME, HEAD
from measurand.sandboxes.jailed import Handed, Jail, printable
from measurand.sandboxes.jailer import Found, Jailer
from measurand.sandboxes.leases import ENGINE_SECONDS, LABEL, Lease, engine, owner
from measurand.sandboxes.room import FIRST_UID, UIDS, Interpreter, Room, users

if TYPE_CHECKING:
    from measurand.core.ports import Isolation
    from measurand.core.program import Program
    from measurand.sandboxes.verdict import StartJail

IMAGE = "python:3.12-slim"
"""The default image; any with `python3` (3.9 or later) on its PATH will do. It is never pulled by us."""

_MODULES = Path(__file__).parent / "jail"
_JOIN_SECONDS = 3.0
_GRACE_SECONDS = 10.0
_OVERHEAD_BYTES = 64 << 20
_OVERHEAD_PROCESSES = 8
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}  # noqa: S108 - the container's own
_TRIAL = f"import os, platform\nassert os.getuid() != 0\nprint(platform.python_version())\n{WORK}"

_turns = itertools.count()


class Docker(Jailer):
    """A sandbox that runs each part of a program in a container, which is removed before the result is given.

    No network, no capabilities, no new privileges, a read-only image, temporary folders of limited size, an
    unprivileged user that differs from container to container, limits on processes, memory without swap and one
    core. Containers carry a label, by which a reaper outside removes them should this process be killed.
    """

    by = "docker"

    def __init__(self, parallel: int | None = None, image: str = IMAGE) -> None:
        super().__init__(parallel)
        self._image = image
        self._label = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._leases = contextlib.ExitStack()
        self._leased = False

    def describe(self) -> Isolation:
        """The isolation found by starting a container, once."""
        told = super().describe()
        if told.level == "none":
            return told
        detail = told.detail.replace(users(), f"image {self._image}; unprivileged users from {FIRST_UID} on")
        return msgspec.structs.replace(told, level="container", detail=detail)

    async def close(self) -> None:
        """Remove what there should be nothing of, and give the lease back."""
        self._leases.close()
        self._leased = False

    def find(self) -> Found:
        """Ask the engine, look for the image, and run a container."""
        if shutil.which("docker") is None:
            raise SandboxError("docker is not installed, so no program is run in containers: install it")
        done = engine("version", "--format", "{{.Server.Version}}")
        if done.returncode != 0:
            raise SandboxError(
                f"no Docker engine answers ({_last(done)}), so no program is run in containers: "
                "start it, or set DOCKER_HOST"
            )
        if engine("image", "inspect", "--format", "{{.Id}}", self._image).returncode != 0:
            raise SandboxError(
                f"Docker has no image {self._image}, so no program is run in containers: `docker pull {self._image}`"
            )
        with owner().lease(Lease("containers", self._label)):
            name = f"measurand-{self._label}-try"
            command = container(name, self._label, self._image, disk_bytes=1 << 20, memory_bytes=1 << 28, processes=32)
            trial = engine(*command, _TRIAL)
            engine("rm", "--force", name)
        if trial.returncode != 0:
            raise SandboxError(
                f"Docker cannot run a program in the image {self._image} ({_last(trial)}): give an image with python3"
            )
        version, seconds = trial.stdout.split()
        return Found(Room("docker", Interpreter("python3"), version, factor_of(float(seconds))))

    @contextlib.asynccontextmanager
    async def starting(self, room: Room, program: Program) -> AsyncIterator[StartJail]:
        """Each container is on its own."""
        del room, program
        if not self._leased:
            self._leases.enter_context(owner().lease(Lease("containers", self._label)))
            self._leased = True
        yield partial(DockerJail, self._image, self._label)


class DockerJail(Jail):
    """One container. Its two streams carry everything; threads take that apart into the descriptors of a jail."""

    def __init__(self, image: str, label: str, *args: Any, **options: Any) -> None:
        self._image = image
        self._label = label
        self._name = f"measurand-{label}-{next(_turns)}"
        super().__init__(*args, **options)

    async def kill(self) -> None:
        """Remove the container, and then what served it here."""
        try:
            await asyncio.shield(asyncio.to_thread(self._remove))
        finally:
            await super().kill()

    def _launch(self, handed: Handed) -> None:
        limits = handed.limits
        command = container(
            self._name,
            self._label,
            self._image,
            disk_bytes=limits.disk_bytes,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
        )
        head = _head(handed)
        streams = [os.dup(fd) for fd in (handed.begun, handed.out, handed.err, *handed.channels[1:])]
        incoming = os.dup(handed.channels[0]) if handed.channels else None
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command; the program comes by its stream
                ["docker", *command, (_MODULES / "container_relay.py").read_text("utf-8")],  # noqa: S607 - looked for on PATH when the engine was
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=handed.err,
                start_new_session=True,
            )
        except OSError:
            for fd in (*streams, *([] if incoming is None else [incoming])):
                os.close(fd)
            raise
        to, back = self._process.stdin, self._process.stdout
        self._threads = [
            threading.Thread(target=_feed, args=(to, head, incoming), daemon=True),
            threading.Thread(target=_sort, args=(back, streams), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        os.write(handed.informed, b"started")

    def _first_process(self, said: bytes, fds: list[int]) -> int | None:
        """Here that is the client, which ends when the container does."""
        del said, fds
        return os.pidfd_open(self._process.pid)

    async def _bury(self) -> None:
        for thread in self._threads:
            await asyncio.to_thread(thread.join, _JOIN_SECONDS)
        self._process.wait()

    def _remove(self) -> None:
        """Remove it until it is certain that it is gone: the engine may still be busy making it."""
        for _ in range(int(ENGINE_SECONDS)):
            ended = self._process.poll() is not None
            done = engine("rm", "--force", self._name)
            if done.returncode == 0 and "No such container" not in done.stderr:
                return
            if ended:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.2)
        raise SandboxError(f"the container {self._name} could not be removed: {_last(done)}")


def container(name: str, label: str, image: str, *, disk_bytes: int, memory_bytes: int, processes: int) -> list[str]:
    """The arguments of `docker` that run a program in a new container, all but the program itself."""
    uid = FIRST_UID + next(_turns) % UIDS
    memory = memory_bytes + disk_bytes + _OVERHEAD_BYTES
    folder = f"rw,nosuid,nodev,mode=1777,size={disk_bytes},nr_inodes={disk_bytes // 4096 + 64}"
    command = ["run", "--interactive", "--name", name, "--label", f"{LABEL}={label}"]
    command += ["--label", f"measurand.pid={os.getpid()}", "--pull=never", "--init", "--log-driver=none"]
    command += ["--network=none", "--ipc=none", "--hostname=jail", "--read-only", "--cap-drop=ALL"]
    command += ["--security-opt=no-new-privileges", f"--user={uid}:{uid}", "--ulimit=core=0"]
    command += [f"--pids-limit={processes + _OVERHEAD_PROCESSES}", f"--memory={memory}", f"--memory-swap={memory}"]
    command += ["--cpus=1", f"--tmpfs=/tmp:{folder}", "--tmpfs=/jail:rw,nosuid,nodev,mode=1777,size=4m"]
    for proxy in _PROXIES:  # the client's own settings would put them there, passwords included
        command += ["--env", f"{proxy}=", "--env", f"{proxy.lower()}="]
    return [*command, "--workdir=/tmp", "--entrypoint=python3", image, "-sSB", "-c"]


def _head(handed: Handed) -> bytes:
    package = "measurand.sandboxes.jail"
    files = {
        f"/jail/{package.replace('.', '/')}/{name}.py": (_MODULES / f"{name}.py").read_text("utf-8")
        for name in ("codec", "inside", handed.driver)
    }
    head = {
        "code": f"import sys; sys.path[0] = '/jail'; from {package}.{handed.driver} import run; "
        f"from {package}.inside import enter; run(*enter())",
        "files": files,
        "environment": _ENVIRONMENT,
        "job": _all(handed.job).decode("latin-1"),
        "stdin": _all(handed.stdin).decode("latin-1"),
        "streams": 3 + len(handed.channels[1:]),
        "seconds": handed.limits.wall_seconds * 11 + _GRACE_SECONDS,
    }
    data = json.dumps(head).encode()
    return HEAD.pack(len(data)) + data


def _all(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def _feed(to: IO[bytes], head: bytes, incoming: int | None) -> None:
    """Write the head, and then whatever comes in, until it ends or nobody takes it."""
    with contextlib.suppress(OSError), to:
        to.write(head)
        to.flush()
        while incoming is not None and (data := os.read(incoming, CHUNK)):
            to.write(data)
            to.flush()
    if incoming is not None:
        os.close(incoming)


def _sort(back: IO[bytes], streams: list[int]) -> None:
    """Take frames apart until they end; what makes no sense ends them too. Nobody need read a stream."""
    live = dict(enumerate(streams))
    with contextlib.suppress(OSError), back:
        while len(head := back.read(FRAME.size)) == FRAME.size:
            number, length = FRAME.unpack(head)
            if length > CHUNK or number >= len(streams):
                break
            if length == 0 and number in live:
                os.close(live.pop(number))
            rest = memoryview(back.read(length))
            try:
                while rest and number in live:
                    rest = rest[os.write(live[number], rest) :]
            except OSError:
                os.close(live.pop(number))
    for fd in live.values():
        os.close(fd)


def _last(done: subprocess.CompletedProcess[str]) -> str:
    return printable((done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1][:300])
