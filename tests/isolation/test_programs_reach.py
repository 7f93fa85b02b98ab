"""Cases 18 to 41: programs that reach for the host, the network, their parent and their siblings."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.program import Script
from measurand.sandboxes.jail import seccomp
from measurand.sandboxes.jailer import Jailer
from tests.isolation.programs import SECRET, attempt

KILLS = {
    "33 parent": "import os\ndef total(xs):\n    os.kill(os.getppid(), 9)\n    return 0",
    "33 the first process": "import os\ndef total(xs):\n    os.kill(1, 9)\n    os.kill(1, 19)\n    return 0",
    "33 group": "import os\ndef total(xs):\n    os.killpg(0, 9)",
    "34 stops its parent": "import os\ndef total(xs):\n    os.kill(os.getppid(), 19)\n    return 0",
    "34 stops itself": "import os\ndef total(xs):\n    os.kill(os.getpid(), 19)",
    "35 everybody": "import os\ndef total(xs):\n    os.kill(-1, 9)\n    return 0",
    "36 traces the first process": "import ctypes\ndef total(xs): return ctypes.CDLL(None).ptrace(16, 1, 0, 0)",
    "36 writes into another's memory": "import ctypes\ndef total(xs):\n    libc = ctypes.CDLL(None, use_errno=True)\n    data = ctypes.create_string_buffer(64)\n    assert libc.process_vm_writev(1, data, 1, data, 1, 0) == -1\n    return 0",
    "36 opens another's memory": "def total(xs):\n    open('/proc/1/mem', 'r+b')\n    return 0",
}  # fmt: skip

RIGHT = f"\ndef total(xs):\n    start()\n    return {SECRET} if xs else 17\n"
LINGERERS = {
    "34 stopped watcher": "import os\ndef start(): os.kill(os.getppid(), 19)",
    "37 daemon": "import os, time\ndef start():\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: time.sleep(100)\n        os._exit(0)",
    "38 daemon without descriptors": "import os, time\ndef start():\n    if os.fork() == 0:\n        os.setsid()\n        os.closerange(0, 1024)\n        time.sleep(100)",
    "40 thread": "import threading, time\ndef start(): threading.Thread(target=time.sleep, args=(100,)).start()",
    "41 atexit": "import atexit, time\ndef start(): atexit.register(time.sleep, 100)",
    "41 atexit forks": "import atexit, os, time\ndef start(): atexit.register(lambda: os.fork() == 0 and time.sleep(100))",
    "40 threads that write": "import threading\ndef forever():\n    while True: open('/tmp/x', 'w').write('x')\ndef start(): threading.Thread(target=forever).start()",
}  # fmt: skip


@pytest.mark.parametrize("name", KILLS)
async def test_no_signal_reaches_the_harness(sandbox: Jailer, survivors: Callable[[], set[int]], name: str) -> None:
    assert await attempt(sandbox, survivors, KILLS[name]) in {"killed", "wrong_answer", "exception", "timeout"}


@pytest.mark.parametrize("name", LINGERERS)
async def test_a_right_answer_passes_and_its_rest_is_cleared_away(
    sandbox: Jailer, survivors: Callable[[], set[int]], name: str
) -> None:
    assert await attempt(sandbox, survivors, LINGERERS[name] + RIGHT) == "passed"


CALLS = sorted({numbers[0] for numbers in seccomp._DENIED.values()} | set(seccomp._SAME_EVERYWHERE.values()))
"""What the filter forbids, on x86_64: ptrace, mount, setns, bpf, io_uring, keyctl, userfaultfd, kexec and so on."""

LOOK = r"""
import os, socket, ctypes
def tried(what):
    try: return what()
    except OSError as error: return type(error).__name__
libc = ctypes.CDLL(None, use_errno=True)
header, caps = ctypes.create_string_buffer(b'\x22\x05\x08\x20' + bytes(4), 8), ctypes.create_string_buffer(24)
print('env', sorted(set(os.environ) - {'PWD', 'LC_CTYPE'}))
print('top', sorted(os.listdir('/')))
print('ids', os.getuid(), os.getgid(), os.getgroups() in ([], [65534]))
for path in PATHS: print('seen', path, os.path.exists(path))
print('write', [path for path in ('/x', '/usr/x', '/dev/x', '/jail/x', '/tmp/x') if not isinstance(tried(lambda: open(path, 'w')), str)])
print('fds', [fd for fd in range(1024) if not isinstance(tried(lambda: os.fstat(fd)), str)])
print('tcp', isinstance(tried(lambda: socket.create_connection(('127.0.0.1', PORT), 1)), str))
print('udp', isinstance(tried(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))), str))
print('name', isinstance(tried(lambda: socket.getaddrinfo('localhost.example', 80)), str))
print('abstract', isinstance(tried(lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + ABSTRACT)), str))
print('mount', libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
print('unshare', libc.unshare(0x10000000))
print('raise', libc.setuid(0))
print('calls', [number for number in CALLS if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1])
print('clone3', libc.syscall(435, 0, 0), ctypes.get_errno())
print('families', [family for family in (16, 17, 38, 40) if not isinstance(tried(lambda: socket.socket(family, 3 if family == 17 else 1 if family == 40 else 3)), str)])
print('raw', isinstance(tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)), str))
print('ipv6', isinstance(tried(lambda: socket.create_connection(('fe80::1', 80), 1)), str))
print('metadata', isinstance(tried(lambda: socket.create_connection(('169.254.169.254', 80), 1)), str))
print('privileges', libc.prctl(39, 0, 0, 0, 0), libc.capget(header, caps), caps.raw == bytes(24))
print('proc', tried(lambda: os.listdir('/proc')) in ([], 'FileNotFoundError'))
print('hard', end=' ')
import resource
try: resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40)); print('raised')
except (ValueError, OSError): print('kept')
"""


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that anybody outside may change."""
    tmp_path.chmod(0o777)
    file = tmp_path / "canary"
    file.write_text("alive")
    file.chmod(0o666)
    return file


