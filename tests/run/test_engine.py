"""The engine: nothing is lost, nothing is paid twice, and every ending is an outcome that is counted."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from measurand.core.call import Reply
from measurand.core.errors import CallBlockedError, CallFailedError, InputError, RunStoppedError, UnaskableError
from measurand.core.message import Text, user
from measurand.core.outcome import Answer
from measurand.core.ports import Abilities
from measurand.core.request import Decode, Generate
from measurand.core.run import Slot
from measurand.run.limits import RunLimits
from measurand.run.session import Occasion, carry_out
from measurand.run.summary import summarise
from measurand.store import open_store
from tests.run.world import BENCHMARK, PROMPTING, Scripted, ask, engine, right, says, scaffold, with_samples


async def run(made):
    ended = await carry_out(made)
    return ended, summarise(made.ports.store, made.run)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("measurand.run.doors.retry.FIRST_WAIT", 0.001)


async def test_a_run_from_beginning_to_end():
    subject = Scripted(lambda text: right(text) if not text.startswith("3 ") else "wrong")
    ended, summary = await run(engine(subject))
    assert ended.complete
    assert summary.tally.answered == 10
    assert summary.views[0].estimate.value == pytest.approx(0.9)
    assert sorted(subject.asked) == sorted(f"{i} + {i + 1}" for i in range(10))


async def test_starting_again_asks_nothing():
    store = open_store(":memory:")
    first = Scripted(right)
    _, before = await run(engine(first, store=store))
    again = Scripted(right)
    _, after = await run(engine(again, store=store))
    assert not again.asked
    assert after.views == before.views


async def test_another_subject_shares_nothing():
    store = open_store(":memory:")
    await run(engine(Scripted(right, "a"), store=store))
    other = Scripted(right, "b")
    await run(engine(other, store=store))
    assert len(other.asked) == 10


async def test_a_new_occasion_measures_again():
    store = open_store(":memory:")
    await run(engine(Scripted(right), store=store))
    again = Scripted(right)
    await run(engine(again, store=store, occasion=Occasion(name="after the update")))
    assert len(again.asked) == 10


async def test_samples_are_draws_of_their_own():
    numbers = iter(range(1000))
    subject = Scripted(lambda text: str(next(numbers)))
    made = engine(subject, benchmark=with_samples(4), n=5)
    await run(made)
    assert len(subject.asked) == 20
    answers = Counter(trial.outcome.answer.text for _, trial in made.ports.store.trials(made.run.id))
    assert set(answers.values()) == {1}


async def test_equal_greedy_requests_share_one_call_and_sampled_ones_do_not():
    def same(temperature: float):
        asking = replace(
            PROMPTING,
            requests=lambda item, shots: (Generate((user("always the same"),), decode=Decode(temperature)),),
        )
        return replace(BENCHMARK, asking=asking)

    greedy, sampled = Scripted(lambda text: "1"), Scripted(lambda text: "1")
    await run(engine(greedy, benchmark=same(0.0)))
    await run(engine(sampled, benchmark=same(0.7)))
    assert len(greedy.asked) == 1
    assert len(sampled.asked) == 10


FAILURES: dict[str, Reply | Exception] = {
    "failed": CallFailedError("broken", where="reply"),
    "blocked": CallBlockedError("a filter"),
    "truncated": says("12", "length"),
    "refused": says("no", "refusal"),
}


@pytest.mark.parametrize("kind", FAILURES)
async def test_no_outcome_is_a_silent_zero_or_dropped(kind: str):
    subject = Scripted(lambda text: FAILURES[kind] if text.startswith(("3 ", "7 ")) else right(text))
    _, summary = await run(engine(subject))
    estimate = summary.views[0].estimate
    assert summary.tally.total == summary.tally.planned == 10
    assert getattr(summary.tally, kind) == 2
    assert estimate.value == 1.0
    assert estimate.n_missing == 2
    assert estimate.bounds == pytest.approx((0.8, 1.0))


async def test_the_content_filter_on_a_reply_is_blocked():
    _, summary = await run(engine(Scripted(lambda text: says("", "content_filter"))))
    assert summary.tally.blocked == 10
    assert summary.views[0].estimate.value is None


async def test_truncated_answers_count_where_the_protocol_says_so():
    benchmark = replace(BENCHMARK, scoring=replace(BENCHMARK.scoring, score_truncated=True))
    subject = Scripted(lambda text: says("0", "length") if text.startswith("3 ") else right(text))
    _, summary = await run(engine(subject, benchmark=benchmark))
    assert summary.tally.truncated == 1
    assert summary.views[0].estimate.value == pytest.approx(0.9)
    assert not summary.views[0].estimate.n_missing


async def test_what_failed_is_tried_again_by_the_next_session():
    store = open_store(":memory:")
    broken = Scripted(lambda text: CallFailedError("down") if text.startswith("5 ") else right(text))
    _, before = await run(engine(broken, store=store))
    mended = Scripted(right)
    _, after = await run(engine(mended, store=store))
    assert before.tally.failed == 1
    assert after.tally.answered == 10
    assert mended.asked == ["5 + 6"]


async def test_reasoning_is_never_read():
    subject = Scripted(lambda text: f"<think>maybe 99</think>{right(text)}")
    made = engine(subject)
    _, summary = await run(made)
    assert summary.views[0].estimate.value == 1.0
    assert all(trial.outcome.answer.reasoning for _, trial in made.ports.store.trials(made.run.id))


async def test_stop_strings_apply_after_reasoning():
    asking = replace(PROMPTING, requests=lambda item, shots: ask(item, shots, Decode(stop=("\n\n",))))
    subject = Scripted(lambda text: f"<think>one\n\ntwo</think>{right(text)}\n\nQuestion: next")
    _, summary = await run(engine(subject, benchmark=replace(BENCHMARK, asking=asking)))
    assert summary.views[0].estimate.value == 1.0


async def test_a_bad_key_stops_the_run_after_a_few_calls():
    subject = Scripted(lambda text: CallFailedError("the key in OPENAI_API_KEY is refused", fatal=True))
    ended, summary = await run(engine(subject, n=200))
    assert not ended.complete
    assert "OPENAI_API_KEY" in ended.reason
    assert len(subject.asked) <= 8
    assert summary.tally.not_run + summary.tally.failed == 200


async def test_a_few_failures_do_not_stop_a_run():
    subject = Scripted(lambda text: CallFailedError("bad item") if int(text.split()[0]) % 3 == 0 else right(text))
    ended, summary = await run(engine(subject, n=60))
    assert ended.complete
    assert summary.tally.failed == 20


async def test_a_budget_ends_the_run_and_another_goes_on():
    store = open_store(":memory:")
    limits = RunLimits(concurrency=1, max_tokens=60, grace=1.0)
    first = Scripted(right)
    ended, summary = await run(engine(first, store=store, limits=limits))
    assert not ended.complete
    assert "60 tokens" in ended.reason
    assert 0 < summary.tally.answered < 10
    assert summary.tally.answered + summary.tally.not_run == 10
    second = Scripted(right)
    ended, summary = await run(engine(second, store=store))
    assert ended.complete
    assert len(first.asked) + len(second.asked) == 10


async def test_stop_lets_what_is_in_flight_finish():
    gate = asyncio.Event()

    class Slow(Scripted):
        async def reply(self, request):
            await gate.wait()
            return await super().reply(request)

    subject = Slow(right)
    made = engine(subject)
    task = asyncio.create_task(run(made))
    while not made.meter.in_flight:
        await asyncio.sleep(0.001)
    made.stop("interrupted")
    gate.set()
    ended, summary = await task
    assert ended.reason == "interrupted"
    assert ended.in_flight == 0
    assert 0 < summary.tally.answered == len(subject.asked) < 10


async def test_abort_gives_up_what_hangs_and_says_how_much():
    class Hangs(Scripted):
        async def reply(self, request):
            await asyncio.Event().wait()
            raise AssertionError

    store = open_store(":memory:")
    made = engine(Hangs(right), store=store, limits=RunLimits(concurrency=3, grace=0.05))
    task = asyncio.create_task(carry_out(made))
    while len(made.meter.in_flight) < 3:
        await asyncio.sleep(0.001)
    made.stop("interrupted")
    ended = await task
    assert ended.in_flight == 3
    resumed = await carry_out(engine(Scripted(right), store=store))
    assert resumed.unclean == 3
    assert resumed.complete


async def test_offline_replays_and_asks_nothing():
    store = open_store(":memory:")
    await run(engine(Scripted(lambda text: right(text)), store=store, n=10))
    silent = Scripted(right)
    made = engine(silent, store=store, benchmark=with_samples(2), occasion=Occasion(offline=True))
    _, summary = await run(made)
    assert not silent.asked
    assert summary.tally.answered == 10
    assert summary.tally.failed == 10


async def test_a_subject_that_cannot_be_asked_so_is_refused():
    class Raw(Scripted):
        def describe(self):
            return Abilities(("complete",))

    with pytest.raises(UnaskableError, match="asks by chat"):
        engine(Raw(right))


async def test_local_only_items_never_leave():
    class Far(Scripted):
        def describe(self):
            return Abilities(("chat",), local=False)

    private = replace(BENCHMARK, task=replace(BENCHMARK.task, local_only=True))
    with pytest.raises(InputError, match="local-only"):
        engine(Far(right), benchmark=private)
    engine(Far(right), benchmark=private, occasion=Occasion(allowed_endpoints=("scripted",)))
    engine(Scripted(right), benchmark=private)


async def test_a_scaffold_asks_in_steps_and_resumes_from_the_journal():
    async def agent(item, doors):
        total = 0
        for step in range(40):
            reply = await doors.ask("target", Generate((user(f"{step} + {total}"),)))
            total = int(reply.text)
        return Answer(str(total))

    store = open_store(":memory:")
    received = 0
    for dies_after in range(41):

        class Dies(Scripted):
            def script_or_die(self, text):
                if len(self.asked) > dies_after - received:  # noqa: B023 - read at once, in this iteration
                    return RunStoppedError("power is gone")
                return right(text)

        subject = Dies(lambda text: "0")
        subject.script = subject.script_or_die
        made = engine(subject, n=1, benchmark=scaffold(agent), store=store)
        await carry_out(made)
        received += sum(1 for text in subject.asked) - (1 if len(subject.asked) > dies_after - received else 0)
    assert received == 40
    assert len(list(made.ports.store.trials(made.run.id))) == 1
    assert len(store.calls(made.run.id, Slot(0, 0))) == 40


async def test_the_step_budget_truncates():
    async def endless(item, doors):
        while True:
            await doors.ask("target", Generate((user("1 + 1"),)))

    _, summary = await run(engine(Scripted(right), n=2, benchmark=scaffold(endless, steps=7)))
    assert summary.tally.truncated == 2


async def test_a_scaffold_that_breaks_is_a_failed_trial_not_a_dead_run():
    async def broken(item, doors):
        if item.id == "1":
            raise KeyError("oops")
        return Answer(item.gold)

    ended, summary = await run(engine(Scripted(right), n=3, benchmark=scaffold(broken)))
    assert ended.complete
    assert summary.tally.failed == 1
    assert summary.tally.answered == 2


async def test_the_run_notes_under_which_names_it_was_answered():
    replies = iter(("m-1", "m-2") * 5)
    subject = Scripted(lambda text: Reply((Text(right(text)),), served_as=next(replies)))
    made = engine(subject)
    _, summary = await run(made)
    assert summary.run.conditions.served_as == ("m-1", "m-2")
    assert any("several names" in note for note in summary.notes)
