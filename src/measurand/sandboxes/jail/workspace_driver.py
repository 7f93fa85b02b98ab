"""The first process of a workspace: it runs commands, one at a time, and reads and writes files below /work.

It is process 1 of its namespace, so nothing inside can kill, stop or trace it, and its end is everybody's. What
it says travels on a socket that no command ever holds; how a command ended is what the kernel says of it, so no
output can pass for an end or an exit code.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time

from measurand.sandboxes.jail.codec import CodecError, decode
from measurand.sandboxes.jail.inside import Channel
from measurand.sandboxes.jail.workspace_disk import WORK, Refused, list_below, read, write

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from typing import Any

STATE = "/run/state"
FILES = 1024
"""Open files of one process."""

_CHUNK = 1 << 16
_DUMPABLE = 4
_KILLS = 50
_WHOLE = b"\n# whole\n"
_TOO_MANY = b"measurand: there were too many processes, so those in the background have been killed\n"

# One shell after another, each taking up where the last one ended: folder, variables, functions and options.
# A command that is killed, or kills its shell, leaves the state as it was before it.
SHELL = r"""
__state=$1; shift
if [ -n "$BASH_VERSION" ]; then
  __save() {
    __code=$?; trap - EXIT
    { shopt -p; alias -p; declare -f
      for __name in $(compgen -v); do
        case $__name in
          BASH*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|OPTIND|PIPESTATUS|PPID|RANDOM) ;;
          SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_|__*) ;;
          *) declare -p "$__name" ;;
        esac
      done
      set +o; umask -p; printf 'cd -- %q\n# whole\n' "$PWD"
    } > "$__state.new" 2>/dev/null
    exit "$__code"
  }
  IFS= read -r -d '' __command
