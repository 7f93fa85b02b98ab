"""What every implementation of the port `Store` must do; run on the file and on the fake."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from measurand.core.call import Call, Reply
from measurand.core.claim import AboutSystem
from measurand.core.decision import Decision, Rule, Signature, Signed
from measurand.core.errors import InvalidRecordError, StoreError
from measurand.core.item import Item, Question
from measurand.core.outcome import Failed, Truncated
from measurand.core.ports import CallMade, Store
from measurand.core.program import Result, Script
from measurand.core.run import Conditions, Slot
from measurand.core.trial import Absent, Ambiguous, Found, Measured, Missing, Reading, Score
from measurand.store import open_store
from tests.store.examples import SUBJECT_ID, asked, fill, items, key_of, marks, protocol, ran, run, trial

RUN = run(3, 2)


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(":memory:" if request.param == "memory" else tmp_path / "deep" / "er" / "runs.db")
    yield opened
    opened.close()


async def test_a_recorded_reply_is_recalled_with_its_date(store: Store) -> None:
    before = datetime.now(UTC)
    await store.record(key_of(1), SUBJECT_ID, asked(1))
    found = store.recall([key_of(1), key_of("never"), key_of(1)])
    assert list(found) == [key_of(1)]
    reply = found[key_of(1)]
    assert isinstance(reply, Reply)
    recorded = datetime.fromisoformat(reply.replayed_from)
    assert recorded.utcoffset() == timedelta(0)
    assert before - timedelta(seconds=1) <= recorded <= datetime.now(UTC)
    assert msgspec.structs.replace(reply, replayed_from="") == asked(1).reply


async def test_a_programs_result_is_recalled_as_it_was(store: Store) -> None:
    await store.record(key_of(1), "sandbox", ran("x = 1\n" * 100))
    assert store.recall([key_of(1)]) == {key_of(1): ran().result}


async def test_the_first_acknowledged_reply_wins(store: Store) -> None:
    await store.record(key_of(1), SUBJECT_ID, asked(1, "first"))
    await store.record(key_of(1), SUBJECT_ID, asked(1, "second"))
    reply = store.recall([key_of(1)])[key_of(1)]
    assert isinstance(reply, Reply)
    assert reply.text == "first"


async def test_many_at_once_are_all_there(store: Store) -> None:
    keys = [key_of(n) for n in range(1200)]
    await asyncio.gather(*(store.record(key, SUBJECT_ID, asked(n, f"reply {n}")) for n, key in enumerate(keys)))
    found = store.recall(keys)
    assert [found[key].text for key in keys] == [f"reply {n}" for n in range(1200)]  # type: ignore[union-attr]


async def test_repeats_of_one_prompt_keep_their_own_replies(store: Store) -> None:
    """caching-resume-001, -004: thirty samples are thirty replies."""
    for sample in range(30):
        await store.record(key_of(sample), SUBJECT_ID, asked("p", f"sample {sample}"))
    texts = {reply.text for reply in store.recall([key_of(n) for n in range(30)]).values()}  # type: ignore[union-attr]
    assert len(texts) == 30


async def test_a_run_comes_back_in_the_order_of_the_plan(store: Store) -> None:
    await fill(store, RUN, 3, 2)
    slots = [Slot(n, sample) for n in range(3) for sample in range(2)]
    assert list(store.done(RUN.id)) == [(slot, "answered") for slot in slots]
    assert list(store.trials(RUN.id)) == [(slot, trial(RUN, slot)) for slot in slots]
    assert list(store.scores(RUN.id)) == [(slot, marks(RUN, slot)[1]) for slot in slots]
    assert list(store.readings(RUN.id)) == [(slot, marks(RUN, slot)[0]) for slot in slots]
    assert list(store.readings(RUN.id, slots[3])) == [(slots[3], marks(RUN, slots[3])[0])]
    assert list(store.readings(RUN.id, Slot(2, 9))) == []
    assert list(store.items(RUN.id)) == items(3)
    assert store.protocol(RUN.id) == protocol(3, 2)
    assert store.runs() == [RUN]


async def test_calls_come_back_as_sent_and_as_received(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    slot, key = Slot(1, 1), key_of(1)
    await store.record(key, SUBJECT_ID, asked(1))
    await store.record(key_of(2), "judge", asked(2))
    await store.record(key_of(3), "sandbox", ran("print(3)"))
    made = [
        CallMade("target", key),
        CallMade("judge", key_of(2)),
        CallMade("sandbox", key_of(3)),
        CallMade("scorer", ran=ran("y = 2\n" * 200)),
        CallMade("target", key),
    ]
    store.finish(slot, trial(RUN, slot), made, [])
    await store.flush()
    owner = f"{RUN.id}/1/1"
    assert store.calls(RUN.id, slot) == [
        Call(owner, 0, "target", SUBJECT_ID, key.hex(), asked(1)),
        Call(owner, 1, "judge", "judge", key_of(2).hex(), asked(2)),
        Call(owner, 2, "sandbox", "sandbox", key_of(3).hex(), ran("print(3)")),
        Call(owner, 3, "scorer", "", "", ran("y = 2\n" * 200)),
        Call(owner, 4, "target", SUBJECT_ID, key.hex(), asked(1)),
    ]
    assert store.calls(RUN.id, Slot(0, 0)) == []


async def test_a_trial_is_replaced_with_all_that_hung_on_it(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    slot = Slot(0, 0)
    await store.record(key_of(1), SUBJECT_ID, asked(1))
    broken = trial(RUN, slot, Failed("network", "reset"))
    store.finish(slot, broken, [CallMade("target", key_of(1))] * 2, marks(RUN, slot) * 3)
    store.finish(slot, broken, [CallMade("target", key_of(1))], marks(RUN, slot) * 2)
    await store.flush()
    assert len(list(store.scores(RUN.id))) == 2
    store.finish(slot, trial(RUN, slot), [], marks(RUN, slot, 0.0))
    await store.flush()
    assert list(store.done(RUN.id)) == [(slot, "answered")]
    assert list(store.scores(RUN.id)) == [(slot, marks(RUN, slot, 0.0)[1])]
    assert len(list(store.readings(RUN.id))) == 1
    assert store.calls(RUN.id, slot) == []


async def test_every_kind_of_mark_and_of_outcome_comes_back(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    slot = Slot(2, 0)
    name = f"{RUN.id}/2/0"
    some: list[Reading | Score] = [
        Reading(name, "letter@2", Absent("no letter"), step=3),
        Score((f"{name}#3",), "harm", Measured((0.5,)), "judge@1"),
        Reading("other", "letter@2", Ambiguous(("A", "B"))),
        Score((name, "item-7"), "preference", Missing("needs_judge", "none given"), "judge@1"),
        Score((), "n", Measured(()), "x"),
        Reading(name, "json@1", Found({"@t": ["@", "@@", None, 1.5]})),
    ]
    outcome = Truncated("tokens")
    store.finish(slot, trial(RUN, slot, outcome), [], some)
    await store.flush()
    assert [mark for _, mark in store.readings(RUN.id)] == [mark for mark in some if isinstance(mark, Reading)]
    assert [mark for _, mark in store.scores(RUN.id)] == [mark for mark in some if isinstance(mark, Score)]
    assert [one.outcome for _, one in store.trials(RUN.id)] == [outcome]


async def test_members_of_a_panel_have_their_own_slots(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    slots = [Slot(0, 0, "ann"), Slot(0, 0, "bob"), Slot(0, 1, "ann")]
    for slot in reversed(slots):
        store.finish(slot, trial(RUN, slot), [], marks(RUN, slot))
    await store.flush()
    assert [slot for slot, _ in store.trials(RUN.id)] == slots
    assert [score.of for _, score in store.scores(RUN.id)] == [
        (f"{RUN.id}/0/0/ann",),
        (f"{RUN.id}/0/0/bob",),
        (f"{RUN.id}/0/1/ann",),
    ]


async def test_opening_a_run_again_changes_only_its_conditions(store: Store) -> None:
    await fill(store, RUN, 3, 2)
    later = msgspec.structs.replace(RUN, benchmark="renamed", conditions=Conditions(python="3.13"))
    store.open_run(later, protocol(3, 2), [])
    assert store.runs() == [msgspec.structs.replace(RUN, conditions=Conditions(python="3.13"))]
    assert list(store.items(RUN.id)) == items(3)
    assert len(list(store.done(RUN.id))) == 6


async def test_runs_do_not_see_each_other(store: Store) -> None:
    other = run(3, 2, occasion="again")
    await fill(store, RUN, 3, 2)
    store.open_run(other, protocol(3, 2), items(3))
    assert [one.id for one in store.runs()] == [other.id, RUN.id]
    assert list(store.trials(other.id)) == []
    assert list(store.items(other.id)) == items(3)


def test_a_run_without_items_or_trials_is_empty(store: Store) -> None:
    nothing = run(0)
    store.open_run(nothing, protocol(0), [])
    assert [*store.items(nothing.id), *store.trials(nothing.id), *store.scores(nothing.id)] == []


def test_a_run_that_is_only_planned_has_nothing_done(store: Store) -> None:
    assert list(store.done("abc")) == []


def test_what_a_session_left_in_flight_is_reported_once(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    first = store.begin_session(RUN.id, 8)
    assert first.unclean == 0
    store.end_session(first.id, 3)
    second = store.begin_session(RUN.id, 8)
    assert second.unclean == 3
    assert second.id != first.id
    store.end_session(second.id, 0)
    assert store.begin_session(RUN.id, 8).unclean == 0


def test_a_session_that_goes_on_is_not_unclean(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    assert store.begin_session(RUN.id, 8).unclean == 0
    assert store.begin_session(RUN.id, 8).unclean == 0


UNKNOWN: dict[str, Callable[[Store], object]] = {
    "begin": lambda store: store.begin_session("abc", 1),
    "calls": lambda store: store.calls("abc", Slot(0, 0)),
    "items": lambda store: list(store.items("abc")),
    "protocol": lambda store: store.protocol("abc"),
    "readings": lambda store: list(store.readings("abc")),
    "scores": lambda store: list(store.scores("abc")),
    "trials": lambda store: list(store.trials("abc")),
}


@pytest.mark.parametrize("ask", UNKNOWN)
def test_an_unknown_run_is_refused_in_a_sentence(store: Store, ask: str) -> None:
    with pytest.raises(StoreError, match=r"has no run abc; .*lists those it has\.$"):
        UNKNOWN[ask](store)


@pytest.mark.parametrize("text", ["\ud800", "lone \udfff tail", "x" * 300 + "\ud800"])
async def test_lone_surrogates_are_refused(store: Store, text: str) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    with pytest.raises(InvalidRecordError):
        await store.record(key_of(1), SUBJECT_ID, asked(1, text))
    with pytest.raises(InvalidRecordError):
        await store.record(key_of(1), text, asked(1))
    slot = Slot(0, 0)
    for bad in (Reading(text, "r@1", Absent()), Score((text,), "m", Measured(()), "s"), Reading("t", "r", Found(text))):
        with pytest.raises(InvalidRecordError):
            store.finish(slot, trial(RUN, slot), [], [bad])
    with pytest.raises(InvalidRecordError):
        store.finish(slot, trial(RUN, slot), [CallMade(text, key_of(1))], [])
    await store.flush()
    assert store.recall([key_of(1)]) == {}
    assert list(store.done(RUN.id)) == []


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
async def test_numbers_that_json_does_not_know_are_refused(store: Store, number: float) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    slot = Slot(0, 0)
    for bad in (Reading("t", "r", Found(number)), Reading("t", "r", Found({"a": [number]})), *marks(RUN, slot, number)):
        if isinstance(bad, Score) or (isinstance(bad.finding, Found) and bad.finding.value != 4):
            with pytest.raises(InvalidRecordError):
                store.finish(slot, trial(RUN, slot), [], [bad])
    for field in ("cost", "seconds"):
        with pytest.raises(InvalidRecordError):
            store.finish(slot, msgspec.structs.replace(trial(RUN, slot), **{field: number}), [], [])
    reply = msgspec.structs.replace(asked(1).reply, vectors=((0.5,) * 40 + (number,),))
    with pytest.raises(InvalidRecordError):
        await store.record(key_of(1), SUBJECT_ID, msgspec.structs.replace(asked(1), reply=reply))


async def test_what_could_not_be_read_back_is_refused(store: Store) -> None:
    store.open_run(RUN, protocol(3, 2), items(3))
    slot = Slot(0, 0)
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    for value in (object(), {1, 2}.__iter__(), deep):
        with pytest.raises(InvalidRecordError, match=r"Found cannot be stored, .*\.$"):
            store.finish(slot, trial(RUN, slot), [], [Reading("t", "r", Found(value))])
    wrong = Result("finished", stdout=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidRecordError, match="Result cannot be stored"):
        await store.record(key_of(1), "s", msgspec.structs.replace(ran(), result=wrong))
    with pytest.raises(InvalidRecordError, match="16 bytes, not 3"):
        await store.record(b"abc", "s", ran())
    with pytest.raises(InvalidRecordError, match="its own slot"):
        store.finish(Slot(0, 1), trial(RUN, Slot(0, 0)), [], [])


async def test_huge_and_hostile_text_comes_back(store: Store) -> None:
    text = "NUL \x00, line \u2028 and \u2029, emoji 🧮, \x1b[31m, \\u0000, \x7f, é, @t" + "abc " * 262_144
    for n, one in enumerate((text, "@" + text, "@t" + "A" * 22, "@@", "@", "", '"@tAAAAAAAAAAAAAAAAAAAAAA"')):
        await store.record(key_of(n), SUBJECT_ID, asked(1, one))
        reply = store.recall([key_of(n)])[key_of(n)]
        assert isinstance(reply, Reply)
        assert reply.text == one


async def test_arrays_come_back_to_the_last_bit(store: Store) -> None:
    numbers = tuple(1 / (n + 1) for n in range(768))
    reply = Reply(vectors=(numbers, (-0.0, 5e-324, 1.7976931348623157e308) * 20), values=(0.1, 0.2))
    await store.record(key_of(1), SUBJECT_ID, msgspec.structs.replace(asked(1), reply=reply))
    found = store.recall([key_of(1)])[key_of(1)]
    assert msgspec.structs.replace(found, replayed_from="") == reply


async def test_long_items_and_programs_come_back(store: Store) -> None:
    one = run(1)
    long = [Item("example/0", Question("word " * 5000, ("A" * 300, "@")), gold={"@tx": "y" * 256})]
    store.open_run(one, protocol(1), long)
    assert list(store.items(one.id)) == long
    await store.record(key_of(1), "s", msgspec.structs.replace(ran(), program=Script("#" * 9999, "in\x00put")))


async def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed; open it again"):
        await store.record(key_of(1), SUBJECT_ID, asked(1))
    with pytest.raises(StoreError, match="is closed; open it again"):
        await store.flush()


async def test_what_a_run_took_tells_replays_apart(store: Store) -> None:
    """Two runs ask the same: the second paid nothing."""
    for number, occasion in enumerate(("", "again")):
        made = run(3, 1, occasion)
        store.open_run(made, protocol(3, 1), items(3))
        await asyncio.sleep(0.002)
        store.begin_session(made.id, 1)
        await store.record(key_of(1), SUBJECT_ID, asked(1))
        store.finish(Slot(0, 0), trial(made, Slot(0, 0)), [CallMade("target", key_of(1))], [])
        await store.flush()
        spent, usage = store.spent(made.id), asked(1).reply.usage
        assert spent.requests == 1
        assert (spent.input_tokens, spent.output_tokens) == (usage.input or 0, usage.output or 0)
        assert spent.replayed == number
        assert bool(spent.replayed_since) == bool(number)


def test_signed_decisions_are_kept_as_they_were_signed(store: Store) -> None:
    first = Signed(
        Decision("Which?", AboutSystem(), (Rule("r", "pass", "because " * 300),), ("run a",), (), (), answer="A"),
        Signature("ab" * 8, "A. Person", "2026-01-01"),
    )
    second = msgspec.structs.replace(first, signature=Signature("cd" * 8, "B. Person", "2026-02-01", "ab" * 8))
    assert store.decisions() == []
    store.sign(first)
    store.sign(second)
    store.sign(msgspec.structs.replace(first, signature=Signature("ab" * 8, "A. Person", "2027-01-01")))
    assert store.decisions() == [second, first]
