"""A Docker engine for tests: the one that answers, or Debian's, started by hand, with an image made of this system."""

import os
import re
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.isolation.jails import wait_until

IMAGE = "measurand-test:python"
PYTHON = Path("/usr/bin/python3").resolve()
LEFT_OUT = {"test", "__pycache__", "idlelib", "ensurepip", "dist-packages", "site-packages", "lib2to3", "tkinter"}


@contextmanager
def running_engine(folder: Path) -> Iterator[None]:
    """Skip with a reason where none answers and none can be started. What is started here is stopped here."""
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    if answers():
        yield
        return
    dockerd = shutil.which("dockerd")
    if dockerd is None or os.geteuid() != 0:
        pytest.skip("no Docker engine answers, and dockerd is not installed or we are not root")
    socket = folder / "docker.sock"
    places = ("--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid")
    options = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--host", f"unix://{socket}")
    with pytest.MonkeyPatch.context() as patch, (folder / "log").open("wb") as log:
        patch.setenv("DOCKER_HOST", f"unix://{socket}")
        process = subprocess.Popen(
            [dockerd, *options, *map(str, places)], stdout=log, stderr=log, start_new_session=True
        )
        try:
            if not wait_until(lambda: answers() or process.poll() is not None, 30) or process.poll() is not None:
                pytest.skip(f"dockerd does not start: {(folder / 'log').read_text()[-300:]}")
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def answers() -> bool:
    command = ["docker", "version", "--format", "{{.Server.Version}}"]
    done = subprocess.run(command, capture_output=True, timeout=30, check=False)
    return done.returncode == 0


@contextmanager
def image(folder: Path) -> Iterator[str]:
    """The system's Python and the libraries it needs, as an image."""
    library = Path(f"/usr/lib/{PYTHON.name}")
    files = {PYTHON, *libraries(PYTHON)}
    for module in (library / "lib-dynload").glob("*.so"):
        files |= libraries(module)
    with tarfile.open(folder / "root.tar", "w") as root:
        for file in files:
            root.add(file.resolve(), arcname=str(file)[1:], recursive=False)
        for path in library.rglob("*"):
            if path.is_file() and not LEFT_OUT & set(path.relative_to(library).parts[:-1]):
                root.add(path.resolve(), arcname=str(path)[1:], recursive=False)
        link = tarfile.TarInfo("usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, PYTHON.name
        root.addfile(link)
    subprocess.run(["docker", "import", str(folder / "root.tar"), IMAGE], check=True, capture_output=True, timeout=120)
    try:
        yield IMAGE
    finally:
        subprocess.run(["docker", "rmi", "--force", IMAGE], check=False, capture_output=True, timeout=60)


def libraries(file: Path) -> set[Path]:
    done = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=False)
    return {Path(found) for found in re.findall(r"(/\S+) \(0x", done.stdout)}


def containers() -> list[str]:
    done = subprocess.run(
        ["docker", "ps", "--all", "--quiet", "--filter", "label=measurand.owner"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()
