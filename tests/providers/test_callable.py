"""A Python function is asked as it wishes, identified by its source, and never breaks the harness."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from measurand.core.call import Reply, Usage
from measurand.core.errors import CallFailedError, InputError
from measurand.core.message import Message, ToolResult, assistant, system, user
from measurand.core.request import Complete, Generate
from measurand.providers.callable import CallableProvider
from measurand.providers.fingerprint import UNVERSIONED, fingerprint
from measurand.providers.plain import said
from tests.providers.keeping import keeps_to_the_port

ASK = Generate((user("2+2?"),))


async def failing(function: Any, **options: Any) -> CallFailedError:
    with pytest.raises(CallFailedError) as caught:
        await CallableProvider(function, **options).reply(ASK)
    assert not caught.value.transient
    return caught.value


async def test_text_in_text_out() -> None:
    provider = CallableProvider(lambda text: text.upper())
    assert (await provider.reply(Generate((user("abc"),)))).text == "ABC"
    assert (await provider.reply(Complete("raw"))).text == "RAW"
    assert provider.describe().can == ("chat", "complete")
    assert not provider.describe().local


async def test_the_conversation() -> None:
    def by_name(messages: Any) -> str:
        return repr(messages)

    def by_kind(talk: list[dict[str, str]]) -> str:
        return repr(talk)

    asked = Generate((system("s"), user("u"), assistant("a"), Message("tool", (ToolResult("1", "found"),)), user("v")))
    for function in (by_name, by_kind):
        provider = CallableProvider(function)
        assert provider.describe().can == ("chat",)
        told = eval((await provider.reply(asked)).text)
        assert [(message["role"], message["content"]) for message in told] == [
            ("system", "s"),
            ("user", "u"),
            ("assistant", "a"),
            ("tool", "found"),
            ("user", "v"),
        ]


async def test_a_conversation_is_never_cut_to_its_last_text() -> None:
    with pytest.raises(CallFailedError, match="name its parameter `messages`") as caught:
        await CallableProvider(lambda text: text).reply(Generate((system("s"), user("u"))))
    assert caught.value.fatal


async def test_an_async_function_and_object() -> None:
    class Product:
        async def __call__(self, text: str) -> str:
            await asyncio.sleep(0)
            return text + "!"

    async def function(text: str) -> str:
        return text + "!"

    for given in (Product(), function, functools.partial(function), lambda text: function(text)):
        assert (await CallableProvider(given).reply(ASK)).text == "2+2?!"
    assert CallableProvider(function).describe().concurrency is None


async def test_what_may_be_returned() -> None:
    told = {"text": "4", "usage": {"input": 3, "output": 1}, "finish": "length", "reasoning": "sum"}
    reply = await CallableProvider(lambda _: told).reply(ASK)
    assert (reply.text, reply.usage, reply.finish, reply.reasoning) == ("4", Usage(3, 1), "length", "sum")
    whole = said("4")
    assert await CallableProvider(lambda _: whole).reply(ASK) is whole


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "returned nothing"),
        (4, "returned int"),
        (b"4", "returned bytes"),
        (["4"], "returned list"),
        ({}, "without a text"),
        ({"text": 4}, "without a text"),
        ({"text": "4", "tokens": 3}, "unknown field 'tokens'"),
        ({"text": "4", "usage": {"prompt_tokens": 3}}, "unknown field `prompt_tokens`"),
        ({"text": "4", "finish": "done"}, "Invalid enum value 'done'"),
    ],
)
async def test_what_may_not_be_returned(value: Any, why: str) -> None:
    assert why in (await failing(lambda _: value)).why


async def test_exceptions_become_one_sentence() -> None:
    def broken(text: str) -> str:
        raise KeyError(f"no answer\nto {text}")

    async def also_broken(text: str) -> str:
        raise RuntimeError

    def leaving(text: str) -> str:
        sys.exit("bye")

    async def cancelling(text: str) -> str:
        raise asyncio.CancelledError

    assert (await failing(broken)).why.endswith(r"raised KeyError: 'no answer\nto 2+2?'")
    assert (await failing(also_broken)).why.endswith("raised RuntimeError")
    assert (await failing(leaving)).why.endswith("raised SystemExit: bye")
    assert (await failing(cancelling)).why.endswith("raised CancelledError")
    assert len((await failing(lambda text: 1 / int("9" * 5000))).why) < 1000


async def test_a_function_may_say_itself_that_trying_again_helps() -> None:
    def busy(text: str) -> str:
        raise CallFailedError("busy", transient=True, retry_after=2.0)

    with pytest.raises(CallFailedError) as caught:
        await CallableProvider(busy).reply(ASK)
    assert (caught.value.transient, caught.value.retry_after) == (True, 2.0)


async def test_deadlines() -> None:
    release = threading.Event()
    try:
        assert "no answer within 0.05 s" in (await failing(lambda _: release.wait(), timeout=0.05)).why
    finally:
        release.set()

    async def slow(text: str) -> str:
        await asyncio.Event().wait()
        return text

    assert "no answer within 0.05 s" in (await failing(slow, timeout=0.05)).why

    def own(text: str) -> str:
        raise TimeoutError("upstream")

    assert "raised TimeoutError: upstream" in (await failing(own)).why


async def test_a_cancelled_call_is_cancelled() -> None:
    begun, release = threading.Event(), threading.Event()

    def stuck(text: str) -> str:
        begun.set()
        return text + str(release.wait())

    task = asyncio.create_task(CallableProvider(stuck).reply(ASK))
    while not begun.is_set():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()


async def test_calls_overlap_and_a_stuck_one_holds_up_nobody() -> None:
    both = threading.Barrier(2)
    provider = CallableProvider(lambda text: text + str(both.wait() >= 0))
    replies = await asyncio.gather(provider.reply(ASK), provider.reply(ASK))
    assert [reply.text for reply in replies] == ["2+2?True"] * 2
    assert provider.describe().concurrency == 8


def test_a_stuck_function_does_not_hold_up_the_exit() -> None:
    script = """
        import asyncio, threading
        from measurand.core.request import Complete
        from measurand.providers.callable import CallableProvider
        async def main():
            try:
                await CallableProvider(lambda _: threading.Event().wait(), timeout=0.1).reply(Complete("a"))
            except Exception as error:
                print(error)
        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300, check=True
    )
    assert "no answer within 0.1 s" in done.stdout


