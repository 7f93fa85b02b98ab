"""Each door by itself."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.call import Reply, Usage
from measurand.core.errors import CallFailedError, RunStoppedError
from measurand.core.message import user
from measurand.core.request import Generate
from measurand.core.subject import Price
from measurand.run.doors import Ask
from measurand.run.doors.budget import Budget
from measurand.run.doors.circuit import AFTER_SUCCESS, BEFORE_SUCCESS, Circuit
from measurand.run.doors.journal import Journal
from measurand.run.doors.limiter import FIRST, Limiter
from measurand.run.doors.port import Direct, Gather, Single
from measurand.run.doors.retry import LONGEST_WAIT, Retry, _wait
from measurand.run.limits import RunLimits
from measurand.run.meter import Meter, cost_of
from measurand.store import open_store
from tests.clock import Clock, stopped
from tests.run.world import says


def an_ask(key: bytes = b"k" * 16) -> Ask:
    return Ask(key, Generate((user("1 + 1"),)), "target", "subject", "the subject")


class Endings:
    """An inner door that ends each call as a list says; the last ending repeats."""

    def __init__(self, *endings: Reply | Exception) -> None:
        self.endings = list(endings)
        self.calls = 0

    async def __call__(self, ask: Ask) -> Reply:
        self.calls += 1
        ending = self.endings.pop(0) if len(self.endings) > 1 else self.endings[0]
        if isinstance(ending, Exception):
            raise ending
        return ending


def transient(**more) -> CallFailedError:
    return CallFailedError("busy", transient=True, **more)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("measurand.run.doors.retry.FIRST_WAIT", 0.0001)


# --- retry


async def test_retry_tries_again_what_may_pass(quick):
    inner = Endings(transient(), transient(), says("42"))
    meter = Meter()
    assert (await Retry(RunLimits(), inner, meter)(an_ask())).text == "42"
    assert inner.calls == 3
    assert meter.retries == 2


async def test_retry_leaves_what_cannot_pass(quick):
    inner = Endings(CallFailedError("bad request"))
    with pytest.raises(CallFailedError):
        await Retry(RunLimits(), inner, Meter())(an_ask())
    assert inner.calls == 1


async def test_retry_gives_up_and_says_how_often_it_tried(quick):
    inner = Endings(transient())
    with pytest.raises(CallFailedError) as caught:
        await Retry(RunLimits(max_tries=4), inner, Meter())(an_ask())
    assert inner.calls == caught.value.tries == 4


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    doors = (f"measurand.run.doors.{door}" for door in ("limiter", "retry"))
    return stopped(monkeypatch, "measurand.run.meter", *doors, sleeping=True)


async def test_retry_waits_as_long_as_it_is_told(clock):
    inner = Endings(transient(retry_after=15.0), says("42"))
    await Retry(RunLimits(), inner, Meter())(an_ask())
    (slept,) = clock.slept
    assert 15 <= slept < 16


async def test_retry_does_not_wait_beyond_its_patience(quick):
    inner = Endings(transient(retry_after=3600.0))
    with pytest.raises(CallFailedError):
        await Retry(RunLimits(patience=1.0), inner, Meter())(an_ask())
    assert inner.calls == 1


async def test_the_run_has_a_retry_budget_too(quick, monkeypatch):
    monkeypatch.setattr("measurand.run.doors.retry.FREE_RETRIES", 3)
    inner, meter = Endings(transient()), Meter()
    door = Retry(RunLimits(retry_share=0.0), inner, meter)
    for _ in range(5):
        with pytest.raises(CallFailedError):
            await door(an_ask())
    assert meter.retries == 3


@given(st.integers(1, 40), st.none() | st.floats(0, 100))
def test_waits_are_bounded_and_never_shorter_than_asked(attempt, retry_after):
    wait = _wait(attempt, retry_after)
    assert 0 <= wait <= LONGEST_WAIT + (retry_after or 0)
    assert retry_after is None or wait >= retry_after


# --- limiter


async def pass_turns(turns: int) -> None:
    """Let the others go on so many times: a wait that no machine makes longer or shorter."""
    for _ in range(turns):
        await asyncio.sleep(0)


class Crowd:
    """An inner door that counts how many are inside at once, and refuses above a capacity."""

    def __init__(self, capacity: int = 10**9, turns: int = 3) -> None:
        self.capacity, self.turns = capacity, turns
        self.inside = self.most = self.refused = self.calls = 0

    async def __call__(self, ask: Ask) -> Reply:
        self.calls += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await pass_turns(self.turns)
            if self.inside > self.capacity:
                self.refused += 1
                raise transient(limited=True)
            return says("42")
        finally:
            self.inside -= 1


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 40), st.integers(1, 60))
def test_never_more_in_flight_than_allowed(most, calls):
    async def go():
        crowd = Crowd(turns=1)
        door = Limiter(most, crowd, Meter())
        await asyncio.gather(*(door(an_ask()) for _ in range(calls)))
        return crowd

    crowd = asyncio.run(go())
    assert crowd.most <= most
    assert crowd.calls == calls


async def test_the_limit_grows_while_all_goes_well():
    crowd = Crowd()
    door = Limiter(64, crowd, Meter())
    await asyncio.gather(*(door(an_ask()) for _ in range(400)))
    assert FIRST < crowd.most <= 64
    assert door.pace.limit == 64


async def test_the_limit_falls_and_stays_near_what_is_borne():
    crowd = Crowd(capacity=10)
    door = Limiter(64, crowd, Meter())

    async def worker():
        for _ in range(30):
            try:
                await door(an_ask())
            except CallFailedError:
                await pass_turns(6)

    await asyncio.gather(*(worker() for _ in range(64)))
    assert crowd.refused < crowd.calls / 2
    assert door.pace.limit < 40


async def test_a_rate_limit_pauses_everybody(clock):
    inner = Endings(transient(limited=True, retry_after=20.0), says("42"))
    meter = Meter()
    door = Limiter(8, inner, meter)
    with pytest.raises(CallFailedError):
        await door(an_ask())
    assert "rate limit: 20 s to go" in meter.waiting()
    began = clock.now
    await asyncio.gather(*(door(an_ask()) for _ in range(5)))
    assert clock.slept[0] == 20
    assert clock.now >= began + 20


async def test_a_cancelled_wait_leaks_no_place():
    crowd = Crowd(turns=20)
    door = Limiter(1, crowd, Meter())
    first = asyncio.create_task(door(an_ask()))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(door(an_ask())) for _ in range(5)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(first, *waiting, return_exceptions=True)
    assert (await door(an_ask())).text == "42"


# --- circuit


async def test_the_circuit_opens_on_what_nothing_survives():
    inner = Endings(CallFailedError("bad key", fatal=True))
    door = Circuit(inner)
    for _ in range(10):
        with pytest.raises((CallFailedError, RunStoppedError)):
            await door(an_ask())
    assert inner.calls == 2


async def test_the_circuit_is_patient_once_something_worked():
    inner = Endings(says("42"), *[transient()] * 200)
    door = Circuit(inner)
    await door(an_ask())
    for _ in range(100):
        with pytest.raises((CallFailedError, RunStoppedError)):
            await door(an_ask())
    assert BEFORE_SUCCESS < inner.calls - 1 == AFTER_SUCCESS


async def test_one_success_in_between_keeps_the_circuit_closed():
    inner = Endings(*[transient(), transient(), says("42")] * 50)
    door = Circuit(inner)
    for _ in range(150):
        try:
            await door(an_ask())
        except CallFailedError:
            continue
    assert inner.calls == 150


# --- budget


async def test_the_money_budget_is_kept_within_one_call():
    inner = Endings(Reply(usage=Usage(1_000_000, 0)))
    meter = Meter(price=Price(1.0, 2.0))
    door = Budget(RunLimits(max_cost=3.0), inner, meter)
    with pytest.raises(RunStoppedError, match="3 USD"):
        for _ in range(10):
            await door(an_ask())
    assert inner.calls == 3
    assert meter.cost == pytest.approx(3.0)


async def test_the_time_budget():
    meter = Meter(started=time.monotonic() - 100)
    with pytest.raises(RunStoppedError, match="50 s"):
        await Budget(RunLimits(max_seconds=50), Endings(says("1")), meter)(an_ask())


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_cached_tokens_cost_what_they_cost(fresh, cached, output):
    usage = Usage(fresh + cached, output, cached)
    assert cost_of(usage, Price(2.0, 3.0, 0.5)) == pytest.approx((fresh * 2.0 + cached * 0.5 + output * 3.0) / 1e6)
    assert cost_of(usage, None) is None
    assert cost_of(Usage(), Price(1.0, 1.0)) is None


# --- journal


async def test_equal_requests_in_flight_are_one():
    crowd, store = Crowd(turns=5), open_store(":memory:")
    door = Journal(store, crowd, Meter())
    replies = await asyncio.gather(*(door(an_ask()) for _ in range(20)))
    assert crowd.calls == 1
    assert {reply.text for reply in replies} == {"42"}


async def test_a_shared_failure_reaches_everybody_and_is_not_kept():
    inner = Endings(CallFailedError("down"), CallFailedError("down"), says("42"))
    door = Journal(open_store(":memory:"), inner, Meter())

    async def slow(ask):
        await pass_turns(5)
        return await inner(ask)

    door._inner = slow
    results = await asyncio.gather(*(door(an_ask()) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(result, CallFailedError) for result in results)
    assert inner.calls == 1
    with pytest.raises(CallFailedError):
        await door(an_ask())
    assert (await door(an_ask())).text == "42"


async def test_a_replay_says_since_when():
    store, meter = open_store(":memory:"), Meter()
    await Journal(store, Endings(says("42")), meter)(an_ask())
    dead = Endings(CallFailedError("must not be asked"))
    reply = await Journal(store, dead, meter)(an_ask())
    assert reply.text == "42"
    assert reply.replayed_from.startswith("20")
    assert dead.calls == 0
    assert meter.replayed == 1


# --- port


async def test_a_hanging_port_is_a_timeout():
    class Hangs:
        async def reply(self, request):
            await asyncio.Event().wait()

    with pytest.raises(CallFailedError) as caught:
        await Single(Hangs(), 0.02)(an_ask())
    assert caught.value.where == "timeout"
    assert caught.value.transient


async def test_who_keeps_samples_is_told_which_is_asked_for():
    class Keeps:
        async def reply(self, request):
            raise AssertionError

        async def sample(self, request, sample_no):
            return says(str(sample_no))

    ask = an_ask()
    ask.sample_no = 2
    for door in (Single(Keeps(), PATIENT), Direct(Keeps())):
        assert (await door(ask)).text == "2"


PATIENT = 60.0


class Batches:
    def __init__(self, size: int = 4) -> None:
        self.size = size
        self.seen: list[list[str]] = []

    def affinity(self, request):
        return request.messages[0].text

    async def replies(self, requests):
        self.seen.append([request.messages[0].text for request in requests])
        await asyncio.sleep(0)
        return [CallFailedError("no") if request.messages[0].text == "bad" else says("42") for request in requests]


def asking(text: str) -> Ask:
    return Ask(text.encode(), Generate((user(text),)), "target", "s", "s")


async def test_a_full_batch_goes_at_once_sorted_by_affinity():
    provider = Batches()
    door = Gather(provider, PATIENT)
    door.enter(8)
    await asyncio.gather(*(door(asking(text)) for text in "hgfedcba"))
    assert provider.seen == [list("efgh"), list("abcd")]


async def test_the_last_batch_goes_when_nobody_else_can_come(monkeypatch):
    monkeypatch.setattr("measurand.run.doors.port.LINGER", 3600)
    provider = Batches()
    door = Gather(provider, PATIENT)
    door.enter(2)
    await asyncio.gather(door(asking("a")), door(asking("b")))
    assert provider.seen == [["a", "b"]]


async def test_a_busy_trial_does_not_hold_up_the_batch():
    provider = Batches()
    door = Gather(provider, PATIENT)
    door.enter(3)
    await door(asking("a"))
    assert provider.seen == [["a"]]


async def test_a_failure_takes_its_own_place_only():
    provider = Batches()
    door = Gather(provider, PATIENT)
    door.enter(3)
    results = await asyncio.gather(*(door(asking(t)) for t in ("a", "bad", "c")), return_exceptions=True)
    assert [isinstance(result, CallFailedError) for result in results] == [False, True, False]
