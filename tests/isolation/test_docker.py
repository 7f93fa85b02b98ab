"""Programs in containers: the same port, the same endings, nothing left. Numbers are those of the cases."""

import asyncio
import glob
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from measurand.core.errors import SandboxError
from measurand.core.ports import Sandbox
from measurand.core.program import FunctionTest, Limits, Script
from measurand.sandboxes import leases
from measurand.sandboxes.docker import IMAGE, Docker
from tests.isolation.engine import containers, image, running_engine
from tests.isolation.jails import wait_until
from tests.isolation.programs import LIMITS, NEXT, TEST
from tests.isolation.test_programs_reach import KILLS, LINGERERS
from tests.isolation.test_programs_reach import RIGHT as LINGERING
from tests.isolation.test_programs_resources import GREED, LOOPS
from tests.isolation.test_programs_verdicts import FALSE_PASSES, FIND, SEARCHED, SEARCHES
from tests.sandboxes.conformance import RIGHT, SandboxConformance

PATIENT = Limits(cpu_seconds=2, wall_seconds=6, disk_bytes=LIMITS.disk_bytes, processes=LIMITS.processes)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("docker")
    with running_engine(folder), image(folder) as name:
        before = set(containers())
        yield name
        assert not set(containers()) - before


@pytest.fixture
def docker(made: str) -> Docker:
    return Docker(image=made)


async def ending(docker: Docker, source: str, test: str = TEST) -> str:
    began = time.monotonic()
    result = await docker.run(FunctionTest(source, "total", test, limits=PATIENT))
    assert time.monotonic() - began < 30
    assert len(result.stdout) <= PATIENT.output_bytes
    assert not containers()
    return result.ending


@pytest.mark.slow
@pytest.mark.timeout(300)
class TestConformance(SandboxConformance):
    @pytest.fixture(autouse=True)
    def _engine(self, made: str) -> None:
        self.image = made

    def make(self) -> Sandbox:
        return Docker(image=self.image)


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestEscapes:
    async def test_42_61_no_trick_passes(self, docker: Docker):
        for trick in list(FALSE_PASSES)[::2]:
            assert await ending(docker, FALSE_PASSES[trick]) not in {"passed", "no_verdict"}, trick
        assert await ending(docker, NEXT.candidate) == "passed"

    async def test_48_50_there_is_nothing_to_find(self, docker: Docker):
        for search in SEARCHES:
            assert await ending(docker, FIND + SEARCHES[search], SEARCHED) != "passed", search

    async def test_01_16_33_36_greed_kills_and_loops_end(self, docker: Docker):
        for tricks in (GREED, KILLS, LOOPS):
            for trick in list(tricks)[::3]:
                assert await ending(docker, tricks[trick]) not in {"passed", "no_verdict"}, trick
        assert await ending(docker, NEXT.candidate) == "passed"

    async def test_37_41_right_answers_pass_and_nothing_lingers(self, docker: Docker):
        for trick in ("37 daemon", "41 atexit"):
            assert await ending(docker, LINGERERS[trick] + LINGERING) == "passed", trick

    async def test_18_32_nothing_of_the_host_is_inside(self, docker: Docker, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        look = (
            "import os, socket\nseen = repr(dict(os.environ))\n"
            "for pid in [p for p in os.listdir('/proc') if p.isdigit()]:\n    for name in ('environ', 'cmdline'):\n"
            "        try: seen += open(f'/proc/{pid}/{name}').read()\n        except OSError: pass\n"
            "print('sk-secret' in seen, os.getuid() > 1000)\n"
            "print([l.split()[1] for l in open('/proc/self/status') if l.startswith(('NoNewPrivs', 'CapEff', 'CapBnd'))])\n"
            "print([l.split(':')[0].strip() for l in open('/proc/net/dev')][2:])\n"
            "for path in ('/x', '/usr/x', '/etc/x', '/dev/x', '/proc/sys/kernel/panic'):\n    try: open(path, 'w').write('1'); print('wrote', path)\n    except OSError: pass\n"
            "for where in (('127.0.0.1', 22), ('169.254.169.254', 80)):\n    try: socket.create_connection(where, 2); print('reached')\n    except OSError: pass\n"
            "print(os.path.exists('/var/run/docker.sock'), len(os.listdir('/proc/self/fd')))\n"
        )
        result = await docker.run(Script(look))
        assert result.stdout == "False True\n['0000000000000000', '0000000000000000', '1']\n['lo']\nFalse 4\n", result

    async def test_a_cancelled_program_is_gone(self, docker: Docker):
        endless = FunctionTest(
            "def f(x):\n    while True: pass\n", "f", RIGHT.test, limits=Limits(cpu_seconds=60, wall_seconds=60)
        )
        assert docker.describe().level == "container"
        for wait in (0.0, 0.1, 0.6, 2.0):
            running = asyncio.create_task(docker.run(endless))
            await asyncio.sleep(wait)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert not containers()
        await docker.close()


HARNESS = """
import asyncio, os, signal, threading
from measurand.core.program import Script, Limits
from measurand.sandboxes import leases
from measurand.sandboxes.docker import Docker
if {orphaned}: leases._start_reaper = lambda state: -1
threading.Timer(6.0, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
asyncio.run(Docker(image={image!r}).run(Script("import time; time.sleep(1000)", limits=Limits(wall_seconds=900))))
"""


@pytest.mark.slow
@pytest.mark.parametrize("orphaned", ["", "yes"])
def test_a_killed_harness_leaves_no_container(
    orphaned: str, made: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = set(containers())
    done = subprocess.run(
        [sys.executable, "-c", HARNESS.format(image=made, orphaned=bool(orphaned))], timeout=60, check=False
    )
    assert done.returncode == -9
    if orphaned:
        assert len(set(containers()) - before) == 1
        assert [left.kind for left in leases.leftovers()] == ["containers"]
        assert [left.kind for left in leases.clean()] == ["containers"]
    assert wait_until(lambda: not set(containers()) - before, 30)
    assert wait_until(lambda: not glob.glob(f"{tmp_path}/**/*.json", recursive=True))  # noqa: PTH207 - bears folders that vanish


async def test_a_dead_socket_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for host in (f"unix://{tmp_path}/none.sock", "tcp://127.0.0.1:9"):
        monkeypatch.setenv("DOCKER_HOST", host)
        docker = Docker()
        told = docker.describe()
        assert told.level == "none"
        assert "\n" not in told.detail
        assert "DOCKER_HOST" in told.detail or "not installed" in told.detail
        with pytest.raises(SandboxError) as caught:
            await docker.run(Script("open('x', 'w')"))
        assert str(caught.value) == told.detail
        await docker.close()


async def test_without_docker_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Docker().describe().detail.startswith("docker is not installed")


def stand_in(folder: Path, script: str) -> None:
    path = folder / "docker"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_an_image_that_is_missing_or_unfit_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(leases, "_owner", None)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    stand_in(tmp_path, 'test "$1" = version')
    assert f"docker pull {IMAGE}" in Docker().describe().detail
    stand_in(tmp_path, 'if [ "$1" = run ]; then echo "exec: python3: not found" >&2; exit 127; fi')
    assert "python3: not found" in Docker().describe().detail
    leases.owner().close()


def test_an_engine_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(leases, "ENGINE_SECONDS", 1.0)
    stand_in(tmp_path, "exec sleep 100")
    began = time.monotonic()
    assert Docker().describe().level == "none"
    assert time.monotonic() - began < 20
