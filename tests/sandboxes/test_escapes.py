"""What a hostile program tries: to pass without being right, to harm the harness, to outlive its run, to look outside.

Each is wrong code with a trick, unless it says otherwise. After each: the right ending, in time, nobody left,
nothing written outside, and the next sample unharmed.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.program import FunctionTest, Limits, Script
from measurand.sandboxes.bubblewrap import Bubblewrap

LIMITS = Limits(cpu_seconds=1, wall_seconds=3, disk_bytes=1 << 22, processes=16)
SECRET = 424242_987_654
TEST = f"""
def check(candidate):
    assert candidate([1, 2, 3]) == {SECRET}
    assert abs(candidate([]) - 17) < 1e-6
"""
SEARCHED = f"def check(candidate):\n    assert candidate([1, 2, 3]) == {SECRET}\n"
NEXT = FunctionTest(f"def total(xs):\n    return {SECRET} if xs else 17\n", "total", TEST)
WRONG = "def total(xs):\n    return 0\n"

FALSE_PASSES = {
    "exit inside": "import os\ndef total(xs): os._exit(0)",
    "exit at import": "import os\nos._exit(0)",
    "sys.exit inside": "import sys\ndef total(xs): sys.exit(0)",
    "sys.exit at import": "import sys\nsys.exit(0)",
    "keyboard interrupt": "def total(xs): raise KeyboardInterrupt",
    "own base exception": "class E(BaseException): pass\ndef total(xs): raise E",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
    "excepthook": "import sys, os\nsys.excepthook = lambda *a: os._exit(0)\n" + WRONG,
    "equals everything": "class E:\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\n    __hash__ = None\ndef total(xs): return E()",
    "int that equals everything": "class E(int):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\n    def __abs__(s): return 0\n    __hash__ = None\ndef total(xs): return E(1)",
    "type that poses as int": "class M(type):\n    def __eq__(s, o): return True\n    __hash__ = int.__class__.__hash__\nclass E(metaclass=M):\n    __class__ = int\n    def __eq__(s, o): return True\ndef total(xs): return E()",
    "patched builtins": "import builtins, math\nbuiltins.abs = lambda x: 0\nmath.isclose = lambda *a, **k: True\n" + WRONG,
    "patched assertion": "import builtins\nbuiltins.AssertionError = type('A', (BaseException,), {})\n" + WRONG,
    "writes to every descriptor": "import os\ndef total(xs):\n    for fd in range(3, 64):\n        for data in (b'passed', b'\\0\\0\\0\\x17' + b'0' * 16 + b't', b'!'):\n            try: os.write(fd, data)\n            except OSError: pass\n    return 0",
    "forges a verdict": "import sys\nfrom measurand.sandboxes.jail.codec import encode\ndef total(xs):\n    f = sys._getframe()\n    while f and 'channel' not in f.f_locals: f = f.f_back\n    for answer in (('passed', ''), ('returned', 0), ('loaded',)): f.f_locals['channel'].send(answer)\n    return 0",
    "replaces the driver": "import sys\nfor m in list(sys.modules.values()):\n    for n in ('attempt', 'text_of', '_builtin_class'):\n        if hasattr(m, n): setattr(m, n, lambda *a, **k: ('passed', ''))\n" + WRONG,
    "sends a huge frame": "import os\ndef total(xs):\n    for fd in range(3, 64):\n        try: os.write(fd, b'\\xff\\xff\\xff\\xff' + b'x' * 60000)\n        except OSError: pass\n    return 0",
    "sends deep nesting": "import os, struct\ndef total(xs):\n    data = b't\\0\\0\\0\\2s\\0\\0\\0\\x08returned' + b'l\\0\\0\\0\\1' * 10**5 + b'N'\n    for fd in range(3, 64):\n        try: os.write(fd, struct.pack('>I', len(data)) + data)\n        except OSError: pass\n    return 0",
    "closes its channel": "import os\ndef total(xs): os.closerange(3, 64)",
    "prints the verdict": "def total(xs):\n    print('passed', flush=True)\n    print('<testsuite failures=\"0\"/>\\nOK\\n1 passed')\n    return 0",
    "pickles": "import os\nclass P:\n    def __reduce__(s): return (os._exit, (0,))\ndef total(xs): return P()",
    "trace": "import sys\ndef t(f, e, a):\n    try: f.f_lineno += 2\n    except Exception: pass\n    return t\nsys.settrace(t)\n" + WRONG,
    "racing thread": "import threading, os, time\ndef race():\n    while True: os.sched_yield()\nthreading.Thread(target=race, daemon=True).start()\n" + WRONG,
    "swallows all": "def total(xs):\n    try: return 0\n    finally:\n        return 1",
    "error that will not be shown": "class E(Exception):\n    def __str__(s): raise SystemExit\ndef total(xs): raise E",
    "error of ten megabytes": "def total(xs): raise ValueError('</script>\\x1b[2J\\ud800\\0' * 10**6)",
}  # fmt: skip

SEARCHES = {
    "frames": "import sys\ndef total(xs):\n    f, seen = sys._getframe(), ''\n    while f: seen += repr(f.f_locals) + repr(f.f_globals); f = f.f_back\n    return find(seen)",
    "garbage": "import gc\ndef total(xs):\n    return find(''.join(repr(o) for o in gc.get_objects() if isinstance(o, (str, tuple, list, dict))))",
    "arguments and files": "import os, sys\ndef total(xs):\n    seen = repr(sys.argv) + repr(sys.orig_argv) + repr(os.environ)\n    for top in ('/jail', '/tmp', '/proc', '/dev/fd'):\n        for where, _, names in os.walk(top):\n            for name in names:\n                try: seen += open(os.path.join(where, name), errors='replace').read()\n                except OSError: pass\n    return find(seen)",
    "descriptors": "import os\ndef total(xs):\n    seen = ''\n    for fd in range(64):\n        try:\n            os.set_blocking(fd, False)\n            seen += repr(os.pread(fd, 10**6, 0))\n        except OSError: pass\n        try: seen += repr(os.read(fd, 10**6))\n        except OSError: pass\n    return find(seen)",
    "own memory": "import ctypes\ndef total(xs):\n    here = id(find)\n    return find(repr(ctypes.string_at(here - 200_000, 400_000)))",
}  # fmt: skip
FIND = "import re\ndef find(seen):\n    found = re.search('42' + r'4242\\d{6}', seen)\n    return int(found.group()) if found else 0\n"

KILLS = {
    "parent": "import os\ndef total(xs):\n    os.kill(os.getppid(), 9)\n    return 0",
    "stops its parent": "import os\ndef total(xs):\n    os.kill(os.getppid(), 19)\n    return 0",
    "everybody": "import os\ndef total(xs):\n    os.kill(-1, 9)\n    return 0",
    "the first process": "import os\ndef total(xs):\n    os.kill(1, 9)\n    os.kill(1, 19)\n    return 0",
    "stops itself": "import os\ndef total(xs):\n    os.kill(os.getpid(), 19)",
    "traces the first process": "import ctypes\ndef total(xs): return ctypes.CDLL(None).ptrace(16, 1, 0, 0)",
    "group": "import os\ndef total(xs):\n    os.killpg(0, 9)",
}

LOOPS = {
    "swallows exceptions": "def total(xs):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "ignores signals": "import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ndef total(xs):\n    while True: pass",
    "sleeps": "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ndef total(xs):\n    while True: time.sleep(100)",
    "huge number": "def total(xs): return len(str(3 ** 30_000_000))",
    "regular expression": "import re\ndef total(xs): return bool(re.match('(a+)+$', 'a' * 40 + 'b'))",
    "sum": "def total(xs): return sum(range(10**12))",
    "at import": "while True: pass",
    "atexit": "import atexit, time\natexit.register(time.sleep, 100)\ndef total(xs): time.sleep(100)",
    "in its text": "class E(Exception):\n    def __str__(s):\n        while True: pass\ndef total(xs): raise E",
    "waits for input that never comes": "import os\ndef total(xs):\n    for fd in range(3, 64):\n        try: os.read(fd, 1)\n        except OSError: pass",
}  # fmt: skip

GREED = {
    "forks": "import os, time\ndef total(xs):\n    for _ in range(150):\n        if os.fork() == 0: time.sleep(100)\n    return 0",
    "fork bomb": "import os\ndef total(xs):\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "threads": "import threading, time\ndef total(xs):\n    for _ in range(150): threading.Thread(target=time.sleep, args=(100,)).start()\n    return 0",
    "memory": "def total(xs):\n    x = []\n    while True: x.append(bytearray(10**7))",
    "one file": "def total(xs):\n    with open('/tmp/f', 'wb') as f:\n        while True: f.write(b'x' * 10**6)",
    "many files": "def total(xs):\n    for n in range(10**6):\n        with open(f'/tmp/{n}', 'wb') as f: f.write(b'x' * 10**4)",
    "sparse file": "import os\ndef total(xs):\n    os.truncate(os.open('/tmp/f', os.O_CREAT | os.O_RDWR), 10**12)",
    "descriptors": "import os\ndef total(xs):\n    while True: os.dup(1)",
    "stderr": "import sys\ndef total(xs):\n    while True: sys.stderr.write('x' * 10**5)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return [f(x)]\ndef total(xs): return f(max([xs], key=lambda x: f(x)))",
    "zombies": "import os\ndef total(xs):\n    for _ in range(150):\n        if os.fork() == 0: os._exit(0)\n    return 0",
}  # fmt: skip

RIGHT = f"\ndef total(xs):\n    start()\n    return {SECRET} if xs else 17\n"
LINGERERS = {
    "daemon": "import os, time\ndef start():\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: time.sleep(100)\n        os._exit(0)",
    "daemon without descriptors": "import os, time\ndef start():\n    if os.fork() == 0:\n        os.setsid()\n        os.closerange(0, 64)\n        time.sleep(100)",
    "thread": "import threading, time\ndef start(): threading.Thread(target=time.sleep, args=(100,)).start()",
    "atexit": "import atexit, time\ndef start(): atexit.register(time.sleep, 100)",
    "stopped watcher": "import os\ndef start(): os.kill(os.getppid(), 19)",
}  # fmt: skip


async def attempt(sandbox: Bubblewrap, survivors: Callable[[], set[int]], source: str, test: str = TEST) -> str:
    began = time.monotonic()
    result = await sandbox.run(FunctionTest(source, "total", test, limits=LIMITS))
    assert time.monotonic() - began < LIMITS.wall_seconds + 1
    assert not survivors()
    assert len(result.stdout) <= LIMITS.output_bytes
    assert len(result.detail) < 10_000
    after = await sandbox.run(NEXT)
    assert after.ending == "passed", after
    return result.ending


@pytest.mark.parametrize("name", FALSE_PASSES)
async def test_no_trick_makes_wrong_code_pass(
    sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str
) -> None:
    assert await attempt(sandbox, survivors, FALSE_PASSES[name]) in {"exception", "wrong_answer"}


@pytest.mark.parametrize("name", SEARCHES)
async def test_what_is_expected_is_nowhere_to_be_found(
    sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str
) -> None:
    ending = await attempt(sandbox, survivors, FIND + SEARCHES[name], SEARCHED)
    assert ending in {"wrong_answer", "exception", "killed"}


PLANTED = {
    "frames": f"planted = '{SECRET}'\n",
    "garbage": f"planted = ['{SECRET}']\n",
    "arguments and files": f"open('/tmp/planted', 'w').write('{SECRET}')\n",
    "descriptors": f"import os\nos.write(os.open('/tmp/x', os.O_RDWR | os.O_CREAT), b'{SECRET}')\n",
}


@pytest.mark.parametrize("name", PLANTED)
async def test_the_search_finds_what_is_there(
    sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str
) -> None:
    assert await attempt(sandbox, survivors, PLANTED[name] + FIND + SEARCHES[name], SEARCHED) == "passed"


@pytest.mark.parametrize("name", KILLS)
async def test_no_signal_reaches_the_harness(sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str) -> None:
    assert await attempt(sandbox, survivors, KILLS[name]) in {"killed", "wrong_answer", "exception", "timeout"}


@pytest.mark.parametrize("name", LOOPS)
async def test_every_loop_ends_in_time(sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str) -> None:
    assert await attempt(sandbox, survivors, LOOPS[name]) == "timeout"


@pytest.mark.parametrize("name", GREED)
async def test_greed_is_bounded(sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str) -> None:
    ending = await attempt(sandbox, survivors, GREED[name])
    assert ending in {"exception", "memory", "killed", "timeout", "output_limit"}


@pytest.mark.parametrize("name", LINGERERS)
async def test_a_right_answer_passes_and_its_rest_is_cleared_away(
    sandbox: Bubblewrap, survivors: Callable[[], set[int]], name: str
) -> None:
    assert await attempt(sandbox, survivors, LINGERERS[name] + RIGHT) == "passed"


LOOK = """
import os, socket, ctypes
def tried(what):
    try: return what()
    except OSError as error: return type(error).__name__
