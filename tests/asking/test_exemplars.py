"""No item is shown its own answer, and nothing but the seed and the item decides what it is shown."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.asking import choose, same_question
from measurand.core.benchmark import Shots
from measurand.core.errors import InputError
from measurand.core.item import Conversation, Document, Environment, Item, Perturbed, Question
from measurand.core.message import user

FIRST, LOT = Shots(2, "test"), Shots(2, "test", rule="seeded")


def item(name: object, text: str = "", *options: str, **slices: str) -> Item:
    return Item(str(name), Question(text or f"Q{name}", options), gold=f"A{name}", slices=slices)


POOL = [item(number) for number in range(6)]


def ids(shots: Shots, asked: Item, pool: list[Item]) -> list[str]:
    return [shot.id for shot in choose(shots, asked, pool)]


@given(seed=st.integers(), k=st.integers(0, 4), rule=st.sampled_from(["first", "seeded"]), place=st.integers(0, 5))
def test_the_item_is_never_among_its_exemplars(seed: int, k: int, rule: str, place: int) -> None:
    shots = shots_of(k, rule, seed)
    chosen = ids(shots, POOL[place], [*POOL, item("copy", f" q{place} ")])
    assert len(chosen) == len(set(chosen)) == k
    assert not {str(place), "copy"} & set(chosen)


def shots_of(k: int, rule: str, seed: int) -> Shots:
    return replace(FIRST, k=k, seed=seed, rule="first" if rule == "first" else "seeded")


def test_first_filters_and_then_takes_in_order() -> None:
    assert ids(FIRST, POOL[0], POOL) == ["1", "2"]
    assert ids(FIRST, POOL[5], POOL) == ["0", "1"]


def test_first_takes_a_published_pool_with_its_repeats_and_the_lot_does_not() -> None:
    doubled = [item("a", "same"), item("b", "same"), item("c")]
    assert ids(FIRST, POOL[0], doubled) == ["a", "b"]
    for seed in range(20):
        assert set(ids(replace(LOT, seed=seed), POOL[0], doubled)) in ({"a", "c"}, {"b", "c"})


def test_seeds_differ_and_each_is_the_same_in_every_process() -> None:
    draws = {seed: ids(replace(LOT, seed=seed), POOL[0], POOL) for seed in range(30)}
    assert len({tuple(draw) for draw in draws.values()}) > 8
    code = (
        "from tests.asking.test_exemplars import *\n"
        "print({seed: ids(replace(LOT, seed=seed), POOL[0], POOL) for seed in range(30)})"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    again = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == str(draws)


def test_the_lot_of_one_seed_is_pinned() -> None:
    assert ids(Shots(3, "test", rule="seeded", seed=1234), POOL[0], POOL) == PINNED


PINNED = ["2", "1", "3"]


def test_every_exemplar_is_drawn_about_equally_often() -> None:
    counts = dict.fromkeys("12345", 0)
    for seed in range(2000):
        for name in ids(replace(LOT, seed=seed), POOL[0], POOL):
            counts[name] += 1
    assert all(abs(count - 800) < 110 for count in counts.values())  # five standard deviations


def test_exemplars_come_from_the_items_own_group() -> None:
    pool = [item(number, subject="law" if number % 2 else "art") for number in range(6)]
    law = item("x", subject="law")
    assert ids(replace(FIRST, same="subject"), law, pool) == ["1", "3"]
    with pytest.raises(InputError, match="no slice 'topic'"):
        choose(replace(FIRST, same="topic"), law, pool)


def test_too_few_is_an_error_that_says_how_many_there_are() -> None:
    with pytest.raises(InputError, match="is to get 6 exemplars from 'test', and only 5 are left"):
        choose(replace(FIRST, k=6), POOL[0], POOL)


def test_a_perturbed_item_gets_the_exemplars_of_its_original() -> None:
    changed = msgspec.structs.replace(item("0#typo", "Qo"), origin=Perturbed("0", "typo"))
    for shots in (FIRST, LOT, replace(LOT, seed=5)):
        assert ids(shots, changed, POOL) == ids(shots, POOL[0], POOL)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (item(1, "Name the largest planet."), item(2, "name the largest  planet. "), True),
        (item(1, "Which is prime?", "4", "7"), item(2, "Which is prime?", "11", "6"), False),
        (item(1, "Which is prime?", "4", "7"), item(2, "which is PRIME?", "7 ", "4"), True),
        (item(1, "Which?", "a", "b"), item(2, "Which?"), False),
        (item(1, "x² = 4"), item(2, "x2 = 4"), False),
        (item(1, "cafe\u0301"), item(2, "caf\u00e9"), True),
        (item(1, "Hi"), Item("2", Conversation((user("Hi"),))), False),
        (Item("1", Conversation((user("Hi"),))), Item("2", Conversation((user("hi "),))), True),
        (Item("1", Document("a\nb")), Item("2", Document("a b")), True),
        (Item("1", Environment("fix", {"at": "1"})), Item("2", Environment("fix", {"at": "2"})), False),
    ],
)
def test_equal_but_for_case_and_spacing_is_the_same_question(a: Item, b: Item, same: object) -> None:
    assert same_question(a, b) is same
    assert same_question(b, a) is same


def test_a_large_pool_is_drawn_from_without_being_walked() -> None:
    class Counted(list[Item]):
        taken = 0

        def __getitem__(self, place: Any) -> Any:
            self.taken += 1
            return super().__getitem__(place)

    pool = Counted(item(number) for number in range(5000))
    choose(replace(LOT, k=5), POOL[0], pool)
    assert pool.taken < 20
