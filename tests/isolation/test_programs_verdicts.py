"""Cases 42 to 61: wrong code that wants to pass."""

from collections.abc import Callable

import pytest

from measurand.sandboxes.jailer import Jailer
from tests.isolation.programs import SECRET, attempt

SEARCHED = f"def check(candidate):\n    assert candidate([1, 2, 3]) == {SECRET}\n"

FALSE_PASSES = {
    "42 exit inside": "import os\ndef total(xs): os._exit(0)",
    "42 exit at import": "import os\nos._exit(0)",
    "43 sys.exit inside": "import sys\ndef total(xs): sys.exit(0)",
    "43 sys.exit at import": "import sys\nsys.exit(0)",
    "43 keyboard interrupt": "def total(xs): raise KeyboardInterrupt",
    "43 own base exception": "class E(BaseException): pass\ndef total(xs): raise E",
    "44 atexit": "import atexit, os\natexit.register(os._exit, 0)\n\ndef total(xs):\n    return 0\n",
    "45 excepthook": "import sys, os\nsys.excepthook = lambda *a: os._exit(0)\n\ndef total(xs):\n    return 0\n",
    "46 equals everything": "class E:\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\n    __hash__ = None\ndef total(xs): return E()",
    "46 int that equals everything": "class E(int):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\n    def __abs__(s): return 0\n    __hash__ = None\ndef total(xs): return E(1)",
    "46 type that poses as int": "class M(type):\n    def __eq__(s, o): return True\n    __hash__ = int.__class__.__hash__\nclass E(metaclass=M):\n    __class__ = int\n    def __eq__(s, o): return True\ndef total(xs): return E()",
    "46 float subclass": "class E(float):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return E(0)\n    def __lt__(s, o): return True\n    __hash__ = float.__hash__\ndef total(xs): return E(1)",
    "46 str subclass in a list": "class E(str):\n    def __eq__(s, o): return True\n    __hash__ = str.__hash__\ndef total(xs): return [E('1')]",
    "47 patched builtins": "import builtins, math\nbuiltins.abs = lambda x: 0\nmath.isclose = lambda *a, **k: True\n\ndef total(xs):\n    return 0\n",
    "49 writes into every frame": "import sys\ndef total(xs):\n    f = sys._getframe()\n    while f:\n        for v in list(f.f_locals.values()) + list(f.f_globals.values()):\n            if type(v) is list and f.f_globals.get('__name__') != 'sys': v.append('passed')\n        f = f.f_back\n    return 0",
    "51 replaces the driver": "import sys\nfor m in list(sys.modules.values()):\n    for n in ('attempt', 'text_of', '_builtin_class'):\n        if hasattr(m, n): setattr(m, n, lambda *a, **k: ('passed', ''))\n\ndef total(xs):\n    return 0\n",
    "51 trace": "import sys\ndef t(f, e, a):\n    try: f.f_lineno += 2\n    except Exception: pass\n    return t\nsys.settrace(t)\n\ndef total(xs):\n    return 0\n",
    "51 racing thread": "import threading, os, time\ndef race():\n    while True: os.sched_yield()\nthreading.Thread(target=race, daemon=True).start()\n\ndef total(xs):\n    return 0\n",
    "51 overwrites check": "import sys, builtins\nbuiltins.check = lambda candidate: None\nsys.modules['test'] = sys.modules[__name__]\ncheck = lambda candidate: None\n\ndef total(xs):\n    return 0\n",
    "52 patched assertion": "import builtins\nbuiltins.AssertionError = type('A', (BaseException,), {})\n\ndef total(xs):\n    return 0\n",
    "52 swallows all": "def total(xs):\n    try: return 0\n    finally:\n        return 1",
    "52 decorates its own entry point": "def guard(f):\n    def inner(*a):\n        try: return f(*a)\n        except BaseException: return True\n    return inner\n@guard\ndef total(xs): assert False",
    "53 forges a verdict": "import sys\nfrom measurand.sandboxes.jail.codec import encode\ndef total(xs):\n    f = sys._getframe()\n    while f and 'channel' not in f.f_locals: f = f.f_back\n    for answer in (('passed', ''), ('returned', 0), ('loaded',)): f.f_locals['channel'].send(answer)\n    return 0",
    "53 prints the verdict": 'def total(xs):\n    print(\'passed\', flush=True)\n    print(\'<testsuite failures="0"/>\\nOK\\n1 passed\')\n    return 0',
    "53 prints a nonce of its own": "import os\ndef total(xs):\n    os.write(1, b'\\0\\0\\0\\x23' + b'0' * 16 + b't\\0\\0\\0\\2s\\0\\0\\0\\6passeds\\0\\0\\0\\0')\n    return 0",
    "54 writes to every descriptor": "import os\ndef total(xs):\n    for fd in range(3, 1024):\n        for data in (b'passed', b'\\0\\0\\0\\x17' + b'0' * 16 + b't', b'!'):\n            try: os.write(fd, data)\n            except OSError: pass\n    return 0",
    "54 sends a huge frame": "import os\ndef total(xs):\n    for fd in range(3, 1024):\n        try: os.write(fd, b'\\xff\\xff\\xff\\xff' + b'x' * 60000)\n        except OSError: pass\n    return 0",
    "54 sends deep nesting": "import os, struct\ndef total(xs):\n    data = b't\\0\\0\\0\\2s\\0\\0\\0\\x08returned' + b'l\\0\\0\\0\\1' * 10**5 + b'N'\n    for fd in range(3, 1024):\n        try: os.write(fd, struct.pack('>I', len(data)) + data)\n        except OSError: pass\n    return 0",
    "54 closes its channel": "import os\ndef total(xs): os.closerange(3, 1024)",
    "54 truncated": "import os, struct\ndef send(data):\n    for fd in range(3, 1024):\n        try: os.write(fd, struct.pack('>I', len(data)) + data)\n        except OSError: pass\ndef total(xs):\n    for fd in range(3, 1024):\n        try: os.write(fd, b'\\0\\0\\0\\x40t')\n        except OSError: pass\n    os._exit(0)",
    "54 duplicated and reordered": "import os, struct\ndef send(data):\n    for fd in range(3, 1024):\n        try: os.write(fd, struct.pack('>I', len(data)) + data)\n        except OSError: pass\ndef total(xs):\n    for _ in range(9): send(b't\\0\\0\\0\\2s\\0\\0\\0\\x08returnedF'); send(b't\\0\\0\\0\\1s\\0\\0\\0\\x06loaded')\n    return 0",
    "54 lone surrogates and zeros": "def total(xs): return '\\ud800\\0'",
    "54 invalid text": "import os, struct\ndef total(xs):\n    data = b't\\0\\0\\0\\2s\\0\\0\\0\\x08returneds\\0\\0\\0\\2\\xff\\xfe'\n    for fd in range(3, 1024):\n        try: os.write(fd, struct.pack('>I', len(data)) + data)\n        except OSError: pass\n    return 0",
    "54 not a number": "def total(xs): return float('nan')",
    "54 one gigabyte": "import os\ndef total(xs):\n    for fd in range(3, 1024):\n        try:\n            for _ in range(1000): os.write(fd, b'\\xff' * 10**6)\n        except OSError: pass\n    return 0",
    "55 pickles": "import os\nclass P:\n    def __reduce__(s): return (os._exit, (0,))\ndef total(xs): return P()",
    "56 reads its input": "def total(xs): return input()",
    "57 error that will not be shown": "class E(Exception):\n    def __str__(s): raise SystemExit\ndef total(xs): raise E",
    "57 error of ten megabytes": "def total(xs): raise ValueError('</script>\\x1b[2J\\ud800\\0' * 10**6)",
    "58 segmentation fault": "import ctypes\ndef total(xs): return ctypes.string_at(0)",
    "59 changes its argument": "def total(xs):\n    xs.clear()\n    return 0",
    "60 generator": "def total(xs): yield 424242",
    "13 integer of 5,000 digits": "def total(xs): return 10**5000",
    "60 set": "def total(xs): return {424242_987_654}",
    "60 minus zero": "def total(xs): return -0.0",
    "60 true for one": "def total(xs): return True",
    "60 huge tuple": "def total(xs): return tuple(range(10**5))",
    "61 behaves only where it is not watched": "import sys\ndef total(xs): return 0 if 'measurand.sandboxes.jail.inside' in sys.modules else 424242",
}  # fmt: skip

