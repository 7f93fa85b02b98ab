"""The fake says what it is told to, counts, and keeps to the port."""

from __future__ import annotations

import asyncio

import pytest

from measurand.core.call import Reply, Usage
from measurand.core.errors import CallBlockedError, CallError, CallFailedError
from measurand.core.message import user
from measurand.core.ports import Abilities, BatchProvider
from measurand.core.request import Complete, Generate, Loglikelihood, Request
from measurand.core.subject import Model
from measurand.providers.fake import KEPT, Fake, FakeBatch
from measurand.providers.plain import prompt_of
from tests.providers.keeping import keeps_to_the_port

ASK = Generate((user("2+2?"),))


async def test_texts_replies_and_numbers() -> None:
    assert (await Fake(lambda _: "4").reply(ASK)).text == "4"
    whole = Reply(usage=Usage(1, 2), finish="length")
    assert await Fake(lambda _: whole).reply(ASK) is whole
    assert (await Fake(lambda _: (-1.0, -2.0)).reply(Loglikelihood("a", ("b", "c")))).values == (-1.0, -2.0)


async def test_awaitables() -> None:
    async def script(request: Request) -> str:
        await asyncio.sleep(0)
        return prompt_of(request).upper()

    assert (await Fake(script).reply(Complete("abc"))).text == "ABC"


@pytest.mark.parametrize("raised", [True, False])
async def test_errors_raised_or_given(*, raised: bool) -> None:
    def scripted(error: Exception) -> Fake:
        def script(_: Request) -> Exception:
            if raised:
                raise error
            return error

        return Fake(script)

    limited = CallFailedError("slow down", limited=True, transient=True, retry_after=1.0)
    with pytest.raises(CallFailedError) as caught:
        await scripted(limited).reply(ASK)
    assert caught.value is limited
    with pytest.raises(CallBlockedError):
        await scripted(CallBlockedError("a filter")).reply(ASK)
    with pytest.raises(CallFailedError, match="raised ValueError: no"):
        await scripted(ValueError("no")).reply(ASK)


async def test_a_script_that_gives_nonsense() -> None:
    with pytest.raises(CallFailedError, match="gave int"):
        await Fake(lambda _: 4).reply(ASK)  # type: ignore[arg-type,return-value]


async def test_counts() -> None:
    fake = Fake(lambda _: "x", delay=0.01)
    await fake.start()
    await asyncio.gather(*(fake.reply(ASK) for _ in range(5)))
    await fake.reply(ASK)
    await fake.close()
    assert (fake.asked, fake.most_at_once, fake.starts, fake.closes) == (6, 5, 1, 1)
    assert list(fake.received) == [ASK] * 6


async def test_a_long_run_costs_no_memory() -> None:
    fake = Fake(lambda _: "x")
    for number in range(KEPT + 10):
        await fake.reply(Complete(str(number)))
    assert fake.asked == KEPT + 10
    assert [request.prompt for request in fake.received] == [str(n) for n in range(10, KEPT + 10)]  # type: ignore[union-attr]


async def test_a_cancelled_call_is_out_of_play() -> None:
    fake = Fake(lambda _: "x", delay=60)
    task = asyncio.create_task(fake.reply(ASK))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    fake._delay = 0
    await fake.reply(ASK)
    assert fake.most_at_once == 1


async def test_only_the_batch_form_is_a_batch_provider() -> None:
    assert not isinstance(Fake(lambda _: "x"), BatchProvider)
    assert isinstance(FakeBatch(lambda _: "x", size=2), BatchProvider)


async def test_a_batch_keeps_order_and_lets_one_fail() -> None:
    def script(request: Request) -> str | Exception:
        text = prompt_of(request)
        return ValueError("no") if text == "b" else text

    fake = FakeBatch(script, size=3)
    results = await fake.replies([Complete(text) for text in "cba"])
    assert isinstance(results[0], Reply)
    assert results[0].text == "c"
    assert isinstance(results[1], CallError)
    assert isinstance(results[2], Reply)
    assert results[2].text == "a"
    assert (fake.batches, fake.asked, fake.most_at_once) == ([3], 3, 3)
    assert (await fake.reply(Complete("d"))).text == "d"


def test_affinity_puts_equal_beginnings_together() -> None:
    fake = FakeBatch(lambda _: "x", size=3)
    shuffled = [Complete("ab1"), Complete("cd1"), Complete("ab2"), Complete("cd2")]
    ordered = sorted(shuffled, key=fake.affinity)
    assert [request.prompt for request in ordered] == ["ab1", "ab2", "cd1", "cd2"]


async def test_it_keeps_to_the_port() -> None:
    fake = Fake(lambda _: "x", "who", abilities=Abilities(("chat",), concurrency=3))
    assert fake.subject == Model("fake", "who")
    assert fake.describe().concurrency == 3
    await keeps_to_the_port(fake)
    await keeps_to_the_port(FakeBatch(lambda _: "x", size=4))