def write(folder: Path, source: str, name: str = "my_system.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(source))
    return path


async def test_by_name_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    write(
        tmp_path, "class Product:\n    def answer(self, text): return text + '!'\nproduct = Product()", "by_name_1.py"
    )
    provider = CallableProvider("by_name_1:product.answer")
    assert (await provider.reply(ASK)).text == "2+2?!"
    assert provider.subject.name == "by_name_1:product.answer"


async def test_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    write(tmp_path, "MARK = '?'", "beside_it.py")
    path = write(
        tmp_path, "import json, beside_it\ndef answer(text): return json.dumps(text) + beside_it.MARK", "json.py"
    )
    assert (await CallableProvider(f"{path}:answer").reply(ASK)).text == '"2+2?"?'
    import json

    assert json.__file__ != str(path)


@pytest.mark.parametrize(
    ("source", "attribute", "why"),
    [
        ("def answer(text): return text", "anwser", "did you mean answer"),
        ("answer = 4", "answer", "cannot be called"),
        ("def answer(", "answer", "cannot be imported (SyntaxError"),
        ("import no_such_module_at_all", "answer", "no_such_module_at_all"),
        ("raise SystemExit(3)", "answer", "SystemExit: 3"),
        ("def answer(): return 'x'", "answer", "takes 0 arguments: it must take one"),
        ("def answer(a, b): return 'x'", "answer", "takes 2 arguments: it must take one"),
        ("def answer(a, *, b): return 'x'", "answer", "functools.partial"),
        ("def answer(*, b): return 'x'", "answer", "it must take one"),
    ],
)
def test_what_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, attribute: str, why: str
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(InputError) as caught:
        CallableProvider(f"{write(tmp_path, source)}:{attribute}")
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "spec", ["", "answer", ":answer", "module:", "no_such_module_here:f", "no/such/file.py:f", "a b:f"]
)
def test_wrong_specifications(spec: str) -> None:
    with pytest.raises(InputError):
        CallableProvider(spec)


@pytest.mark.parametrize(
    "source", ["def f(text, top=3): return text", "def f(*texts): return texts[0]", "def f(text, **more): return text"]
)
async def test_signatures_that_take_one_text(source: str) -> None:
    space: dict[str, Any] = {}
    exec(source, space)
    assert (await CallableProvider(space["f"]).reply(ASK)).text == "2+2?"


def versions(tmp_path: Path, source: str, changed: str) -> tuple[str, str]:
    first = CallableProvider(f"{write(tmp_path, source, 'version_a.py')}:answer").subject.version
    second = CallableProvider(f"{write(tmp_path, changed, 'version_b.py')}:answer").subject.version
    return first, second


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("return PROMPT", "return PROMPT + ' '"),
        ("PROMPT = 'be brief'", "PROMPT = 'be kind'"),
        ("x + 1", "x + 2"),
        ("depth = 1", "depth = 2"),
        ("'k': [1, 2]", "'k': [1, 3]"),
    ],
)
def test_the_version_moves_with_what_the_function_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, changed: str
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    source = """
        PROMPT = 'be brief'
        TABLE = {'k': [1, 2]}
        UNUSED = 1
        class Base:
            depth = 1
        class Tool(Base):
            def use(self, x): return helper(x)
        def helper(x):
            return [y for y in [x + 1] if TABLE]
        def answer(text):
            Tool().use(1)
            return PROMPT
    """
    assert part in source
    first, second = versions(tmp_path, source, source.replace(part, changed))
    assert first.startswith("sha256:")
    assert first != second
    first, second = versions(tmp_path, source, source.replace("UNUSED = 1", "UNUSED = 2"))
    assert first == second


def test_what_a_function_is_bound_to_counts() -> None:
    def make(prompt: str) -> Any:
        return lambda text: prompt + text

    class Product:
        def __init__(self, prompt: str) -> None:
            self.prompt = prompt

        def __call__(self, text: str) -> str:
            return self.prompt + text

        def answer(self, text: str) -> str:
            return self.prompt + text

    def both(prompt: str, text: str) -> str:
        return prompt + text

    for bind in (make, Product, lambda p: Product(p).answer, lambda p: functools.partial(both, p)):
        assert fingerprint(bind("a")) == fingerprint(bind("a"))
        assert fingerprint(bind("a")) != fingerprint(bind("b"))


def test_without_source_it_is_unversioned() -> None:
    space: dict[str, Any] = {}
    exec("def f(text): return text", space)
    assert fingerprint(space["f"]) == UNVERSIONED
    assert fingerprint(len) == UNVERSIONED
    knot: list[Any] = []
    knot.append(knot)
    assert fingerprint(lambda text: knot and text) == UNVERSIONED


async def test_it_keeps_to_the_port() -> None:
    await keeps_to_the_port(CallableProvider(lambda text: text))
    await keeps_to_the_port(CallableProvider(lambda messages: {"text": str(messages)}))

    def broken(text: str) -> Reply:
        raise ValueError(text)

    await keeps_to_the_port(CallableProvider(broken))