SEARCHES = {
    "48 frames": "import sys\ndef total(xs):\n    f, seen = sys._getframe(), ''\n    while f: seen += repr(f.f_locals) + repr(f.f_globals); f = f.f_back\n    return find(seen)",
    "50 garbage": "import gc\ndef total(xs):\n    return find(''.join(repr(o) for o in gc.get_objects() if isinstance(o, (str, tuple, list, dict))))",
    "50 arguments and files": "import os, sys\ndef total(xs):\n    seen = repr(sys.argv) + repr(sys.orig_argv) + repr(os.environ)\n    for top in ('/jail', '/tmp', '/proc', '/dev/fd'):\n        for where, _, names in os.walk(top):\n            for name in names:\n                try: seen += open(os.path.join(where, name), errors='replace').read()\n                except OSError: pass\n    return find(seen)",
    "50 inspection": "import inspect, linecache\ndef total(xs):\n    return find(repr(inspect.stack()) + repr(linecache.cache) + repr([linecache.getlines(f.filename) for f in inspect.stack()]))",
    "50 descriptors": "import os\ndef total(xs):\n    seen = ''\n    for fd in range(1024):\n        try:\n            os.set_blocking(fd, False)\n            seen += repr(os.pread(fd, 10**6, 0))\n        except OSError: pass\n        try: seen += repr(os.read(fd, 10**6))\n        except OSError: pass\n    return find(seen)",
    "50 own memory": "import ctypes\ndef total(xs):\n    here = id(find)\n    return find(repr(ctypes.string_at(here - 200_000, 400_000)))",
}  # fmt: skip
FIND = "import re\ndef find(seen):\n    found = re.search('42' + r'4242\\d{6}', seen)\n    return int(found.group()) if found else 0\n"