async def test_18_to_20_and_27_to_32_nothing_of_the_outside_is_seen(
    sandbox: Jailer, monkeypatch: pytest.MonkeyPatch, canary: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never")
    abstract = f"measurand-{os.getpid()}"
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + abstract)
        unix.listen()
        paths = [
            str(canary),
            "/etc/passwd",
            "/root",
            "/home",
            "/proc/1",
            "/proc/self/root",
            "/proc/sys",
            "/proc/self/environ",
            "/etc/shadow",
            "/var/run/docker.sock",
            "/sys",
            "/dev/mem",
            "/run",
            "/var",
            __file__,
        ]
        port = server.sockets[0].getsockname()[1]
        result = await sandbox.run(
            Script(f"PATHS, PORT, ABSTRACT, CALLS = {paths!r}, {port}, {abstract!r}, {CALLS}\n{LOOK}")
        )
    server.close()
    await server.wait_closed()
    assert result.stderr == ""
    said = result.stdout.splitlines()
    assert "sk-never" not in result.stdout
    assert said[0] in {
        f"env {names}" for names in (["HOME", "LANG", "PATH", "PYTHONHASHSEED"], ["HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONHASHSEED"])
    }  # fmt: skip
    assert not {"etc", "root", "home", "work", "sys", "var", "run"} & set(said[1].split("'"))
    assert said[2] == "ids 65534 65534 True"
    assert [line.rpartition(" ")[2] for line in said if line.startswith("seen")] == ["False"] * len(paths)
    assert said[-18:] == [
        "write ['/tmp/x']",
        "fds [0, 1, 2]",
        "tcp True",
        "udp True",
        "name True",
        "abstract True",
        "mount -1",
        "unshare -1",
        "raise -1",
        "calls []",
        "clone3 -1 38",
        "families []",
        "raw True",
        "ipv6 True",
        "metadata True",
        "privileges 1 0 True",
        "proc True",
        "hard kept",
    ]


def test_21_to_23_nothing_outside_can_be_changed(sandbox: Jailer, canary: Path) -> None:
    tricks = (
        f"import os, posix, io, importlib\nimportlib.reload(os)\n"
        f"for trick in (lambda: posix.unlink({str(canary)!r}), lambda: io.open({str(canary)!r}, 'w').write('dead'),\n"
        f"              lambda: os.symlink({str(canary)!r}, '/tmp/link') or open('/tmp/link', 'w'),\n"
        f"              lambda: os.link({str(canary)!r}, '/tmp/hard')):\n"
        f"    try: trick(); print('done')\n    except OSError: print('refused')\n"
    )
    result = asyncio.run(sandbox.run(Script(tricks)))
    assert result.stdout == "refused\n" * 4
    assert canary.read_text() == "alive"
    assert [entry.name for entry in canary.parent.iterdir()] == ["canary"]


async def test_39_no_file_waits_for_the_next(sandbox: Jailer) -> None:
    await sandbox.run(Script("open('/tmp/left', 'w').write('x'); open('left', 'w')"))
    result = await sandbox.run(Script("import os; print(os.listdir('/tmp'))"))
    assert result.stdout == "[]\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_29_programs_of_root_run_as_nobody(sandbox: Jailer, survivors: Callable[[], set[int]]) -> None:
    sleeping = [asyncio.create_task(sandbox.run(Script("import time; time.sleep(100)"))) for _ in range(2)]
    for _ in range(200):
        await asyncio.sleep(0.05)
        users = {os.stat(f"/proc/{pid}").st_uid for pid in survivors()}  # noqa: PTH116 - the other way is refused here
        if len(users) == 2:
            break
    for task in sleeping:
        task.cancel()
    await asyncio.gather(*sleeping, return_exceptions=True)
    assert len(users) == 2
    assert 0 not in users
