"""Shared stretches are found, and no position of any row is lost or computed for nothing."""

import math

from hypothesis import given
from hypothesis import strategies as st

from measurand.core.tokens import Joined
from measurand.providers.prefix_tree import forest, wanted

TOKENS = st.lists(st.integers(0, 2), min_size=2, max_size=12)


@given(rows=st.lists(TOKENS, min_size=1, max_size=12), worth=st.sampled_from([0, 3, 8, math.inf]), data=st.data())
def test_every_scored_token_is_wanted_once_behind_its_own_context(rows, worth, data):
    joined = [Joined(tuple(ids), data.draw(st.integers(1, len(ids) - 1))) for ids in rows]
    left = {(row, at - 1): one.ids[at] for row, one in enumerate(joined) for at in range(one.start, len(one.ids))}

    def walk(node, path):
        path += node.ids
        assert len(path) == node.end
        assert all(joined[row].ids[: node.end] == path for row in node.rows)
        for position, pairs in wanted(node, joined).items():
            for row, token in pairs:
                assert left.pop((row, position)) == token
        for child in node.children:
            assert set(child.rows) <= set(node.rows)
            walk(child, path)

    for root in forest(joined, worth):
        walk(root, ())
    assert not left


def test_a_stretch_is_shared_where_it_saves_enough():
    shots = tuple(range(100))
    asked = [Joined((*shots, *(200 + number,) * 5, option), 105) for number in range(3) for option in (1, 2)]
    (root,) = forest(asked)
    assert root.ids == shots
    assert sorted(child.ids for child in root.children) == [(200 + number,) * 5 for number in range(3)]
    assert [len(child.rows) for child in root.children] == [2, 2, 2]  # options that differ in one token share all
    assert len(forest(asked, math.inf)) == 3
    assert len(forest(asked, 1000)) == 3


def test_it_is_quick_where_everything_is_shared():
    rows = [Joined((*range(number), 7000 + number, 1), number + 1) for number in range(1, 300)]
    nodes = forest(rows)
    assert sum(len(node.rows) for node in nodes) == len(rows)