libc = ctypes.CDLL(None, use_errno=True)
print('env', sorted(set(os.environ) - {'PWD', 'LC_CTYPE'}))
print('top', sorted(os.listdir('/')))
print('ids', os.getuid(), os.getgid(), os.getgroups() in ([], [65534]))
for path in PATHS: print('seen', path, os.path.exists(path))
print('write', [path for path in ('/x', '/usr/x', '/dev/x', '/jail/x', '/tmp/x') if not isinstance(tried(lambda: open(path, 'w')), str)])
print('fds', [fd for fd in range(64) if not isinstance(tried(lambda: os.fstat(fd)), str)])
print('tcp', isinstance(tried(lambda: socket.create_connection(('127.0.0.1', PORT), 1)), str))
print('udp', isinstance(tried(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))), str))
print('name', isinstance(tried(lambda: socket.getaddrinfo('localhost.example', 80)), str))
print('abstract', isinstance(tried(lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + ABSTRACT)), str))
print('mount', libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
print('unshare', libc.unshare(0x10000000))
print('raise', libc.setuid(0))
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


async def test_nothing_of_the_outside_is_seen(
    sandbox: Bubblewrap, monkeypatch: pytest.MonkeyPatch, canary: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never")
    abstract = f"measurand-{os.getpid()}"
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + abstract)
        unix.listen()
        paths = [str(canary), "/etc/passwd", "/root", "/home", "/proc/1", "/sys", "/dev/mem", "/run", "/var", __file__]
        port = server.sockets[0].getsockname()[1]
        result = await sandbox.run(Script(f"PATHS, PORT, ABSTRACT = {paths!r}, {port}, {abstract!r}\n{LOOK}"))
    server.close()
    await server.wait_closed()
    assert result.stderr == ""
    said = result.stdout.splitlines()
    assert "sk-never" not in result.stdout
    assert said[0] in {
        f"env {names}" for names in (["HOME", "LANG", "PATH", "PYTHONHASHSEED"], ["HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONHASHSEED"])
    }  # fmt: skip
    assert not {"etc", "root", "home", "work", "proc", "sys", "var", "run"} & set(said[1].split("'"))
    assert said[2] == "ids 65534 65534 True"
    assert [line.rpartition(" ")[2] for line in said if line.startswith("seen")] == ["False"] * len(paths)
    assert said[-10:] == [
        "write ['/tmp/x']",
        "fds [0, 1, 2]",
        "tcp True",
        "udp True",
        "name True",
        "abstract True",
        "mount -1",
        "unshare -1",
        "raise -1",
        "hard kept",
    ]


def test_nothing_outside_can_be_changed(sandbox: Bubblewrap, canary: Path) -> None:
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


async def test_no_file_waits_for_the_next(sandbox: Bubblewrap) -> None:
    await sandbox.run(Script("open('/tmp/left', 'w').write('x'); open('left', 'w')"))
    result = await sandbox.run(Script("import os; print(os.listdir('/tmp'))"))
    assert result.stdout == "[]\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_programs_of_root_run_as_nobody(sandbox: Bubblewrap, survivors: Callable[[], set[int]]) -> None:
    sleeping = [asyncio.create_task(sandbox.run(Script("import time; time.sleep(2)"))) for _ in range(2)]
    await asyncio.sleep(1)
    users = {os.stat(f"/proc/{pid}").st_uid for pid in survivors()}  # noqa: PTH116 - the other way is refused here
    await asyncio.gather(*sleeping)
    assert len(users) == 2
    assert 0 not in users
