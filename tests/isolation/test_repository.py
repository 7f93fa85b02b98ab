"""A change is resolved by its tests and by nothing else. Numbers are those of the cases."""

import difflib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.sandboxes import repository
from measurand.sandboxes.reports import ReportError, parse_junit
from measurand.sandboxes.repository import KNOWN_LIMIT, REPEATS, Grade, Task, grading
from tests.isolation.jails import jails

__all__ = ["jails"]

CALC = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n"
FIXED = CALC.replace("a - b", "a + b")
TESTS = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\nclass TestDouble:\n    def test_double(self):\n        assert calc.double(4) == 8\n"
CONFTEST = "import sys\nsys.path.insert(0, '.')\n"
INI = "[pytest]\naddopts = --strict-markers\n"
BASE = {
    "calc.py": CALC,
    "tests/test_calc.py": "def test_old():\n    pass\n",
    "tests/conftest.py": CONFTEST,
    "pytest.ini": INI,
}
ADD, DOUBLE = "tests/test_calc.py::test_add", "tests/test_calc.py::TestDouble::test_double"
FLIP = (
    "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    out = yield\n"
    "    report = out.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n"
)


@pytest.fixture
def task(tmp_path: Path, jails: Callable[[], set[int]]) -> Task:
    base = tmp_path / "repository"
    for name, text in BASE.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    return Task(base, (ADD,), (DOUBLE,), {"tests/test_calc.py": TESTS.encode()}, seconds=60)


def diff(**changes: str) -> str:
    """A unified diff of files, with `__` for `/` in their names."""
    out = []
    for key, new in changes.items():
        name = key.replace("__", "/").replace("_DOT_", ".")
        old = BASE.get(name)
        out.append(f"diff --git a/{name} b/{name}\n")
        if old is None:
            out.append("new file mode 100644\n")
        lines = difflib.unified_diff(
            (old or "").splitlines(keepends=True),
            new.splitlines(keepends=True),
            f"a/{name}" if old else "/dev/null",
            f"b/{name}",
        )
        out += lines
    return "".join(out)


def change(files: dict[str, str]) -> str:
    return diff(**{name.replace("/", "__").replace(".", "_DOT_"): text for name, text in files.items()})


GOLD = change({"calc.py": FIXED})


async def grade(task: Task, patch: str) -> Grade:
    with grading(task) as grader:
        return await grader.grade(patch)


@pytest.mark.slow
async def test_70_gold_passes_and_nothing_fails_each_time(task: Task, monkeypatch: pytest.MonkeyPatch):
    assert REPEATS == 3
    graded: list[str] = []
    original = repository.Grader.grade

    async def counting(self: repository.Grader, patch: str) -> Grade:
        result = await original(self, patch)
        graded.append(result.outcome)
        return result

    monkeypatch.setattr(repository.Grader, "grade", counting)
    with grading(task) as grader:
        assert await grader.examine(GOLD) == ""
        assert graded == ["resolved"] * 3 + ["not_resolved"] * 3
        assert "the gold change is graded not_resolved" in await grader.examine(change({"calc.py": CALC + "\n"}))
    already = replace(task, fail_to_pass=(DOUBLE,), pass_to_pass=())
    with grading(already) as grader:
        assert "no change at all is graded resolved" in await grader.examine(GOLD)


async def test_every_test_is_named_with_how_it_ended(task: Task):
    result = await grade(task, "")
    assert result.tests == {ADD: "failed", DOUBLE: "passed"}
    assert ADD in result.detail
    broken = await grade(task, change({"calc.py": "def add(a, b):\n    return a + b\n"}))
    assert (broken.outcome, broken.tests) == ("not_resolved", {ADD: "passed", DOUBLE: "failed"})
    unknown = await grade(replace(task, fail_to_pass=("tests/test_calc.py::test_none",)), GOLD)
    assert (unknown.outcome, unknown.tests["tests/test_calc.py::test_none"]) == ("not_resolved", "missing")


