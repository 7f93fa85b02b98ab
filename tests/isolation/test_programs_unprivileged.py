"""A selection of the cases where Measurand itself is no root: no control groups then, and one number for all jails."""

import asyncio
import json
import os
import select
import traceback
from pathlib import Path

import pytest

from measurand.core.program import FunctionTest
from measurand.sandboxes.bubblewrap import Bubblewrap
from measurand.sandboxes.forkserver import ForkServer
from measurand.sandboxes.jailer import Jailer
from measurand.sandboxes.room import memory_file
from tests.isolation.programs import LIMITS, NEXT, TEST
from tests.isolation.test_programs_reach import KILLS, LINGERERS, RIGHT
from tests.isolation.test_programs_resources import GREED, LOOPS
from tests.isolation.test_programs_verdicts import FALSE_PASSES

SOMEBODY = 3_000_000 + os.getpid() % 100_000
FAILURES = ["exception", "killed", "memory", "output_limit", "timeout", "wrong_answer"]
HOSTILE = {
    "1": GREED["1 forks"],
    "4": GREED["4 many processes"],
    "7": GREED["7 stdout"],
    "10": LOOPS["10 swallows exceptions"],
    "20": "def total(xs): return len(open('/etc/passwd').read())",
    "35": KILLS["35 everybody"],
    "34": KILLS["34 stops its parent"],
    "42": FALSE_PASSES["42 exit inside"],
    "46": FALSE_PASSES["46 int that equals everything"],
}


async def selection(sandbox: Jailer) -> dict[str, str]:
    """How each ended; a right program after each must pass."""
    endings: dict[str, str] = {"level": sandbox.describe().level}
    for name, source in (*HOSTILE.items(), ("37", LINGERERS["37 daemon"] + RIGHT)):
        endings[name] = (await sandbox.run(FunctionTest(source, "total", TEST, limits=LIMITS))).ending
        assert (await sandbox.run(NEXT)).ending == "passed"
    await sandbox.close()
    return endings


def as_somebody(kind: type[Jailer], answer: int) -> None:
    """Become nobody in particular, for good, and write the endings as JSON."""
    try:
        os.setgroups([])
        os.setresgid(SOMEBODY, SOMEBODY, SOMEBODY)
        os.setresuid(SOMEBODY, SOMEBODY, SOMEBODY)
        said = json.dumps(asyncio.run(selection(kind(1))))
    except BaseException:  # noqa: BLE001 - it is told in the parent
        said = json.dumps(traceback.format_exc())
    os.write(answer, said.encode())
    os._exit(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else; all other tests run as this user")
@pytest.mark.parametrize("kind", [ForkServer, Bubblewrap])
def test_hostile_programs_of_an_ordinary_user(kind: type[Jailer]) -> None:
    answer = memory_file(b"")
    child = os.fork()
    if child == 0:
        as_somebody(kind, answer)
    pidfd = os.pidfd_open(child)
    ended = select.select([pidfd], [], [], 100)[0]
    os.close(pidfd)
    if not ended:
        os.kill(child, 9)
    os.waitpid(child, 0)
    endings = json.loads(os.pread(answer, 1 << 16, 0) or b'"it did not end"')
    os.close(answer)
    assert isinstance(endings, dict), endings
    assert endings.pop("level") == "namespaces"
    assert endings.pop("37") == "passed"
    assert not {name: ending for name, ending in endings.items() if ending not in FAILURES}
    assert endings["4"] in {"memory", "timeout"}
    assert not [process for process in Path("/proc").glob("[0-9]*") if owner(process) == SOMEBODY]


def owner(process: Path) -> int:
    """Whose it is; nobody's where it is dead and only waits for the system's first process to notice."""
    try:
        dead = (process / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        return -1 if dead else process.stat().st_uid
    except OSError:
        return -1