else
  __save() {
    __code=$?; trap - EXIT
    { export -p; set +o; printf 'umask %s\n' "$(umask)"
      printf 'cd -- "%s"\n' "$(pwd | sed 's/[\\"$`]/\\&/g')"
      echo '# whole'
    } > "$__state.new" 2>/dev/null
    exit "$__code"
  }
  __command=$(cat)
fi
exec </dev/null
[ -r "$__state" ] && . "$__state" 2>/dev/null >&2
trap __save EXIT
eval "$__command"
"""


def run() -> None:
    """Take the job, limit ourselves and all that come after, and serve."""
    job_fd, control = (int(number) for number in sys.argv[1:])
    with open(job_fd, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        limits, shell, environment = decode(file.read())
    os.set_inheritable(control, False)
    ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)
    _limit(limits)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.chdir(WORK)
    Driver(control, shell, environment).serve()


def _limit(limits: dict[str, int]) -> None:
    for what, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["disk"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (value, value))


class Running:
    """A command while it runs, and what it has said so far."""

    def __init__(self, process: subprocess.Popen[bytes], turn: int, seconds: float, cap: int) -> None:
        self.process = process
        self.turn = turn
        self.deadline = time.monotonic() + seconds
        self.status: int | None = None
        self.said: dict[int, bytearray] = {}
        self.lost = False
        self._cap = cap
        for pipe in (process.stdout, process.stderr):
            fd = os.dup(pipe.fileno())  # type: ignore[union-attr] # both are pipes
            pipe.close()  # type: ignore[union-attr]
            os.set_blocking(fd, False)
            self.said[fd] = bytearray()

    def take(self, fd: int, data: bytes) -> None:
        """Keep what there is room for."""
        kept = self.said[fd]
        room = self._cap - len(kept)
        kept += data[:room]
        self.lost = self.lost or len(data) > room


class Driver:
    """Serves one request at a time; a new request, or the end of the socket, ends a running command."""

    def __init__(self, control: int, shell: str, environment: dict[str, str]) -> None:
        self._channel = Channel(control, control)
        self._control = control
        self._shell = shell
        self._environment = environment
        self._running: Running | None = None
        self._poll = select.poll()
        self._open: set[int] = set()
        self._bell, ring = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for fd in (control, self._bell):
            self._poll.register(fd, select.POLLIN)

    def serve(self) -> None:
        """Until the harness lets go of the socket."""
        try:
            while True:
                running = self._running
                wait = None if running is None else max(0.0, running.deadline - time.monotonic()) * 1000
                for fd, _ in self._poll.poll(wait):
                    self._attend(fd)
                self._reap()
                running = self._running
                if running is not None and (running.status is not None or time.monotonic() >= running.deadline):
                    self._finish(timed_out=running.status is None)
        except (EOFError, BrokenPipeError):
            return

    def _attend(self, fd: int) -> None:
        if fd == self._control:
            self._finish(timed_out=True)
            turn, name, *arguments = self._channel.receive()
            self._answer(turn, name, arguments)
        elif fd == self._bell:
            with contextlib.suppress(BlockingIOError):
                os.read(self._bell, _CHUNK)
        elif fd in self._open:
            self._drain(fd)

    def _answer(self, turn: int, name: str, arguments: list[Any]) -> None:
        try:
            match name:
                case "run":
                    self._start(turn, *arguments)
                    return
                case "read":
                    answer: tuple[Any, ...] = ("bytes", read(*arguments))
                case "list":
                    answer = ("entries", tuple(list_below(*arguments)))
                case "write":
                    write(*arguments)
                    answer = ("done",)
                case _:
                    answer = ("pong",)
        except Refused as refused:
            answer = ("refused", str(refused))
        except OSError as error:
            answer = ("refused", error.strerror or str(error))
        try:
            self._channel.send((turn, *answer))
        except CodecError as error:
            self._channel.send((turn, "refused", f"it is {error}"))

    def _start(self, turn: int, command: bytes, seconds: float, cap: int) -> None:
        note = b""
        try:
            try:
                process = self._spawn(command)
            except BlockingIOError:  # as many processes as there may be; only those in the background are left
                note = _TOO_MANY
                self._clear()
                process = self._spawn(command)
        except OSError as error:
            self._channel.send((turn, "stuck", error.strerror or str(error)))
            return
        self._running = Running(process, turn, seconds, cap)
        for fd in self._running.said:
            self._open.add(fd)
            self._poll.register(fd, select.POLLIN)
        self._running.take(fd, note)

    def _spawn(self, command: bytes) -> subprocess.Popen[bytes]:
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603 - anybody's command, in here
                [self._shell, *_quiet(self._shell), "-c", SHELL, "shell", STATE],
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
        except OSError:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        threading.Thread(target=_hand, args=(writing, command), daemon=True).start()
        return process

    def _clear(self) -> None:
        for _ in range(_KILLS):
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                return
            time.sleep(0.002)
            self._reap()

    def _finish(self, *, timed_out: bool) -> None:
        """Answer. What runs on in the background goes on being read, for who writes to nobody dies of it."""
        running = self._running
        if running is None:
            return
        if timed_out:
            self._kill(running)
        elif running.status is not None and running.status >= 0:
            _save()
        for fd in running.said:
            while fd in self._open and self._drain(fd) and not running.lost:
                pass
        self._running = None
        running.process.returncode = running.status  # it was reaped here, not there
        out, err = (bytes(kept) for kept in running.said.values())
        self._channel.send((running.turn, "ran", running.status, out, err, timed_out, running.lost))

    def _kill(self, running: Running) -> None:
        """Kill its group until nobody is left in it; a bomb may add to it meanwhile."""
        for _ in range(_KILLS):
            try:
                os.killpg(running.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                break
            time.sleep(0.002)
            self._reap()
        while running.status is None:
            self._reap()
            time.sleep(0.002)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._running is not None and pid == self._running.process.pid:
                self._running.status = os.waitstatus_to_exitcode(status)

    def _drain(self, fd: int) -> bool:
        """Read once; False at the end and where there is nothing at the moment."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._poll.unregister(fd)
            self._open.discard(fd)
            os.close(fd)
            return False
        if self._running is not None and fd in self._running.said:
            self._running.take(fd, data)
        return True


def _hand(fd: int, command: bytes) -> None:
    """Hand over a command, of any length, to a shell that may die before it has taken it."""
    with contextlib.suppress(OSError), open(fd, "wb", buffering=0) as file:
        rest = memoryview(command)
        while rest:
            rest = rest[file.write(rest) :]


def _save() -> None:
    """Take over the state that a shell has left, if it is whole; the disk may be full."""
    with contextlib.suppress(OSError):
        with open(f"{STATE}.new", "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            file.seek(-len(_WHOLE), os.SEEK_END)
            whole = file.read() == _WHOLE
        if whole:
            os.replace(f"{STATE}.new", STATE)  # noqa: PTH105 - pathlib is slow to import


def _quiet(shell: str) -> list[str]:
    return ["--norc", "--noprofile"] if shell.endswith("bash") else []
