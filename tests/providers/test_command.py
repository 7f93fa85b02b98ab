"""A command gets the question, gives the answer, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from measurand.core.call import Usage
from measurand.core.errors import CallFailedError, InputError
from measurand.core.message import system, user
from measurand.core.request import Complete, Generate
from measurand.providers import secrets
from measurand.providers.command import OUTPUT_LIMIT, CommandProvider
from tests.providers.keeping import keeps_to_the_port

ASK = Generate((user("2+2?"),))


def python(source: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(source)]


async def failing(command: Any, **options: Any) -> CallFailedError:
    with pytest.raises(CallFailedError) as caught:
        await CommandProvider(command, **options).reply(ASK)
    assert not caught.value.transient
    return caught.value


async def test_text_in_text_out() -> None:
    provider = CommandProvider("cat")
    reply = await provider.reply(Generate((user("naïve 日本\n\n"),)))
    assert reply.text == "naïve 日本"
    assert reply.timings.total > 0
    assert (await provider.reply(Complete("raw"))).text == "raw"
    assert provider.describe().can == ("chat", "complete")
    assert not provider.describe().local


async def test_words_are_split_without_a_shell() -> None:
    assert (await CommandProvider("printf '%s-' 'a b' '$HOME' ';' '*'").reply(ASK)).text == "a b-$HOME-;-*-"


async def test_json() -> None:
    echo = python(
        """
        import json, sys
        told = json.load(sys.stdin)
        json.dump({"text": json.dumps(told["messages"]), "usage": {"input": 3}}, sys.stdout)
        """
    )
    provider = CommandProvider(echo, as_json=True)
    reply = await provider.reply(Generate((system("s"), user("u"))))
    assert reply.text == '[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]'
    assert reply.usage == Usage(input=3)
    assert provider.describe().can == ("chat",)
    assert (await CommandProvider(["printf", '"just text"'], as_json=True).reply(ASK)).text == "just text"


async def test_a_conversation_is_never_cut_to_its_last_text() -> None:
    with pytest.raises(CallFailedError, match="JSON form") as caught:
        await CommandProvider("cat").reply(Generate((system("s"), user("u"))))
    assert caught.value.fatal


async def test_an_exit_code_with_the_last_words() -> None:
    noise = python("import sys; print('x' * 100_000, file=sys.stderr); sys.exit('the key is missing')")
    error = await failing(noise)
    assert "ended with exit code 1" in error.why
    assert error.why.endswith("the key is missing")
    assert len(error.why) < 700
    assert "exit code 1, and said nothing" in (await failing("false")).why
    killed = python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert "ended by signal 15" in (await failing(killed)).why


async def test_keys_are_masked_in_the_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    secrets.api_key(("OPENAI_API_KEY",))
    leak = python("import os, sys; sys.exit('bad key ' + os.environ['OPENAI_API_KEY'])")
    assert (await failing(leak)).why.endswith("bad key ***")


@pytest.mark.parametrize(
    ("command", "options", "why"),
    [
        (python(r"import sys; sys.stdout.buffer.write(b'\xff')"), {}, "not text in UTF-8"),
        (["printf", "plain"], {"as_json": True}, "not JSON"),
        (["printf", "[" * 5000], {"as_json": True}, "not JSON"),
        (["printf", "4"], {"as_json": True}, "returned int"),
    ],
)
async def test_output_that_is_no_answer(command: list[str], options: dict[str, Any], why: str) -> None:
    assert why in (await failing(command, **options)).why


async def test_silence_is_an_answer() -> None:
    assert (await CommandProvider("true").reply(ASK)).text == ""


async def test_a_program_that_does_not_read() -> None:
    reply = await CommandProvider(["printf", "done"]).reply(Complete("x" * 5_000_000))
    assert reply.text == "done"


async def test_much_both_ways() -> None:
    text = "x" * 3_000_000
    assert (await CommandProvider("cat").reply(Complete(text))).text == text


async def test_endless_output_is_cut(tmp_path: Path) -> None:
    error = await failing("yes")
    assert f"more than {OUTPUT_LIMIT >> 20} MB" in error.why


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]


async def until_dead(pid: int) -> None:
    while alive(pid):
        await asyncio.sleep(0.05)


LONG = 3_000
"""Seconds that no test waits for: what sleeps so long has to be killed."""


def written(note: Path) -> bool:
    return note.exists() and note.read_text().endswith(" ")


async def killed_at_its_deadline(note: Path, command: list[str]) -> None:
    """Run it to its deadline: a later one each time, until the machine lets it write its note before."""
    for seconds in (0.5, 2.0, 8.0, 32.0, 128.0):
        error = await failing(command, timeout=seconds)
        assert f"did not finish within {seconds:g} s" in error.why
        if written(note):
            return
    raise AssertionError("the program did not begin")


FAMILY = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep({LONG})"])
    open({note!r}, "w").write(f"{{os.getpid()}} {{child.pid}} ")
    {then}
"""


