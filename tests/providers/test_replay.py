"""Recorded replies are found by their prompt, sample by sample, and what is missing is said."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.call import Usage
from measurand.core.errors import CallFailedError, InputError
from measurand.core.message import assistant, system, user
from measurand.core.outcome import answer_of
from measurand.core.request import Complete, Generate, Loglikelihood
from measurand.providers.replay import Replay
from measurand.run.limits import RunLimits
from measurand.study.records import PrivateSet
from measurand.wiring import Options, evaluate
from tests.providers.keeping import keeps_to_the_port


def write(folder: Path, *lines: object) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def chat(text: str) -> Generate:
    return Generate((system("be brief"), user("earlier"), assistant("yes"), user(text)))


async def test_a_line_is_found_by_the_last_user_message_or_the_raw_prompt(tmp_path: Path) -> None:
    line = {"prompt": "2+2?", "reply": "4", "finish": "length", "usage": {"output": 3}, "reasoning": "sum", "id": 7}
    replay = Replay(write(tmp_path, line, "", {"prompt": "raw", "text": "ok", "notes": {"any": [1]}}))
    await replay.start()
    reply = await replay.reply(chat("2+2?"))
    assert (reply.text, reply.finish, reply.usage, reply.reasoning) == ("4", "length", Usage(output=3), "sum")
    assert (await replay.reply(Complete("raw"))).text == "ok"
    assert replay.describe().can == ("chat", "complete")
    assert replay.describe().local
    await replay.close()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))),
        min_size=1,
    )
)
async def test_every_pair_comes_back_in_its_order(pairs: list[tuple[str, str]]) -> None:
    replay = Replay.from_pairs(pairs)
    await replay.start()
    got = [(prompt, (await replay.reply(Complete(prompt))).text) for prompt, _ in pairs]
    assert sorted(got) == sorted(pairs)
    for prompt in {prompt for prompt, _ in pairs}:
        assert [text for p, text in got if p == prompt] == [text for p, text in pairs if p == prompt]
        with pytest.raises(CallFailedError, match="asked again"):
            await replay.reply(Complete(prompt))
    await replay.close()


async def test_samples_follow_their_number_and_begin_anew_with_each_start(tmp_path: Path) -> None:
    lines = [{"prompt": "p", "reply": text, "sample": n} for n, text in [(2, "c"), (0, "a"), (1, "b")]]
    replay = Replay(write(tmp_path, *lines))
    for _ in range(2):
        await replay.start()
        assert [(await replay.reply(chat("p"))).text for _ in range(3)] == ["a", "b", "c"]
        with pytest.raises(CallFailedError, match="3 times, and it is asked again"):
            await replay.reply(chat("p"))
    await replay.close()


async def test_log_likelihoods(tmp_path: Path) -> None:
    replay = Replay(write(tmp_path, {"prompt": "ctx", "values": [-1, -2.5]}))
    assert replay.describe().can == ("loglikelihood",)
    await replay.start()
    with pytest.raises(CallFailedError, match="2 log-likelihoods are recorded for a prompt with 1"):
        await replay.reply(Loglikelihood("ctx", (" A",)))
    await replay.start()
    assert (await replay.reply(Loglikelihood("ctx", (" A", " B")))).values == (-1.0, -2.5)
    await replay.start()
    with pytest.raises(CallFailedError, match="not of the kind"):
        await replay.reply(Complete("ctx"))
    await replay.close()


async def test_a_missing_prompt_names_the_nearest_once() -> None:
    replay = Replay.from_pairs([("What is 2+2? Answer briefly.", "4"), ("Name a colour.", "red"), ("Name it.", "x")])
    await replay.start()
    with pytest.raises(CallFailedError) as caught:
        await replay.reply(Complete("What is 2+2?\nAnswer briefly."))
    assert not caught.value.transient
    for part in ("3 replies to 3 prompts", "the same for 12 characters", "' Answer briefly.'", r"'\nAnswer briefly.'"):
        assert part in caught.value.why
    with pytest.raises(CallFailedError) as again:
        await replay.reply(Complete("What is 3+3?"))
    assert "nearest" not in again.value.why
    await replay.close()


@pytest.mark.parametrize(
    ("asked", "said"),
    [("Name a colour. Now", "then ends where"), ("Name a", "where this one ends"), ("ζ", "none of them is like it")],
)
async def test_the_nearest_may_be_shorter_longer_or_nowhere(asked: str, said: str) -> None:
    replay = Replay.from_pairs([("Name a colour.", "red")])
    await replay.start()
    with pytest.raises(CallFailedError) as caught:
        await replay.reply(Complete(asked))
    assert said in caught.value.why
    await replay.close()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "q1", "reply": "4"}, "missing required field `prompt`"),
        ({"prompt": "p"}, "exactly one of reply, text and values, and gives 0"),
        ({"prompt": "p", "reply": "a", "text": "b"}, "gives 2"),
        ({"prompt": "p", "reply": 4}, "Expected `str | null`, got `int`"),
        ({"prompt": "p", "reply": "a", "finish_reason": "stop"}, "unknown field `finish_reason`"),
        ({"prompt": "p", "reply": "a", "finish": "ended"}, "Invalid enum value 'ended'"),
        ("{", "not a recorded reply"),
        ("[" * 100_000, "not a recorded reply"),
        ('{"prompt": "' + "a" * 100_000, "not a recorded reply"),
        ("[]", "not a recorded reply"),
        ("nonsense", "not a recorded reply"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        Replay(write(tmp_path, {"prompt": "o", "reply": "k"}, line))
    assert "line 2" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("second", "said"),
    [({"sample": 0}, "repeats sample 0"), ({}, "only one of them has a sample")],
)
def test_samples_that_do_not_add_up(tmp_path: Path, second: dict[str, int], said: str) -> None:
    first = {"prompt": "p", "reply": "a", "sample": 0}
    with pytest.raises(InputError, match=said):
        Replay(write(tmp_path, first, {"prompt": "p", "reply": "b", **second}))
    with pytest.raises(InputError, match="only one of them has a sample"):
        Replay(write(tmp_path, {"prompt": "p", "reply": "b"}, first))


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Replay(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        Replay(tmp_path)
    with pytest.raises(InputError, match="no recorded reply"):
        Replay(write(tmp_path))
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(InputError, match="line 1"):
        Replay(tmp_path / "bytes.jsonl")


async def test_the_version_is_the_content(tmp_path: Path) -> None:
    first = Replay(write(tmp_path, {"prompt": "p", "reply": "a"}), "mine").subject
    second = Replay(write(tmp_path, {"prompt": "p", "reply": "b"}), "mine").subject
    assert (first.name, second.name) == ("mine", "mine")
    assert first.version != second.version
    assert Replay(write(tmp_path, {"prompt": "p", "reply": "a"})).subject.version == first.version


async def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"prompt": "p", "reply": "a"}\r\n{"prompt": "q", "reply": "b"}\r\n')
    replay = Replay(path)
    await replay.start()
    assert (await replay.reply(Complete("p"))).text == "a"
    assert (await replay.reply(Complete("q"))).text == "b"
    await replay.close()


async def test_a_file_that_changes_under_way_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, {"prompt": "p", "reply": "a"})
    replay = Replay(path)
    await replay.start()
    path.write_text('{"prompt": "other", "reply": "b"}\n')
    with pytest.raises(CallFailedError, match="has changed"):
        await replay.reply(Complete("p"))
    await replay.close()


async def test_two_hundred_thousand_lines(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("w") as file:
        for number in range(200_000):
            file.write(f'{{"prompt": "question {number} {"x" * 200}", "reply": "{"y" * 500}{number}"}}\n')
    replay = Replay(path)
    await replay.start()
    assert (await replay.reply(Complete(f"question 199999 {'x' * 200}"))).text.endswith("y199999")
    with pytest.raises(CallFailedError, match="200000 replies"):
        await replay.reply(Complete("question"))
    await replay.close()


async def test_replies_are_not_kept_in_memory(tmp_path: Path) -> None:
    path = write(tmp_path, *({"prompt": f"p{number}", "reply": "y" * 20_000} for number in range(2_000)))
    tracemalloc.start()
    replay = Replay(path)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_000_000  # of a file of 40 MB
    await replay.close()


async def test_it_keeps_to_the_port() -> None:
    await keeps_to_the_port(Replay.from_pairs([("a", "b"), ("", "nothing"), ("\x00\x1b[31m", "c")]))


@pytest.mark.parametrize(
    "before", [{"samples": 1}, {"limits": RunLimits(concurrency=1, max_tokens=2)}], ids=["one", "cut"]
)
def test_every_sample_has_its_own_reply_whatever_was_asked_before(tmp_path: Path, before: dict[str, Any]) -> None:
    """The store replays what it knows, so the file is asked for the later samples first."""
    lines = [
        {"prompt": f"q{n}", "reply": str(sample), "usage": {"input": 1, "output": 0}}
        for n in range(2)
        for sample in range(3)
    ]
    recorded = write(tmp_path, *lines)
    items = tmp_path / "items.csv"
    items.write_text("question,answer\nq0,1\nq1,1\n")

    def said(samples: int = 3, limits: RunLimits | None = None) -> dict[tuple[str, int], str]:
        options = Options(store=str(tmp_path / "runs.db"), samples=samples, limits=limits or RunLimits())
        made = evaluate(
            PrivateSet(file=str(items), question="question", answer="answer"), f"replay:{recorded}", options=options
        )
        trials = {(trial.item, slot.sample_no): trial.outcome for slot, trial in made.store.trials(made.run.id)}
        made.store.close()
        return {slot: answer.text for slot, one in trials.items() if (answer := answer_of(one)) is not None}

    assert len(said(**before)) < 6
    found = said()
    assert len(found) == 6
    assert {slot: text for slot, text in found.items() if text != str(slot[1])} == {}
