"""What token sequences share, as a tree: each shared stretch is computed once, whoever begins with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from measurand.core.tokens import Joined

Ids = tuple[int, ...]

WORTH = 32
"""Tokens that a stretch must save to be computed by itself: a pass of its own costs about as much."""


@dataclass(slots=True)
class Node:
    """A stretch of tokens that begins at position `begin`; `rows` are the numbers of the sequences that hold it."""

    begin: int
    ids: Ids
    rows: list[int]
    children: list[Node] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The position behind its last token."""
        return self.begin + len(self.ids)


def forest(rows: Sequence[Joined], worth: float = WORTH) -> list[Node]:
    """The trees that the rows' input tokens (all but the last) make. Every position of a row is in one node.

    A stretch becomes a node of its own only where it saves more than `worth` tokens; with `worth` infinite each
    distinct input is a node of its own.
    """
    paths = [row.ids[:-1] for row in rows]
    order = sorted(range(len(rows)), key=paths.__getitem__)
    return _split(paths, order, 0, 0, worth)


def wanted(node: Node, rows: Sequence[Joined]) -> dict[int, list[tuple[int, int]]]:
    """The positions of a node that predict a scored token: position to pairs of (row, token)."""
    found: dict[int, list[tuple[int, int]]] = {}
    for number in node.rows:
        row = rows[number]
        for position in range(max(row.start - 1, node.begin), min(node.end, len(row.ids) - 1)):
            found.setdefault(position, []).append((number, row.ids[position + 1]))
    return dict(sorted(found.items()))


def _split(paths: list[Ids], order: list[int], begin: int, at: int, worth: float) -> list[Node]:
    """Nodes from position `begin` for sorted rows that are known to be equal up to `at`."""
    nodes: list[Node] = []
    for _, members in groupby(order, key=lambda number: paths[number][at : at + 1]):
        nodes += _grow(paths, list(members), begin, at, worth)
    return nodes


def _grow(paths: list[Ids], order: list[int], begin: int, at: int, worth: float) -> Iterator[Node]:
    """The node of rows that share the token at `at`, or its parts where sharing it is not worth a node."""
    first, last = paths[order[0]], paths[order[-1]]
    end = at
    while end < len(first) and end < len(last) and first[end] == last[end]:
        end += 1
    whole = [number for number in order if len(paths[number]) == end]
    longer = order[len(whole) :]
    branches = len({paths[number][end] for number in longer}) + bool(whole)
    if not longer or (end - begin) * (branches - 1) > worth:
        yield Node(begin, first[begin:end], order, _split(paths, longer, end, end, worth))
        return
    if whole:
        yield Node(begin, first[begin:end], whole)
    yield from _split(paths, longer, begin, end, worth)
