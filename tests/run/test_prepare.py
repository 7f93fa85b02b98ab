"""Preparation: each of the four choices moves its own part of the protocol, and nothing else."""

from dataclasses import replace

import pytest

from measurand.core.benchmark import Aggregation, Subset
from measurand.core.errors import DataError, InputError
from measurand.core.item import Item, Question
from measurand.core.protocol import diff
from measurand.core.request import Decode, Draw, key
from measurand.run.prepare import prepare
from measurand.run.session import with_max_output
from measurand.stats.metrics import pass_at
from tests.run.world import BENCHMARK, PROMPTING, Listed, Scripted, ask, engine, right, sums, with_samples


def protocol(benchmark=BENCHMARK, rows=None):
    return prepare(benchmark, Listed(rows or sums(10))).protocol


def asked_with(decode: Decode):
    return replace(BENCHMARK, asking=replace(PROMPTING, requests=lambda item, shots: ask(item, shots, decode)))


CHANGES = {
    "task": replace(BENCHMARK, task=replace(BENCHMARK.task, subset=Subset(5))),
    "asking": asked_with(Decode(max_tokens=9)),
    "scoring": replace(BENCHMARK, scoring=replace(BENCHMARK.scoring, score_truncated=True)),
    "aggregation": replace(BENCHMARK, aggregation=replace(BENCHMARK.aggregation, macro=("kind",))),
}


def test_the_same_benchmark_is_the_same_protocol():
    assert protocol().id == protocol().id
    assert diff(protocol(), protocol()) == ()


@pytest.mark.parametrize("part", CHANGES)
def test_a_change_shows_in_its_own_part(part: str):
    before, after = protocol(), protocol(CHANGES[part])
    assert before.id != after.id
    moved = {name for name in before.part_ids if before.part_ids[name] != after.part_ids[name]}
    assert part in moved
    assert {difference.path.split(".")[0] for difference in diff(before, after)} == moved
    if part != "task":  # other items are other prompts too
        assert moved == {part}


def test_the_name_is_not_part_of_the_protocol():
    assert protocol(replace(BENCHMARK, name="sums:again")).id == protocol().id


def test_a_changed_item_changes_the_task():
    rows = sums(10)
    rows[3] = rows[3] | {"a": "0"}
    assert protocol(rows=rows).part_ids["task"] != protocol().part_ids["task"]
    assert protocol(rows=rows).part_ids["asking"] == protocol().part_ids["asking"]


def test_more_samples_are_another_protocol():
    assert {difference.path for difference in diff(protocol(), protocol(with_samples(3)))} == {"asking.samples"}


def test_pass_at_more_than_the_samples_is_refused_before_anything_is_read():
    counting = {"accuracy": pass_at(10)}
    with pytest.raises(InputError, match="k greater than n: pass@10 cannot be estimated from 9 samples"):
        prepare(replace(with_samples(9), aggregation=Aggregation(counting)), Listed([]))
    assert protocol(replace(with_samples(10), aggregation=Aggregation(counting))).asking.samples == 10


def test_duplicate_ids_are_refused():
    with pytest.raises(DataError, match="duplicate id 0"):
        protocol(rows=[*sums(3), sums(1)[0]])


def test_no_items_are_refused():
    with pytest.raises(DataError, match="no samples"):
        prepare(replace(BENCHMARK, task=replace(BENCHMARK.task, to_items=lambda name, rows: [])), Listed(sums(1)))


def test_a_subset_is_seeded_and_too_large_a_one_is_refused():
    five = CHANGES["task"]
    assert protocol(five).task.items_sha256 == protocol(five).task.items_sha256
    other = replace(five, task=replace(five.task, subset=Subset(5, seed=1)))
    assert protocol(other).task.items_sha256 != protocol(five).task.items_sha256
    with pytest.raises(InputError):
        protocol(replace(five, task=replace(five.task, subset=Subset(11))))


def test_planned_keys_are_the_keys_of_the_requests():
    made = engine(Scripted(right), benchmark=with_samples(2), n=3)
    for slot, keys in made.todo():
        item = made.prepared.items[slot.item_no]
        (request,) = made.prepared.requests(item)
        assert keys == (key(made.run.subject_id, request, Draw(slot.sample_no)),)


def test_items_keep_their_order():
    assert [item.id for item in prepare(BENCHMARK, Listed(sums(4))).items] == ["0", "1", "2", "3"]
    assert isinstance(prepare(BENCHMARK, Listed(sums(1))).items[0], Item)
    assert prepare(BENCHMARK, Listed(sums(1))).items[0].input == Question("0 + 1")


def test_a_shorter_reply_is_another_protocol():
    shorter = with_max_output(BENCHMARK, 3)
    assert {difference.path for difference in diff(protocol(), protocol(shorter))} == {
        "asking.decode.max_tokens",
        "asking.prompt_sha256",
    }