@pytest.mark.parametrize("then", [f"time.sleep({LONG})", "os._exit(0)"], ids=["parent waits", "parent is gone"])
async def test_the_deadline_kills_the_children_too(tmp_path: Path, then: str) -> None:
    note = tmp_path / "pids"
    await killed_at_its_deadline(note, python(FAMILY.format(note=str(note), then=then, LONG=LONG)))
    pids = [int(pid) for pid in note.read_text().split()]
    assert len(pids) == 2
    for pid in pids:
        await until_dead(pid)


async def test_a_cancelled_call_leaves_nothing(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    family = python(FAMILY.format(note=str(note), then=f"time.sleep({LONG})", LONG=LONG))
    task = asyncio.create_task(CommandProvider(family).reply(ASK))
    while not written(note):
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in note.read_text().split():
        await until_dead(int(pid))


async def test_one_who_flees_the_group_and_keeps_the_pipe_holds_up_nobody(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    flee = python(
        f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            open({str(note)!r}, "a").write(f"{{os.getpid()}} ")
            time.sleep({LONG})
        """
    )
    await killed_at_its_deadline(note, flee)
    for pid in note.read_text().split():
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("", "is empty"),
        ([], "is empty"),
        ("echo 'a", "close the quotation marks"),
        ("no-such-program-here --x", "no program no-such-program-here"),
        (["cat", "a\x00b"], "null character"),
        (__file__, "no program"),
    ],
)
def test_commands_that_cannot_be_run(command: Any, why: str) -> None:
    with pytest.raises(InputError) as caught:
        CommandProvider(command)
    assert why in str(caught.value)


async def test_a_program_that_is_gone(tmp_path: Path) -> None:
    script = tmp_path / "mine"
    script.write_text("#!/bin/sh\ncat\n")
    script.chmod(0o755)
    provider = CommandProvider(str(script))
    assert (await provider.reply(ASK)).text == "2+2?"
    script.unlink()
    with pytest.raises(CallFailedError, match="cannot be run") as caught:
        await provider.reply(ASK)
    assert caught.value.fatal


def test_the_version_is_the_command_and_the_files_it_names(tmp_path: Path) -> None:
    script = tmp_path / "system.py"
    script.write_text("print(1)")
    first = CommandProvider([sys.executable, str(script), "--fast"]).subject
    assert first.name == "system.py"
    assert CommandProvider([sys.executable, str(script), "--slow"]).subject.version != first.version
    elsewhere = tmp_path / "copy.py"
    elsewhere.write_text("print(1)")
    assert CommandProvider([sys.executable, str(elsewhere), "--fast"]).subject.version == first.version
    script.write_text("print(2)")
    assert CommandProvider([sys.executable, str(script), "--fast"]).subject.version != first.version
    assert CommandProvider("cat").subject.name == "cat"
    assert CommandProvider("cat", as_json=True).subject.version != CommandProvider("cat").subject.version


async def test_it_keeps_to_the_port() -> None:
    await keeps_to_the_port(CommandProvider("cat"))
    await keeps_to_the_port(CommandProvider(["printf", '"x"'], as_json=True))
    await keeps_to_the_port(CommandProvider("false"))
