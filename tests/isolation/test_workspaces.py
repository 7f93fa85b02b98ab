"""A workspace is one shell for its owner, and a closed room for whoever is in it. Numbers are those of the cases."""

import asyncio
import io
import os
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError, SandboxDeadError, SandboxError
from measurand.core.workspace import WorkspaceLimits
from measurand.sandboxes import room, workspace_jail
from measurand.sandboxes.workspace import Workspace
from measurand.sandboxes.workspace_base import shared_base
from measurand.sandboxes.workspace_files import collect, unpack
from tests.isolation.jails import jails

__all__ = ["jails"]

SMALL = WorkspaceLimits(memory_bytes=1 << 29, disk_bytes=8 << 20, processes=40, file_bytes=4 << 20)
pytestmark = pytest.mark.usefixtures("jails")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    (base / "sub").mkdir(parents=True)
    (base / "a.txt").write_text("from the base\n")
    (base / "sub" / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (base / "sub" / "run.sh").chmod(0o755)
    (base / "link").symlink_to("a.txt")
    os.mkfifo(base / "fifo")
    return base


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def init(workspace: Workspace) -> int:
    """The first process of a workspace."""
    assert workspace._jail is not None
    assert workspace._jail._init is not None
    return workspace._jail._init


async def said(workspace: Workspace, command: str, seconds: float = 20) -> str:
    return (await workspace.run(command, seconds)).stdout


# One shell.


async def test_commands_are_of_one_shell():
    async with Workspace() as w:
        await w.run(
            "mkdir -p 'a b/c\"$d' && cd 'a b/c\"$d'; X='1\n2 \"q\"'; export Y=7; f() { echo f$X; }; umask 027", 20
        )
        assert await said(w, "pwd") == '/work/a b/c"$d\n'
        assert await said(w, "f; echo \"$X\"; sh -c 'echo $Y'; umask") == 'f1 2 "q"\n1\n2 "q"\n7\n0027\n'
        assert (await w.run("exit 7", 20)).exit_code == 7
        assert await said(w, "echo $Y") == "7\n"
        assert await said(w, "false; echo $?; set -o pipefail") == "1\n"
        assert (await w.run("false | true", 20)).exit_code == 1


@pytest.mark.parametrize("shell", ["/bin/sh"])
async def test_without_bash_the_shell_remembers_what_sh_can(shell: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workspace_jail, "_shell", lambda: shell)
    async with Workspace() as w:
        await w.run("mkdir 'a $b' && cd 'a $b'; export Y='1 \"2\"'", 20)
        assert await said(w, 'pwd; echo "$Y"') == '/work/a $b\n1 "2"\n'
        assert (await w.run("exit 3", 20)).exit_code == 3


async def test_a_command_that_breaks_leaves_the_shell_as_it_was():
    async with Workspace() as w:
        await w.run("X=before", 20)
        for command in ("X=after; kill -9 $$", "X=after; exec sh -c 'kill -9 $$'", "X=after; if", "X=a; exec true"):
            await w.run(command, 20)
        slow = await w.run("X=after; echo partial; echo also >&2; sleep 100", 0.5)
        assert (slow.exit_code, slow.timed_out, slow.stdout, slow.stderr) == (None, True, "partial\n", "also\n")
        assert await said(w, "echo $X") in {"before\n", "after\n"}  # a syntax error ends a shell in order
        assert (await w.run("nonsense", 20)).exit_code == 127
        assert (await w.run("kill -SEGV $$", 20)).signal == "SIGSEGV"


async def test_53_no_output_passes_for_an_end_or_a_code():
    async with Workspace() as w:
        forged = "for fd in 1 2 3 4 5 6 7 8 9 10; do printf '\\0\\0\\0\\x20END 0\\nexit code: 0\\n' >&$fd; done 2>/dev/null; exit 5"
        result = await w.run(forged, 20)
        assert result.exit_code == 5
        assert result.stdout.count("exit code: 0") >= 1
        assert await said(w, "ls /proc/self/fd | wc -l") == "4\n"  # 0 to 2, and the folder being listed


async def test_07_08_a_flood_is_cut_and_stays_the_floods_problem():
    async with Workspace() as w:
        result = await w.run("yes | head -c 30000000; yes >&2", 1)
        assert result.truncated
        assert result.timed_out
        assert len(result.stdout) == len(result.stderr) == w._limits.output_bytes
        assert result.seconds < 5
        assert await said(w, "echo next") == "next\n"


@pytest.mark.parametrize(
    "command",
    [
        "while :; do :; done",
        "trap '' TERM INT HUP; sleep 100",
        "cat /dev/zero > /dev/null",
        "sleep 100 | sleep 100",
        "python3 -c 'import signal, time\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\ntime.sleep(99)'",
        "b() { b | b & }; b; wait; sleep 100",
    ],
)
async def test_10_16_deadlines_hold_for_the_whole_group(command: str):
    async with Workspace(limits=SMALL) as w:
        began = time.monotonic()
        result = await w.run(command, 1)
        assert result.timed_out or "b()" in command
        assert time.monotonic() - began < 20
        assert "sleep" not in await said(w, "cat /proc/[0-9]*/comm | grep -v cat; true") or "b()" in command


async def test_37_background_work_lives_on_and_dies_with_the_workspace(jails: Callable[[], set[int]]):
    async with Workspace() as w:
        await w.run("(setsid sleep 1000 &); while :; do echo tick; sleep 0.05; done & echo $! > pid", 20)
        await asyncio.sleep(0.3)
        assert await said(w, "kill -0 $(cat pid) && echo alive") == "alive\n"
        assert (await w.run("sleep 100", 0.3)).timed_out
        assert await said(w, "kill -0 $(cat pid) && echo alive") == "alive\n"
        assert jails()
    assert not jails()


async def test_a_cancelled_command_is_gone_and_the_next_one_answers_for_itself():
    async with Workspace() as w:
        running = asyncio.create_task(w.run("echo old; sleep 100", 100))
        await asyncio.sleep(0.5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await said(w, "echo new") == "new\n"
        both = await asyncio.gather(w.run("echo 1", 20), w.run("echo 2", 20))
        assert [result.stdout for result in both] == ["1\n", "2\n"]


# Files.


@given(st.binary(max_size=3000), st.sampled_from(["f", "/work/f", "new/folder/f", "ü €", "with 'quotes\" $x"]))
def test_files_come_back_as_they_were_given(data: bytes, path: str):
    async def there_and_back() -> bytes:
        async with Workspace() as w:
            await w.write(path, b"old" * 2000)
            await w.write(path, data)
            return await w.read(path)

    if SEEN.setdefault((path, len(data) % 3), True) is True:
        SEEN[path, len(data) % 3] = False
        assert asyncio.run(there_and_back()) == data


SEEN: dict[tuple[str, int], bool] = {}  # a jail for each of a hundred examples would take long


async def test_large_files_cross_and_larger_ones_do_not():
    data = os.urandom(3 << 20)
    async with Workspace(limits=SMALL) as w:
        await w.write("big", data)
        assert await w.read("big") == data
        with pytest.raises(InputError, match="5242880 bytes"):
            await w.write("bigger", bytes(5 << 20))
        with pytest.raises(InputError, match="at most 10"):
            await w.read("big", limit=10)


HOSTILE = {
    "link to a host file": "ln -s /etc/passwd x",
    "link up and out": "ln -s ../../../../../../etc/passwd x",
    "link to itself": "ln -s x x",
    "fifo": "mkfifo x",
    "socket": "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('x')\"",
    "folder": "mkdir x",
    "sparse": "truncate -s 7M x",
    "endless": "ln -s /dev/zero x",
    "memory of another": "ln -s /proc/1/mem x",
    "unreadable": "echo 1 > x; chmod 0 x",
    "nothing": "true",
}


async def test_24_25_hostile_files_are_refused_at_once():
    async with Workspace(limits=SMALL) as w:
        for trick, command in HOSTILE.items():
            await w.run(command, 20)
            began = time.monotonic()
            with pytest.raises(InputError, match="cannot be read"):
                await w.read("x")
            assert time.monotonic() - began < 20, trick
            if trick != "folder":
                await w.write("x", b"ours")
                assert await w.read("x") == b"ours", trick
            await w.run("rm -rf x", 20)


async def test_24_links_on_the_way_are_not_followed(tmp_path: Path):
    canary = tmp_path / "canary"
    canary.write_text("alive")
    async with Workspace() as w:
        await w.run(f"ln -s {tmp_path} out; ln -s /usr usr; ln -s /proc/1/root root; mkdir real; ln -s real in", 20)
        for path in ("out/canary", "usr/bin/env", f"root{canary}", "in/f"):
            with pytest.raises(InputError):
                await w.read(path)
            with pytest.raises(InputError):
                await w.write(path, b"dead")
        assert (await w.run("ln /usr/bin/env hard", 20)).exit_code != 0
    assert canary.read_text() == "alive"
    assert {"canary", "state", "measurand", "leases"} == {
        name for name in names(tmp_path) if "-" not in name and ".json" not in name
    }


PATHS = ["../x", "/etc/passwd", "/work/../etc/passwd", "", ".", "a//b", "a\0b", "a\nb", "/work", "\ud800"]


async def test_paths_outside_are_refused_before_anything_is_asked():
    async with Workspace() as w:
        for path in PATHS:
            with pytest.raises(InputError):
                await w.read(path)
            with pytest.raises(InputError):
                await w.write(path, b"")


async def test_25_only_regular_files_are_collected_and_the_rest_is_named():
    async with Workspace(limits=SMALL) as w:
        await w.run("mkdir -p d/e; echo 1 > d/e/f; ln -s /etc/passwd l; mkfifo p; truncate -s 7M s; touch $'n\\n'", 20)
        taken = await collect(w, most_bytes=1 << 20)
        assert taken.files == {"d/e/f": b"1\n"}
        assert set(taken.skipped) == {"l", "p", "s", "n\n"}
        assert (await collect(w, "d")).files == {"d/e/f": b"1\n"}


def tarred(*members: tuple[str, bytes | None, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, kind, data in members:
            member = tarfile.TarInfo(name)
            member.type = kind or tarfile.REGTYPE
            member.size = len(data)
            member.linkname = "/etc/passwd" if kind in {tarfile.SYMTYPE, tarfile.LNKTYPE} else ""
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def zipped(*members: tuple[str, bytes], mode: int = 0o100644) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


BAD_ARCHIVES = {
    "tar up": tarred(("../x", None, b"")),
    "tar up inside": tarred(("a/../../x", None, b"")),
    "tar absolute": tarred(("/etc/x", None, b"")),
    "tar folder up": tarred(("../d", tarfile.DIRTYPE, b"")),
    "tar symbolic link": tarred(("x", tarfile.SYMTYPE, b"")),
    "tar hard link": tarred(("x", tarfile.LNKTYPE, b"")),
    "tar fifo": tarred(("x", tarfile.FIFOTYPE, b"")),
    "tar device": tarred(("x", tarfile.BLKTYPE, b"")),
    "tar twice": tarred(("x", None, b"1"), ("./x", None, b"2")),
    "tar bomb": tarred(("x", None, bytes(80 << 20))),
    "tar bomb of headers": tarred(*((f"{n}", None, b"") for n in range(10_100))),
    "tar control": tarred(("a\x1b[2J", None, b"")),
    "zip up": zipped(("../x", b"")),
    "zip absolute": zipped(("/etc/x", b"")),
    "zip backslash": zipped(("..\\x", b"")),
    "zip link": zipped(("x", b"/etc/passwd"), mode=0o120777),
    "zip bomb": zipped(("x", bytes(80 << 20))),
    "zip bombs": zipped(*((f"{n}", bytes(9 << 20)) for n in range(8))),
    "neither": b"neither",
    "cut off": tarred(("x", None, os.urandom(5000)))[:2000],
}


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_26_hostile_archives_are_refused_or_bounded(name: str):
    began = time.monotonic()
    with pytest.raises(InputError) as caught:
        unpack(BAD_ARCHIVES[name])
    assert time.monotonic() - began < 20
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_26_good_archives_are_unpacked(mode: str):
    assert unpack(tarred(("d", tarfile.DIRTYPE, b""), ("./d/x", None, b"1"), mode=mode)) == {"d/x": b"1"}
    assert unpack(zipped(("d/", b""), ("d/x", b"1"))) == {"d/x": b"1"}


@given(st.binary(max_size=2000))
def test_26_junk_is_no_archive(junk: bytes):
    for start in (b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0"):
        try:
            unpack(start + junk)
        except InputError:
            continue


# One base for many.


@pytest.mark.parametrize("kind", ["overlay", "tmpfs"])
async def test_workspaces_share_a_base_and_change_only_their_own(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
):
    if kind == "tmpfs":
        source = workspace_jail._MOUNTS.read_text().replace('"overlay", _NOSUID', '"no such kind", _NOSUID')
        broken = folder.parent / "mounts.py"
        broken.write_text(source)
        monkeypatch.setattr(workspace_jail, "_MOUNTS", broken)
    before = names(folder)
    with shared_base(folder) as base:
        async with Workspace(base) as one, Workspace(base) as two:
            assert kind in await said(one, "stat -f -c %T .")
            await one.run("echo mine >> a.txt; rm -r sub; echo new > new", 20)
            assert await said(one, "cat a.txt; ls") in {
                "from the base\nmine\na.txt\nfifo\nlink\nnew\n",
                "from the base\nmine\na.txt\nlink\nnew\n",
            }
            assert await said(two, "cat link; sub/run.sh; ls -d new 2>&1 | wc -l") == "from the base\nran\n1\n"
            assert await one.read("new") == b"new\n"
    assert names(folder) == before
    assert (folder / "a.txt").read_text() == "from the base\n"


async def test_68_the_base_has_one_commit_and_nothing_to_dig_up(folder: Path):
    history = (
        f"cd {folder} && git init -q && git config user.name x && git config user.email x@x && git add -A && git commit -qm old && "
        f"echo 'the fix 271828' > fix && git add -A && git commit -qm fix && git tag v2 && git remote add origin {folder} && "
        "git rm -q fix && git commit -qm revert && git branch other && echo 'evil() { :; }' > .git/hooks/post-checkout && "
        f"git config core.fsmonitor 'touch {folder}/pwned; true'"
    )
    async with Workspace() as tool:
        if (await tool.run("git --version", 20)).exit_code != 0:
            pytest.skip("git is not installed")
    assert (await asyncio.to_thread(os.system, history)) == 0
    with shared_base(folder, one_commit=True) as base:
        async with Workspace(base) as w:
            assert (
                await said(w, "git log --all --oneline | wc -l; git tag; git remote; git branch -a; git stash list")
                == "1\n* master\n"
            )
            assert (
                await said(w, "git reflog; git fsck --unreachable --lost-found 2>/dev/null; git status --short") == ""
            )
            assert await said(w, "ls .git/hooks .git/logs 2>/dev/null; git config --get core.fsmonitor") == ""
            assert "271828" not in await said(
                w, "git cat-file --batch-all-objects --batch | strings; grep -ra 271828 . /tmp /run"
            )
    assert not (folder / "pwned").exists()


async def test_69_a_dead_sandbox_is_no_failing_model():
    async with Workspace(limits=SMALL) as w:
        result = await w.run("kill -9 1; kill -STOP 1; rm -rf /bin /usr/sbin /work/* 2>/dev/null; kill -9 -1", 20)
        assert result.signal == "SIGKILL" or result.exit_code == 1
        await w.ping()
        full = await w.run("head -c 20000000 /dev/zero > f; for n in $(seq 9999); do echo > $n; done 2>/dev/null", 60)
        assert "No space left" in full.stderr
        await w.ping()
        assert await said(w, "cd /tmp; pwd; rm -f /work/f; echo alive") == "/tmp\nalive\n"
        long = "#" * 200_000 + "\necho long"
        assert await said(w, long) == "long\n"
        os.kill(init(w), 9)
        for _ in range(2):
            with pytest.raises(SandboxDeadError, match="says nothing about the subject"):
                await w.run("true", 20)
        with pytest.raises(SandboxDeadError):
            await w.ping()


async def test_69_a_stopped_sandbox_is_found_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("measurand.sandboxes.workspace._ANSWER_SECONDS", 8.0)
    async with Workspace() as w:
        monkeypatch.setattr("measurand.sandboxes.workspace._ANSWER_SECONDS", 0.5)
        os.kill(init(w), 19)
        began = time.monotonic()
        with pytest.raises(SandboxDeadError, match="not answered"):
            await w.run("true", 0.5)
        assert time.monotonic() - began < 20


# A closed room.


async def test_18_23_27_29_nothing_of_the_host_is_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    async with Workspace() as w:
        seen = await said(
            w, "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' ' '; ls / /etc /run /home /root"
        )
        assert "sk-secret" not in seen
        assert str(tmp_path) not in seen
        assert "shadow" not in seen
        assert (
            await said(w, "id -u; grep -E 'NoNewPrivs|CapEff' /proc/self/status | cut -f2")
        ) == "65534\n0000000000000000\n1\n"
        for command in (
            "touch /usr/x", "touch /x", "touch /etc/x", "mount -t tmpfs x /tmp", "unshare -U true", "unshare -m true",
            "cat /proc/1/mem", "ls /proc/1/fd/", "ls /proc/1/root/", "echo 1 > /proc/sys/kernel/panic", "cat /dev/mem", "dd if=/dev/sda count=1",
            "python3 -c 'import ctypes, os; os._exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) & 1)'",
        ):  # fmt: skip
            assert (await w.run(command, 20)).exit_code != 0, command


async def test_30_32_there_is_no_network():
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reach = (
        f"import socket\nfor family, where in ((2, ('127.0.0.1', {port})), (2, ('169.254.169.254', 80)), (10, ('::1', {port}))):\n"
        "  for kind in (1, 2):\n    s = socket.socket(family, kind); s.settimeout(2)\n    try: s.connect(where); s.send(b'x') and print('reached', where, kind) if kind == 1 else s.send(b'x')\n    except OSError: print('no')\n"
        "open('/work/devs', 'w').write(open('/proc/net/dev').read())\n"
    )
    async with Workspace() as w:
        await w.write("reach.py", reach.encode())
        assert "reached" not in await said(w, "python3 reach.py")
        assert [line.split(":")[0].strip() for line in (await w.read("devs")).decode().splitlines()[2:]] == ["lo"]
    server.close()
    await server.wait_closed()


GREED = [
    "python3 -c 'import os, time\nfor n in range(150):\n  if os.fork() == 0: time.sleep(99)'",
    "python3 -c 'x = bytearray(1 << 30)'",
    *(f"head -c 20000000 /dev/zero > {place}/f" for place in ("/work", "/tmp", "/dev/shm", "/run")),
    "for n in $(seq 9999); do echo > $n || exit 1; done",
    "truncate -s 1T f",
]


async def test_01_06_greed_is_stopped():
    async with Workspace(limits=SMALL) as w:
        for command in GREED:
            assert (await w.run(command, 30)).exit_code not in {0, None}, command
            await w.ping()
            await w.run("rm -rf /work/* /tmp/* /dev/shm/* /run/f", 30)


async def test_01_whoever_takes_all_processes_loses_them():
    async with Workspace(limits=SMALL) as w:
        grab = "import os, time\nwhile True:\n  try:\n    if os.fork() == 0: time.sleep(99)\n  except OSError: time.sleep(0.01)\n"
        await w.write("grab.py", grab.encode())
        await w.run("python3 grab.py & sleep 0.5", 30)
        await asyncio.sleep(0.5)
        result = await w.run("echo next", 30)
        assert result.stdout == "next\n"
        assert "killed" in result.stderr
        assert (await w.run("echo next", 30)).stderr == ""


async def test_where_no_jail_can_be_built_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(workspace_jail, "_NAMESPACES", ("no-such-thing",))
    with pytest.raises(SandboxError, match=r"could not be built \(bwrap: .*\), so nothing was run"):
        await Workspace().__aenter__()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(workspace_jail, "room_of_workspaces", room.find_room)
    with pytest.raises(SandboxError, match="bubblewrap"):
        await Workspace().__aenter__()
    with pytest.raises(SandboxDeadError, match="not been opened"):
        await Workspace().run("true", 1)


def test_a_base_must_be_there(tmp_path: Path):
    with pytest.raises(InputError, match="no folder"), shared_base(tmp_path / "missing"):
        pass
