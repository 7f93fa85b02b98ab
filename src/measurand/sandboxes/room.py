"""How a jail is built on this machine, and the search for a way by trying."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurand.core.errors import SandboxError
from measurand.sandboxes.clock import WORK, factor_of
from measurand.sandboxes.jail import seccomp

FIRST_UID = 60600
"""As root, programs run under numbers from here on: systemd leaves 60578 to 61183 to nobody."""

UIDS = 500

SEALED = ("--disable-userns",)
"""Options of a jail inside which no other is to be built."""

_INSIDE = "65534"
_MODULES = Path(__file__).parent / "jail"
_PACKAGE = "measurand/sandboxes/jail"
_NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_TRIAL = f"""
import os, platform
import measurand.sandboxes.jail.test_driver
assert os.getuid() == 65534 and not os.path.exists('/etc') and not os.path.exists('/proc')
print(platform.python_version())
{WORK}"""
_TRIAL_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can be seen from inside: its path there, and the folder to mount at /python, if any."""

    path: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """What was found to work: bubblewrap, and an interpreter inside."""

    bwrap: str
    interpreter: Interpreter
    version: str = ""
    factor: float = 1.0

    def command(
        self, code: str, *, disk_bytes: int, files: Sequence[tuple[int, str]], options: Sequence[str]
    ) -> list[str]:
        """The command line that runs `code` in a jail; `files` are descriptors and where their bytes go.

        /tmp is the only place that can be written to, and it is of limited size. There is no /proc and no
        /etc. Hashes of strings are repeatable, so a program that depends on the order of a set is as well;
        that is why the interpreter gets its cleared environment instead of `-I`.
        """
        command = [self.bwrap, *(f"--unshare-{name}" for name in _NAMESPACES)]
        command += ["--uid", _INSIDE, "--gid", _INSIDE, "--hostname", "jail", "--new-session", "--die-with-parent"]
        command += ["--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"]  # noqa: S108 - the jail's own
        command += ["--setenv", "LANG", "C.UTF-8", "--setenv", "PYTHONHASHSEED", "0"]
        command += ["--ro-bind", "/usr", "/usr", *top_level(), *options]
        if self.interpreter.prefix:
            command += ["--ro-bind", self.interpreter.prefix, "/python", "--setenv", "LD_LIBRARY_PATH", "/python/lib"]
        for device in _DEVICES:
            command += ["--dev-bind", device, device]
        for fd, destination in files:
            command += ["--file", str(fd), destination]
        command += ["--size", str(disk_bytes), "--tmpfs", "/tmp", "--chdir", "/tmp", "--remount-ro", "/", "--"]  # noqa: S108 - the jail's own
        return [*command, self.interpreter.path, "-sSB", "-c", f"import sys; sys.path[0] = '/jail'; {code}"]


def module_files(*names: str) -> list[tuple[int, str]]:
    """Fresh descriptors of our modules, each with its place in the jail. The caller closes them."""
    return [
        (memory_file((_MODULES / f"{name}.py").read_bytes()), f"/jail/{_PACKAGE}/{name}.py")
        for name in ("codec", "inside", *names)
    ]


def filter_file() -> int:
    """A descriptor of the filter of system calls for this machine."""
    machine = os.uname().machine
    try:
        return memory_file(seccomp.program(machine))
    except KeyError:
        raise SandboxError(f"system calls cannot be filtered on {machine}: use x86_64 or aarch64") from None


def close_all(fds: Iterable[int]) -> None:
    """Close descriptors."""
    for fd in fds:
        os.close(fd)


def as_user(uid: int | None) -> dict[str, Any]:
    """The arguments of Popen that start a process under that number and in none of our groups."""
    return {"user": uid, "group": uid, "extra_groups": None if uid is None else []}


def memory_file(data: bytes) -> int:
    """A descriptor of an unnamed file that holds these bytes, at its start."""
    fd = os.memfd_create("measurand")
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def outside_uid(turn: int) -> int | None:
    """The number under which a program runs as seen from outside; None where we are not root."""
    return FIRST_UID + turn % UIDS if os.geteuid() == 0 else None


def users() -> str:
    """As whom programs run, in words."""
    outside = f"unprivileged users from {FIRST_UID} on" if os.geteuid() == 0 else f"user {os.geteuid()}"
    return f"{outside} outside, {_INSIDE} inside"


def find_room() -> Room:
    """Build a jail and look around in it. Raises SandboxError with what is missing and how to mend it."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "bubblewrap (bwrap) is not installed, so no program is run: install it (Debian and Ubuntu: "
            "`apt-get install bubblewrap`)"
        )
    said = ""
    for interpreter in _interpreters():
        room = Room(bwrap, interpreter)
        try:
            version, seconds = try_room(room, _TRIAL, ("test_driver",), SEALED)
            return Room(bwrap, interpreter, version, factor_of(float(seconds)))
        except SandboxError as error:
            said = str(error)
    raise SandboxError(f"bubblewrap is installed but cannot build a jail ({said}), so no program is run: {_mend(said)}")


def try_room(room: Room, code: str, modules: Sequence[str], options: Sequence[str]) -> list[str]:
    """Run code of ours in a jail, and return the lines that it prints. Raises SandboxError with its last words."""
    files = module_files(*modules)
    fds = [filter_file(), *(fd for fd, _ in files)]
    try:
        done: subprocess.CompletedProcess[str] = subprocess.run(  # noqa: S603 - a fixed command
            [*room.command(code, disk_bytes=1 << 20, files=files, options=options), str(fds[0])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TRIAL_SECONDS,
            check=False,
            pass_fds=fds,
            **as_user(outside_uid(UIDS - 1)),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(str(error)) from error
    finally:
        close_all(fds)
    if done.returncode != 0:
        raise SandboxError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:300])
    return done.stdout.split()


def _interpreters() -> Iterator[Interpreter]:
    """The interpreter that we run under, where it can be seen from inside; else the system's own."""
    prefix = Path(sys.base_prefix).resolve()
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if prefix.is_relative_to("/usr"):
        yield Interpreter(str(prefix / "bin" / name))
    else:
        yield Interpreter(f"/python/bin/{name}", str(prefix))
    yield Interpreter("/usr/bin/python3")


def top_level() -> list[str]:
    """/bin, /lib and their like: links into /usr on most systems, folders on some."""
    arguments: list[str] = []
    for name in ("/bin", "/lib", "/lib32", "/lib64", "/sbin"):
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            arguments += ["--ro-bind", name, name]
    return arguments


def _mend(said: str) -> str:
    """What to do about it, from what the system says of itself."""
    if "Unknown option" in said:
        return "its version is too old, install 0.8 or later"
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor restricts user namespaces here (Ubuntu 23.10 and later); allow them for bwrap with the profile "
            "`bwrap-userns-restrict` of the package apparmor-profiles, or for all with "
            "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return "user namespaces are off, turn them on with `sysctl -w kernel.unprivileged_userns_clone=1`"
    if _setting("user/max_user_namespaces") == "0":
        return "user namespaces are off, turn them on with `sysctl -w user.max_user_namespaces=10000`"
    return (
        "user namespaces must be allowed; inside Docker that takes `--security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined`"
    )


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""
