"""Subsets: proportional, in the order of the data, the same everywhere."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.asking import take_subset
from measurand.core.benchmark import Subset
from measurand.core.errors import InputError
from measurand.core.item import Item, Question


def items(groups: str) -> list[Item]:
    return [Item(f"i{place}", Question("q"), slices={"g": group}) for place, group in enumerate(groups)]


def ids(taken: tuple[Item, ...]) -> list[int]:
    return [int(item.id[1:]) for item in taken]


@given(groups=st.text("abc", min_size=1, max_size=60), seed=st.integers(), share=st.floats(0.01, 1))
def test_shares_are_within_one_of_proportion_and_order_is_kept(groups: str, seed: int, share: float) -> None:
    size = max(1, int(share * len(groups)))
    taken = take_subset(items(groups), Subset(size, seed, "g"))
    assert len(taken) == size
    assert ids(taken) == sorted(set(ids(taken)))
    got = Counter(item.slices["g"] for item in taken)
    for group, count in Counter(groups).items():
        assert abs(got[group] - size * count / len(groups)) < 1


@given(seed=st.integers(), small=st.integers(1, 20), large=st.integers(1, 20))
def test_a_larger_sample_holds_the_smaller(seed: int, small: int, large: int) -> None:
    small, large = sorted((small, large))
    everything = items("a" * 20)
    inner, outer = (set(ids(take_subset(everything, Subset(size, seed)))) for size in (small, large))
    assert inner <= outer


def test_the_sample_of_one_seed_is_pinned() -> None:
    assert ids(take_subset(items("a" * 20), Subset(5, 7))) == PINNED
    assert ids(take_subset(items("a" * 20), Subset(5, 8))) != PINNED


PINNED = [4, 6, 12, 13, 17]


def test_ties_of_remainders_go_to_the_first_of_the_alphabet() -> None:
    got = Counter(item.slices["g"] for item in take_subset(items("bbaacc"), Subset(4, 0, "g")))
    assert got == {"a": 2, "b": 1, "c": 1}


@pytest.mark.parametrize("size", [0, -1, 4])
def test_a_size_that_cannot_be_had_is_an_error(size: int) -> None:
    with pytest.raises(InputError, match=f"a subset of {size} cannot be taken from 3 items"):
        take_subset(items("abc"), Subset(size))


def test_an_item_without_the_slice_is_an_error() -> None:
    with pytest.raises(InputError, match="item i0 has no slice 'subject'"):
        take_subset(items("abc"), Subset(2, 0, "subject"))