PASSED = "print('PASSED tests/test_calc.py::test_add')\nprint('tests/test_calc.py::test_add PASSED [100%]')\nprint('2 passed in 0.01s')\n"
REPORT = (
    "import atexit, glob, os\ndef forge():\n    for where in glob.glob('/work/.report-*'):\n        for name in ('junit.xml',):\n"
    '            open(os.path.join(where, name), \'w\').write(\'<testsuites><testsuite><testcase file="tests/test_calc.py" classname="tests.test_calc" name="test_add"/>\'\n'
    '            \'<testcase file="tests/test_calc.py" classname="tests.test_calc.TestDouble" name="test_double"/></testsuite></testsuites>\')\natexit.register(forge)\n'
)
FALSE = {
    "62 a conftest that rewrites outcomes": {"conftest.py": FLIP},
    "62 a conftest in place of theirs": {"tests/conftest.py": FLIP},
    "64 forged lines": {"calc.py": PASSED + CALC},
    "64 forged lines at the end": {"calc.py": f"import atexit\natexit.register(lambda: print({PASSED!r}))\n" + CALC},
    "65 xfail": {"tests/test_calc.py": "import pytest\npytestmark = pytest.mark.xfail(run=False)\n" + TESTS},
    "65 skip from the module": {"calc.py": "import pytest\ndef add(a, b): pytest.skip('x')\ndef double(a): return a * 2\n"},
    "65 xfail from the module": {"calc.py": "import pytest\ndef add(a, b): pytest.xfail('x')\ndef double(a): return a * 2\n"},
    "66 edited tests": {"tests/test_calc.py": "def test_add(): pass\nclass TestDouble:\n    def test_double(self): pass\n"},
    "66 sitecustomize": {"sitecustomize.py": "import os\nos._exit(0)\n", "tests/sitecustomize.py": "import os\nos._exit(0)\n"},
    "66 pth": {"x.pth": "import os; os._exit(0)\n"},
    "66 ini": {"pytest.ini": "[pytest]\naddopts = -p cheat\n", "cheat.py": FLIP},
    "66 another ini": {".pytest.ini": "[pytest]\naddopts = -p cheat\n", "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p cheat'\n", "cheat.py": FLIP},
    "66 another pytest": {"pytest.py": "import sys\ndef main(*a): return 0\n", "pluggy.py": "x", "_pytest/__init__.py": "x", "xml/__init__.py": "x"},
    "66 python in PATH": {"python": "#!/bin/sh\nexit 0\n", "bin/python3": "#!/bin/sh\nexit 0\n", "env": "#!/bin/sh\nexit 0\n"},
    "42 exit at import": {"calc.py": "import os\nos._exit(0)\n"},
    "43 exit in the function": {"calc.py": "import os\ndef add(a, b): os._exit(0)\ndef double(a): return a * 2\n"},
    "10 never ends": {"calc.py": "while True: pass\n"},
    "a syntax error": {"calc.py": "def add(\n"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("trick", FALSE)
async def test_62_66_no_trick_resolves(trick: str, task: Task):
    result = await grade(replace(task, seconds=8) if "ends" in trick else task, change(FALSE[trick]))
    assert result.outcome == "not_resolved", result
    assert "\n" not in result.detail


TAMPERING = {
    "63 from the module": {"calc.py": "import _pytest.runner as r\nold = r.TestReport.from_item_and_call\n"
        "def new(item, call):\n    report = old(item, call)\n    report.outcome = 'passed'\n    report.longrepr = None\n    return report\n"
        "r.TestReport.from_item_and_call = new\n" + CALC},
    "63 from the module, by not running": {"calc.py": "import _pytest.python as p\np.Function.runtest = lambda self: None\n" + CALC},
    "53 a forged report": {"calc.py": REPORT + CALC},
}  # fmt: skip


@pytest.mark.parametrize("trick", TAMPERING)
async def test_63_a_sentinel_finds_who_lays_hands_on_the_judge(trick: str, task: Task):
    result = await grade(task, change(TAMPERING[trick]))
    assert result.outcome == "tampered", result


async def test_62_what_is_flipped_by_a_conftest_would_be_found_too(task: Task):
    """Were the file not restored, the sentinel would still tell."""
    (task.base / "tests" / "conftest.py").write_text(FLIP)
    result = await grade(task, "")
    assert result.outcome == "tampered"
    assert result.tests[ADD] == "passed"


async def test_66_tests_behind_a_link_or_a_file_are_restored(task: Task):
    away = change({"tests/test_calc.py": ""}).replace("--- a/tests/test_calc.py", "--- a/tests/test_calc.py")
    link = (
        "diff --git a/tests/conftest.py b/tests/conftest.py\ndeleted file mode 100644\n--- a/tests/conftest.py\n+++ /dev/null\n"
        "@@ -1,2 +0,0 @@\n-import sys\n-sys.path.insert(0, '.')\n"
        "diff --git a/tests/test_calc.py b/tests/test_calc.py\ndeleted file mode 100644\n--- a/tests/test_calc.py\n+++ /dev/null\n"
        "@@ -1,2 +0,0 @@\n-def test_old():\n-    pass\n"
        "diff --git a/elsewhere/test_calc.py b/elsewhere/test_calc.py\nnew file mode 100644\n--- /dev/null\n+++ b/elsewhere/test_calc.py\n@@ -0,0 +1 @@\n+def test_add(): pass\n"
        "diff --git a/tests b/tests\nnew file mode 120000\n--- /dev/null\n+++ b/tests\n@@ -0,0 +1 @@\n+elsewhere\n\\ No newline at end of file\n"
    )
    for patch in (away, link):
        assert (await grade(task, patch)).outcome == "not_resolved"
        good = await grade(task, patch + GOLD)
        assert good.outcome == "resolved", good


@pytest.mark.parametrize(
    "patch",
    [
        "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/.git/hooks/pre-commit b/.git/hooks/pre-commit\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n",
        "not a diff at all",
        "--- a/calc.py\n+++ b/calc.py\n@@ -90,1 +90,1 @@\n-nothing\n+something\n",
        "\x00\ud800",
    ],
)
async def test_66_changes_that_reach_out_or_do_not_apply(patch: str, task: Task):
    result = await grade(task, patch)
    assert result.outcome == "not_resolved"
    assert "cannot be applied" in result.detail


async def test_67_objects_that_equal_everything_are_a_stated_limit(task: Task):
    trick = "class E:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef add(a, b): return E()\ndef double(a): return E()\n"
    assert (await grade(task, change({"calc.py": trick}))).outcome == "resolved"  # if this fails, strike the statement
    assert "equal everything" in KNOWN_LIMIT
    assert "nothing finds" in KNOWN_LIMIT


async def test_an_environment_that_lacks_something_is_no_failure(task: Task, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repository, "_PACKAGES", ())
    result = await grade(task, GOLD)
    assert result.outcome == "environment_unavailable"
    assert "pytest" in result.detail
    with grading(task) as grader:
        assert "environment_unavailable" in await grader.examine(GOLD)


async def test_another_runner_is_asked_for_the_same_report(task: Task):
    script = (
        "import sys, unittest, calc\nok = calc.add(2, 3) == 5\n"
        "open(sys.argv[1], 'w').write('<testsuite><testcase classname=\"a\" name=\"b\">%s</testcase>' % ('' if ok else '<failure/>')\n"
        ' + \'\'.join(f\'<testcase file="{p}" classname="x" name="{p.split("/")[-1][:-3]}"><failure/></testcase>\' for p in sys.argv[2:]) + \'</testsuite>\')\n'
    )
    other = replace(
        task, fail_to_pass=("a::b",), pass_to_pass=(), command=("{python}", "-c", script, "{report}", "{tests}")
    )
    assert (await grade(other, GOLD)).outcome == "resolved"
    assert (await grade(other, "")).outcome == "not_resolved"


def test_a_task_that_cannot_be_is_refused(task: Task):
    for bad in (replace(task, fail_to_pass=()), replace(task, tests={"../x": b""}), replace(task, tests={"/x": b""})):
        with pytest.raises(InputError), grading(bad):
            pass


REPORTS = {
    b'<a><testcase classname="m.C" name="t"/></a>': {"m.C::t": "passed"},
    b'<a><testcase file="m/n.py" classname="m.n" name="t[a.b]"><skipped/></testcase></a>': {"m/n.py::t[a.b]": "skipped"},
    b'<a><testcase file="m.py" classname="m.C.D" name="t"><failure/><error/></testcase></a>': {"m.py::C::D::t": "error"},
    b'<a><b><testcase name="t" classname="c"><failure/></testcase><testcase name="t" classname="c"/></b></a>': {"c::t": "failed"},
    b"<a/>": {},
    '<a><testcase classname="ü" name="\U0001f600"><system-out>&lt;testcase name="x"/></system-out></testcase></a>'.encode(): {"ü::\U0001f600": "passed"},
    b'<a><testcase classname="c" name="t"><system-out><![CDATA[<testcase name="x"/>]]></system-out></testcase></a>': {"c::t": "passed"},
}  # fmt: skip


@pytest.mark.parametrize("data", REPORTS)
def test_reports_are_read(data: bytes):
    assert parse_junit(data) == REPORTS[data]


BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY a%d "&a%d;&a%d;">' % (n, n - 1, n - 1) for n in range(1, 30))
    + b"]><x>&a29;</x>"
)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"<a>",
        b"<a/><b/>",
        b"\xff\xfe",
        b"<a>\x00</a>",
        BOMB,
        b'<?xml version="1.0" encoding="nonsense"?><a/>',
        b"<a>" * 10**5,
    ],
)
def test_what_is_no_report_is_refused(data: bytes):
    with pytest.raises(ReportError):
        parse_junit(data)


@given(st.binary(max_size=500))
def test_junk_is_no_report(data: bytes):
    for junk in (data, b"<a><testcase name='" + data + b"'/></a>"):
        try:
            found = parse_junit(junk)
        except ReportError:
            continue
        assert set(found.values()) <= {"passed"}
