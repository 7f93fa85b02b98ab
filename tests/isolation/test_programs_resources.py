"""Cases 1 to 17: programs that take more than their share, or never end."""

import resource
import time
from collections.abc import Callable

import pytest

from measurand.core.program import Script
from measurand.sandboxes.jailer import Jailer
from tests.isolation.programs import LIMITS, UNHURRIED, attempt, patience

LOOPS = {
    "10 swallows exceptions": "def total(xs):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "10 at import": "while True: pass",
    "11 cancels timers": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nsignal.setitimer(signal.ITIMER_PROF, 0)\nsignal.alarm(0)\ndef total(xs):\n    while True: pass",
    "12 huge number": "def total(xs): return len(str(3 ** 30_000_000))",
    "15 regular expression": "import re\ndef total(xs): return bool(re.match('(a+)+$', 'a' * 40 + 'b'))",
    "15 sum": "def total(xs): return sum(range(10**12))",
    "16 ignores signals": "import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ndef total(xs):\n    while True: pass",
    "16 sleeps": "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ndef total(xs):\n    while True: time.sleep(100)",
    "41 atexit": "import atexit, time\natexit.register(time.sleep, 100)\ndef total(xs): time.sleep(100)",
    "56 waits for input that never comes": "import os\ndef total(xs):\n    for fd in range(3, 5000):\n        try: os.read(fd, 1)\n        except OSError: pass",
    "57 in its text": "class E(Exception):\n    def __str__(s):\n        while True: pass\ndef total(xs): raise E",
}  # fmt: skip

GREED = {
    "1 forks": "import os, time\ndef total(xs):\n    for _ in range(150):\n        if os.fork() == 0: time.sleep(100)\n    return 0",
    "1 fork bomb": "import os\ndef total(xs):\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "2 threads": "import threading, time\ndef total(xs):\n    for _ in range(150): threading.Thread(target=time.sleep, args=(100,)).start()\n    return 0",
    "3 memory": "def total(xs):\n    x = []\n    while True: x.append(bytearray(10**7))",
    "4 many processes": "import os, time\ndef total(xs):\n    for _ in range(8):\n        if os.fork() == 0:\n            x = bytearray(100_000_000)\n            for i in range(0, len(x), 4096): x[i] = 1\n            time.sleep(100)\n    time.sleep(100)",
    "5 one file": "def total(xs):\n    with open('/tmp/f', 'wb') as f:\n        while True: f.write(b'x' * 10**6)",
    "5 many files": "def total(xs):\n    for n in range(10**6):\n        with open(f'/tmp/{n}', 'wb') as f: f.write(b'x' * 10**4)",
    "5 file nodes": "import os\ndef total(xs):\n    for n in range(10**6): os.close(os.open(f'/tmp/{n}', os.O_CREAT | os.O_WRONLY))",
    "6 sparse file": "import os\ndef total(xs):\n    os.truncate(os.open('/tmp/f', os.O_CREAT | os.O_RDWR), 10**12)",
    "6 shared memory": "def total(xs):\n    with open('/dev/shm/x', 'wb') as f:\n        while True: f.write(b'x' * 10**6)",
    "6 unnamed files": "import os\ndef total(xs):\n    for n in range(60): os.write(os.memfd_create(str(n)), b'x' * 10**8)",
    "7 stdout": "def total(xs):\n    while True: print('x' * 10**5)",
    "8 stderr": "import sys\ndef total(xs):\n    while True: sys.stderr.write('x' * 10**5)",
    "8 both streams alternately": "import sys\ndef total(xs):\n    while True:\n        sys.stdout.write('x' * 10**4); sys.stdout.flush(); sys.stderr.write('y' * 10**4)",
    "9 descriptors": "import os\ndef total(xs):\n    while True: os.dup(1)",
    "13 huge integer": "def total(xs): return str(10**5000)",
    "14 deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return [f(x)]\ndef total(xs): return f(max([xs], key=lambda x: f(x)))",
    "17 zombies": "import os\ndef total(xs):\n    for _ in range(150):\n        if os.fork() == 0: os._exit(0)\n    return 0",
}  # fmt: skip

ENDINGS = {
    3: {"memory"},
    4: {"memory"},
    7: {"output_limit"},
    8: {"output_limit"},
    13: {"exception"},
}
"""The endings of the cases that have but one."""


@pytest.mark.parametrize("name", LOOPS)
async def test_every_loop_ends_in_time(sandbox: Jailer, survivors: Callable[[], set[int]], name: str) -> None:
    assert await attempt(sandbox, survivors, LOOPS[name]) == "timeout"


@pytest.mark.parametrize("name", GREED)
async def test_greed_is_bounded(sandbox: Jailer, survivors: Callable[[], set[int]], name: str) -> None:
    case = int(name.split(maxsplit=1)[0])
    limits = UNHURRIED if ENDINGS.get(case) == {"memory"} else LIMITS
    ending = await attempt(sandbox, survivors, GREED[name], limits=limits)
    assert ending in ENDINGS.get(case, {"exception", "memory", "killed", "timeout"})


async def test_07_the_harness_stays_small_and_the_flood_is_short(sandbox: Jailer) -> None:
    """What is kept is the limit; what is read beyond it is let go."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    result = await sandbox.run(Script("import os\nwhile True: os.write(1, b'x' * 65536)", limits=LIMITS))
    assert result.ending == "output_limit"
    assert len(result.stdout) == LIMITS.output_bytes
    assert time.monotonic() - began < patience(sandbox)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10
