"""Turns: never more than there are, nobody forgotten, and those of one lane after another."""

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.sandboxes.lanes import Lanes


async def served(width: int, lanes: list[str]) -> list[str]:
    """The order in which programs of those lanes, all there from the start, are served."""
    turns, order, inside = Lanes(width), [], 0

    async def program(lane: str) -> None:
        nonlocal inside
        async with turns.turn(lane):
            inside += 1
            assert inside <= width
            order.append(lane)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*map(program, lanes))
    return order


@given(st.integers(1, 4), st.lists(st.sampled_from("abc"), max_size=12))
def test_everybody_has_a_turn(width: int, lanes: list[str]) -> None:
    assert sorted(asyncio.run(served(width, lanes))) == sorted(lanes)


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_with_one_turn_lanes_are_not_mixed(lanes: list[str]) -> None:
    order = [lane for lane, _ in itertools.groupby(asyncio.run(served(1, lanes)))]
    assert order == list(dict.fromkeys(lanes))


async def test_two_turns_take_two_lanes() -> None:
    """The first two come at once and are of one lane; as soon as it is empty, each turn has a lane to itself."""
    assert (await served(2, list("aabbbccc")))[2:] == list("bcbcbc")


async def test_a_single_lane_fills_all_turns() -> None:
    assert await served(3, list("aaaaaa")) == list("aaaaaa")


@pytest.mark.parametrize("stop", ["early", "late"])
async def test_who_is_told_to_stop_takes_no_turn_with_him(stop: str) -> None:
    """Also where the turn comes in the same moment."""
    turns = Lanes(1)

    async def wait(lane: str) -> str:
        async with turns.turn(lane):
            return lane

    first = turns.turn("a")
    await first.__aenter__()
    stopped, other = asyncio.create_task(wait("a")), asyncio.create_task(wait("b"))
    await asyncio.sleep(0)
    if stop == "late":
        await first.__aexit__(None, None, None)
        stopped.cancel()
    else:
        stopped.cancel()
        await first.__aexit__(None, None, None)
    with pytest.raises(asyncio.CancelledError):
        await stopped
    assert await asyncio.wait_for(other, 5) == "b"
    assert await asyncio.wait_for(wait("c"), 5) == "c"
