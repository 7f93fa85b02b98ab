"""Grade a change of a repository by its tests: the smallest grader that believes no more than was proved.

The change alone is carried into a fresh workspace; tests and everything that steers them come from the base. A
test that must fail runs among the others: where it passes, somebody has laid hands on the judge.
"""

from __future__ import annotations

import importlib.util
import secrets
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from measurand.core.errors import InputError
from measurand.core.workspace import WorkspaceLimits
from measurand.sandboxes.jail.workspace_mounts import copy
from measurand.sandboxes.jailed import printable
from measurand.sandboxes.leases import owner
from measurand.sandboxes.reports import ReportError, parse_junit
from measurand.sandboxes.workspace import WORK, Workspace
from measurand.sandboxes.workspace_base import Base, give, shared_base
from measurand.sandboxes.workspace_jail import interpreter_inside

KNOWN_LIMIT = (
    "The tests run in one process with the code that they test, so code written against them can return objects that "
    "equal everything, or rewrite the test runner in memory; a failing sentinel test finds the second where it is done "
    "wholesale, and nothing finds the first."
)
"""What no in-process grader can prevent; the card of every benchmark that grades repositories states it."""

REPEATS = 3
"""How often the gold change must pass, and no change fail, before an instance may be used."""

PYTEST = (
    *(
        "{python}",
        "-s",
        "-c",
        f"import sys; del sys.path[0]; import pytest; sys.path.append({WORK!r}); sys.exit(pytest.main())",
    ),
    *("--rootdir", WORK, "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"),
    *("-o", "junit_family=xunit1", "--junitxml", "{report}", "{tests}"),
)
"""The default command. Pytest is imported before the repository can be found, so nothing there can pose as it."""

_STEERING = frozenset(
    {
        *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
        *("pyproject.toml", "sitecustomize.py", "usercustomize.py"),
    }
)
_PACKAGES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging")
_REPORT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Task:
    """A repository at its base commit, and the tests that say whether a change has done what was asked.

    `fail_to_pass` and `pass_to_pass` are names as pytest gives them (`tests/test_a.py::TestB::test_c`). `tests` are
    files, by path, that replace those of the base for grading. `restore` names further files and folders that no
    change may touch. `command` may hold `{python}`, `{report}` (where a JUnit file is to be written) and `{tests}`.
    """

    base: Path
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...] = ()
    tests: Mapping[str, bytes] = field(default_factory=dict)
    restore: tuple[str, ...] = ()
    command: tuple[str, ...] = PYTEST
    seconds: float = 600.0
    limits: WorkspaceLimits = field(default_factory=WorkspaceLimits)


@dataclass(frozen=True, slots=True)
class Grade:
    """What became of a change, and how each test that counts ended (`missing` where nothing was reported)."""

    outcome: Literal["resolved", "not_resolved", "tampered", "environment_unavailable"]
    detail: str = ""
    tests: Mapping[str, str] = field(default_factory=dict)