@pytest.mark.parametrize("name", FALSE_PASSES)
async def test_no_trick_makes_wrong_code_pass(sandbox: Jailer, survivors: Callable[[], set[int]], name: str) -> None:
    ending = await attempt(sandbox, survivors, FALSE_PASSES[name])
    assert ending in ({"killed"} if name.startswith("58") else {"exception", "wrong_answer", "killed"})


@pytest.mark.parametrize("name", SEARCHES)
async def test_what_is_expected_is_nowhere_to_be_found(
    sandbox: Jailer, survivors: Callable[[], set[int]], name: str
) -> None:
    ending = await attempt(sandbox, survivors, FIND + SEARCHES[name], SEARCHED)
    assert ending in {"wrong_answer", "exception", "killed"}


PLANTED = {
    "48 frames": f"planted = '{SECRET}'\n",
    "50 garbage": f"planted = ['{SECRET}']\n",
    "50 arguments and files": f"open('/tmp/planted', 'w').write('{SECRET}')\n",
    "50 descriptors": f"import os\nos.write(os.open('/tmp/x', os.O_RDWR | os.O_CREAT), b'{SECRET}')\n",
}


@pytest.mark.parametrize("name", PLANTED)
async def test_the_search_finds_what_is_there(sandbox: Jailer, survivors: Callable[[], set[int]], name: str) -> None:
    assert await attempt(sandbox, survivors, PLANTED[name] + FIND + SEARCHES[name], SEARCHED) == "passed"
