"""A warm interpreter that forks a jail for each request: what is imported once need not be imported again.

It runs inside bubblewrap and never runs anybody's code itself. Each request forks a process into user, process,
mount, network, IPC, host-name and cgroup namespaces of its own; that process makes itself harmless and hands over
to a driver, as if it had just been started. It has to stay with one thread, for it forks.

Only a test has no network namespace of its own, the costliest of all. It is left in the server's, which is as empty,
and where it is alone: a server keeps one examiner at a time, and the candidate is in another.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import struct
import sys
from functools import partial

from measurand.sandboxes.jail.inside import begin, report, take

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from collections.abc import Callable

DRIVERS = ("candidate_driver", "script_driver", "examiner_driver")

READY = b"ready"
"""What the server says first. After that each message is a request: the disk's bytes and the driver's name."""

REQUEST = struct.Struct(">QB")
"""The size of the disk, and the index of the driver. With it come the descriptors of `HANDED` and the channels."""

HANDED = 6
"""Job, standard input, output and error, the watcher's pipe, and the socket that gets the jail's first process."""

_MOST_DESCRIPTORS = 16
_WARM = (
    *("bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools", "json", "math", "operator"),
    *("random", "re", "string", "time", "typing"),
)
"""What programs import most. Only modules that load no submodule unasked, so that no program sees more than usual,
and none that is large, for each fork copies the page tables of all that is loaded."""

_NAMESPACES = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000 | 0x04000000 | 0x02000000
_NETWORK = 0x40000000
_CLONE_PIDFD = 0x1000
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}
_MS_NOSUID, _MS_NODEV, _MS_BIND = 2, 4, 4096
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_CAPSET_VERSION_3 = 0x20080522
_INSIDE = b"65534 65534 1"


class Server:
    """The state of the server: the C library, the kernel's filter, and the connection to the harness."""

    def __init__(self, control: socket.socket, seccomp: bytes) -> None:
        self._control = control
        self._libc = ctypes.PyDLL(None, use_errno=True)
        self._clone = _SYS_CLONE[os.uname().machine]
        self._filter = ctypes.create_string_buffer(seccomp, len(seccomp))
        self._filter_program = struct.pack("HxxxxxxP", len(seccomp) // 8, ctypes.addressof(self._filter))
        self._drivers = [importlib.import_module(f"measurand.sandboxes.jail.{name}") for name in DRIVERS]
        for name in _WARM:
            importlib.import_module(name)
        self._jails: dict[int, tuple[int, int]] = {}
        self._poll = select.poll()
        gc.collect()
        gc.freeze()

    def serve(self) -> Callable[[], None] | None:
        """Answer requests until the harness leaves. In each forked jail, return what is to run there."""
        self._poll.register(self._control, select.POLLIN)
        self._control.send(READY)
        while True:
            for fd, _ in self._poll.poll():
                if fd in self._jails:
                    self._report(fd)
                    continue
                data, fds, _, _ = socket.recv_fds(self._control, 64, _MOST_DESCRIPTORS)
                if not data:
                    return None
                disk, driver = REQUEST.unpack(data)
                pid, pidfd = self.fork(0 if DRIVERS[driver] == "examiner_driver" else _NETWORK)
                if pid == 0:
                    return self._enter(disk, driver, fds)
                self._note(pid, pidfd, fds)

    def _note(self, pid: int, pidfd: int, fds: list[int]) -> None:
        """Remember a new jail, and show its first process to the harness."""
        _, _, _, err, watcher, informed = fds[:HANDED]
        if pid > 0:
            with socket.socket(fileno=os.dup(informed)) as harness:
                socket.send_fds(harness, [b"+"], [pidfd])
            self._jails[pidfd] = pid, os.dup(watcher)
            self._poll.register(pidfd, select.POLLIN)
        else:
            os.write(err, f"no process could be forked: {os.strerror(ctypes.get_errno())}\n".encode())
        for fd in fds:
            os.close(fd)

    def _report(self, pidfd: int) -> None:
        """Tell the harness how a jail ended. By now nothing lives in it: its first process is the last to go."""
        pid, watcher = self._jails.pop(pidfd)
        self._poll.unregister(pidfd)
        _, status, usage = os.wait4(pid, 0)
        os.write(watcher, report(status, usage))
        os.close(watcher)
        os.close(pidfd)

    def fork(self, network: int = _NETWORK) -> tuple[int, int]:
        """As `os.fork`, into new namespaces; with a descriptor of the new process."""
        pidfd = ctypes.c_int(-1)
        flags = ctypes.c_ulong(_NAMESPACES | network | _CLONE_PIDFD | signal.SIGCHLD)
        pid = self._libc.syscall(self._clone, flags, None, ctypes.byref(pidfd), None, None)
        return pid, pidfd.value

    def _enter(self, disk: int, driver: int, fds: list[int]) -> Callable[[], None]:
        """Make this process what bubblewrap makes of a new one. It is the first of its process namespace.

        For that the kernel ignores its signals to itself that have no handler, and ends it only for the rest.
        """
        job, *standard, watcher, informed = fds[:HANDED]
        for number, fd in enumerate(standard):
            os.dup2(fd, number)
        others = (*self._jails, *(pipe for _, pipe in self._jails.values()))
        for fd in (*standard, informed, self._control.detach(), *others):
            os.close(fd)
        try:
            os.setsid()  # else its signals to its own group would reach the server
            self.isolate(disk)
            given = take(job)
        except (OSError, ValueError) as error:
            os.write(2, f"{error}\n".encode())
            os._exit(1)
        begin(watcher)
        return partial(self._drivers[driver].run, given, fds[HANDED:])

    def isolate(self, disk: int) -> None:
        """Everything between a new process in new namespaces and one that may run anything. Raises OSError."""
        for name, text in (
            ("oom_score_adj", b"1000"),  # out of memory, this goes first, and never the server
            ("setgroups", b"deny"),
            ("uid_map", _INSIDE),
            ("gid_map", _INSIDE),
        ):
            _write(f"/proc/self/{name}", text)
        options = f"size={max(disk, 1)},nr_inodes=4096,mode=1777".encode()
        self._demand(self._libc.mount(b"tmpfs", b"/tmp", b"tmpfs", _MS_NOSUID | _MS_NODEV, options), "mount /tmp")
        self._demand(self._libc.mount(b"/empty", b"/proc", None, _MS_BIND, None), "hide /proc")
        socket.sethostname("jail")
        os.chdir("/tmp")  # noqa: S108 - the jail's own
        header = struct.pack("Ii", _CAPSET_VERSION_3, 0)
        self._demand(self._libc.capset(header, bytes(24)), "capset")
        self._demand(self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
        self._demand(
            self._libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._filter_program, 0, 0),
            "filter system calls",
        )

    def _demand(self, result: int, what: str) -> None:
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: {os.strerror(number)}")


def _write(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def main() -> Callable[[], None] | None:
    """Serve. The command line holds two descriptors: the connection to the harness, and the kernel's filter."""
    control, seccomp = (int(number) for number in sys.argv[1:])
    with open(seccomp, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        code = file.read()
    return Server(socket.socket(fileno=control), code).serve()


def trial() -> None:
    """Fork one jail and say in which Python. Raises OSError where that does not work."""
    ours, _theirs = socket.socketpair()
    with open(int(sys.argv[1]), "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        server = Server(ours, file.read())
    pid, _ = server.fork()
    if pid == 0:
        try:
            server.isolate(1 << 20)
        except OSError as error:
            os.write(2, f"{error}\n".encode())
            os._exit(1)
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if os.waitpid(pid, 0)[1] != 0:
        os._exit(1)