class Grader:
    """Grades changes of one task, each in a workspace of its own."""

    def __init__(self, task: Task, base: Base, runner: Base) -> None:
        self._task = task
        self._base = replace(base, packages=((str(runner.path), "/packages"),))

    async def grade(self, patch: str) -> Grade:
        """Apply a unified diff, restore what steers the tests, run them, and read their report.

        Raises SandboxError where there is no isolation, SandboxDeadError where it broke down; neither says
        anything about the change.
        """
        nonce = secrets.token_hex(16)
        async with Workspace(self._base, self._task.limits) as workspace:
            lacking = await self._lacking(workspace)
            if lacking:
                return Grade("environment_unavailable", lacking)
            refused = await _apply(workspace, patch, f".patch-{nonce}")
            if refused:
                return Grade("not_resolved", f"the change cannot be applied: {refused}")
            await self._restore(workspace)
            return await self._judge(workspace, nonce)

    async def examine(self, gold: str) -> str:
        """Why the task cannot be used, or nothing: gold must resolve it each time, and no change must not."""
        for patch, wanted in ((gold, "resolved"), ("", "not_resolved")):
            for _ in range(REPEATS):
                grade = await self.grade(patch)
                if grade.outcome != wanted:
                    which = "the gold change" if patch else "no change at all"
                    return f"{which} is graded {grade.outcome}: {grade.detail}"
        return ""

    async def _lacking(self, workspace: Workspace) -> str:
        if self._task.command == PYTEST:
            result = await workspace.run(f"{_python()} -c 'import pytest'", 60)
            if result.exit_code != 0:
                return "pytest is not there for the jail's Python: install pytest beside Measurand"
        if (await workspace.run("git --version", 60)).exit_code != 0:
            return "git is not installed, so no change can be applied"
        return ""

    async def _restore(self, workspace: Workspace) -> None:
        """Put back everything that steers the tests; what the change has added of the kind is removed."""
        wanted = {path: data for path, data in _files(self._task.base).items() if self._steers(path)}
        there = {entry.path: entry.kind for entry in await workspace.entries()}
        ways = {str(way) for path in (*wanted, *self._task.tests) for way in PurePosixPath(path).parents}
        doomed = [path for path, kind in there.items() if kind != "folder" and (self._steers(path) or path in ways)]
        for start in range(0, len(doomed), 500):
            listed = " ".join(shlex.quote(f"./{path}") for path in doomed[start : start + 500])
            await workspace.run(f"cd {WORK} && rm -f -- {listed}", 60)
        for path, (file, mode) in wanted.items():
            await workspace.write(path, file.read_bytes(), mode)
        for path, data in self._task.tests.items():
            await workspace.write(path, data)

    def _steers(self, path: str) -> bool:
        where = PurePosixPath(path)
        return (
            where.name in _STEERING
            or where.suffix == ".pth"
            or where.match("test_*.py")
            or where.match("*_test.py")
            or "tests" in where.parts
            or any(where.is_relative_to(place) for place in self._task.restore)
        )

    async def _judge(self, workspace: Workspace, nonce: str) -> Grade:
        counted = (*self._task.fail_to_pass, *self._task.pass_to_pass)
        files = list(dict.fromkeys(name.partition("::")[0] for name in counted))
        places = dict.fromkeys(str(PurePosixPath(file).parent) for file in files)
        sentinels = [f"{place}/test_{nonce}.py".removeprefix("./") for place in places]
        for path in sentinels:
            await workspace.write(path, f"def test_{nonce}():\n    assert {nonce!r} == ''\n".encode())
        report = f".report-{nonce}/junit.xml"
        await workspace.run(f"mkdir {WORK}/.report-{nonce}", 60)
        result = await workspace.run(self._line(report, [*files, *sentinels]), self._task.seconds)
        if result.timed_out:
            return Grade("not_resolved", f"the tests have not ended within {self._task.seconds:g} seconds")
        try:
            said = parse_junit(await workspace.read(report, _REPORT_BYTES))
        except (InputError, ReportError) as error:
            last = (result.stdout.strip().splitlines() or result.stderr.strip().splitlines() or ["nothing"])[-1]
            return Grade("not_resolved", f"the tests have left no report ({error}); their last words: {last[:300]}")
        ended = {name: said.get(name, "missing") for name in counted}
        for path in sentinels:
            sentinel = said.get(f"{path}::test_{nonce}", "missing")
            if said and sentinel != "failed":
                return Grade("tampered", f"a test that must fail is reported as {sentinel}", ended)
        bad = [f"{printable(name)} {how}" for name, how in ended.items() if how != "passed"]
        return Grade("not_resolved" if bad else "resolved", "; ".join(bad[:5]), ended)

    def _line(self, report: str, tests: list[str]) -> str:
        words: list[str] = []
        for word in self._task.command:
            words += (
                tests
                if word == "{tests}"
                else [word.replace("{python}", _python_path()).replace("{report}", f"{WORK}/{report}")]
            )
        return f"cd {WORK} && {_CLEAN} {shlex.join(words)}"


_CLEAN = (
    "env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp LANG=C.UTF-8 PYTHONPATH=/packages PYTHONDONTWRITEBYTECODE=1"
)


@contextmanager
def grading(task: Task) -> Iterator[Grader]:
    """A grader of a task. The base is copied once, with a history of one commit, and the test runner beside it."""
    missing = [name for name in task.tests if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts]
    if missing or not task.fail_to_pass:
        raise InputError(f"the task of {task.base.name} names {missing[0] if missing else 'no test that must pass'}")
    with shared_base(task.base, one_commit=True) as base, owner().folder() as folder:
        for name in _PACKAGES:
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.submodule_search_locations:
                (folder / name).mkdir()
                copy(next(iter(spec.submodule_search_locations)), str(folder / name))
            elif spec is not None and spec.origin:
                shutil.copyfile(spec.origin, folder / f"{name}.py")
        give(folder, base.uid)
        yield Grader(task, base, Base(folder))


async def _apply(workspace: Workspace, patch: str, name: str) -> str:
    """Why a diff cannot be applied, or nothing. No diff is no change; git refuses to leave the folder."""
    if not patch.strip():
        return ""
    await workspace.write(name, (patch if patch.endswith("\n") else f"{patch}\n").encode("utf-8", "backslashreplace"))
    result = await workspace.run(f"cd {WORK} && git apply --whitespace=nowarn {name} && rm {name}", 120)
    return "" if result.exit_code == 0 else (result.stderr.strip().splitlines() or ["git says nothing"])[0][:300]


def _files(base: Path) -> dict[str, tuple[Path, int]]:
    """The regular files of the base by path, with their modes."""
    found = {}
    for path in sorted(base.rglob("*")):
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(base).parts:
            found[path.relative_to(base).as_posix()] = (path, path.stat().st_mode & 0o777)
    return found


def _python_path() -> str:
    """The jail's own interpreter where our pytest can be brought along, else the system's with its pytest."""
    return interpreter_inside() if importlib.util.find_spec("_pytest") else "/usr/bin/python3"


def _python() -> str:
    return f"{_CLEAN} {_python_path()} -s"
