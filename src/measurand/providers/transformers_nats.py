"""Log-probabilities of token sequences from a causal model of PyTorch, what they share computed once.

The sequences make a forest (`prefix_tree`). Siblings are computed together on the keys and values of their parent;
padding stands on the right, where a causal model cannot see it, so no number depends on who is computed beside it.
The head computes logits at the positions that predict a scored token, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from measurand.core.tokens import Joined
from measurand.providers.prefix_tree import WORTH, Ids, Node, forest, wanted
from measurand.providers.transformers_passes import ForwardPasses, Layers, cut, size_of

Pick = tuple[int, list[tuple[int, int]]]
"""A row of a pass, and the (sequence, token) pairs whose probability is wanted there."""

Found = tuple[int, float]
"""A sequence, and the log-probability of one of its tokens."""


@dataclass(slots=True)
class _Work:
    """What is measured together: the rows, and for each of them the log-probabilities found so far."""

    rows: Sequence[Joined]
    sums: list[list[float]]


class Measure:
    """Measures sequences with one model."""

    def __init__(self, passes: ForwardPasses) -> None:
        self._passes = passes

    def nats(self, rows: Sequence[Joined]) -> list[float]:
        """The summed log-probability of each row's tokens from its `start` on, in nats.

        Raises OutOfMemoryError where even a short pass does not fit, and InterruptedError after `stop`.
        """
        self._passes.held = 0  # whatever broke down before
        work = _Work(rows, [[] for _ in rows])
        alone = []
        for node in forest(rows, WORTH if self._passes.shares else math.inf):
            if node.children:
                self._descend(node, work)
            else:
                alone.append(node)
        self._siblings(alone, [], work)
        return [math.fsum(parts) for parts in work.sums]

    def _descend(self, node: Node, work: _Work) -> None:
        """A first stretch that several rows share, from what is kept of it, and then what follows it."""
        first_wanted = next(iter(wanted(node, work.rows)), node.end)
        known, layers = self._passes.kept.longest(node.ids)
        known = min(known, first_wanted)
        if known < node.end:
            rest = Node(known, node.ids[known:], node.rows, node.children)
            self._siblings([rest], cut(layers, known), work, keep=node.ids)
        else:
            self._siblings(node.children, layers, work)

    def _siblings(self, nodes: Sequence[Node], past: Layers, work: _Work, keep: Ids = ()) -> None:
        """Nodes that follow the same past, as many at a time as fit, and then their children.

        Where memory ends, half as much is done at a time, from then on.
        """
        waiting = sorted(nodes, key=lambda node: len(node.ids))
        while waiting:
            batch = self._fitting(waiting)
            try:
                layers, found = self._measured(batch, past, work.rows)
            except (RuntimeError, MemoryError) as error:
                self._passes.shrink(error, sum(len(node.ids) for node in batch))
                continue
            del waiting[: len(batch)]
            for row, value in found:
                work.sums[row].append(value)
            held = 0 if keep and self._passes.kept.keep(keep, layers) else size_of(layers)
            self._passes.hold(held)
            for place, node in enumerate(batch):
                if node.children:
                    self._siblings(node.children, cut(layers, node.end, place), work)
            self._passes.hold(-held)

    def _fitting(self, waiting: Sequence[Node]) -> list[Node]:
        """The first of the nodes, shortest first, that fit into one pass; at least one."""
        free = self._passes.free
        if any(node.children for node in waiting):
            free //= 2  # the other half is for those that follow
        count = 1
        for node in waiting[1:]:
            rows = count + 1
            if rows * len(node.ids) > self._passes.limits.tokens or rows * node.end * self._passes.token_bytes > free:
                break
            count = rows
        return list(waiting[:count])

    def _measured(self, batch: Sequence[Node], past: Layers, rows: Sequence[Joined]) -> tuple[Layers, list[Found]]:
        """The values wanted of some nodes, in as many passes as the logits need; and the layers behind them."""
        found: list[Found] = []
        wants = [wanted(node, rows) for node in batch]
        length = max(len(node.ids) for node in batch)
        columns: list[list[Pick]] = [[] for _ in range(length)]
        for place, node in enumerate(batch):
            for position, pairs in wants[place].items():
                columns[position - node.begin].append((place, pairs))
        ids = [list(node.ids) + [0] * (length - len(node.ids)) for node in batch]
        for begin, end in self._cuts(columns, len(batch)):
            picks = [(place, column - begin) for column in range(begin, end) for place, _ in columns[column]]
            logits, past = self._passes.run([row[begin:end] for row in ids], past, picks or [(0, 0)])
            found += _values(logits, [pairs for column in range(begin, end) for _, pairs in columns[column]])
        return past if any(node.children for node in batch) else [], found

    def _cuts(self, columns: Sequence[Sequence[Pick]], rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of columns that one pass each can take."""
        if not self._passes.shares:
            yield 0, len(columns)
            return
        begin = wants = 0
        most, tokens = self._passes.most_logits, self._passes.limits.tokens
        for column, picks in enumerate(columns):
            wants += len(picks)
            if column > begin and (wants > most or (column - begin + 1) * rows > tokens):
                yield begin, column
                begin, wants = column, len(picks)
        yield begin, len(columns)


def _values(logits: torch.Tensor, pairs: Sequence[Sequence[tuple[int, int]]]) -> list[Found]:
    """The log-probability of each wanted token; `pairs` [picks] are the (row, token) wanted of each row of logits."""
    rows, picks, tokens = [], [], []
    for pick, wants in enumerate(pairs):
        for row, token in wants:
            rows.append(row)
            picks.append(pick)
            tokens.append(token)
    if not rows:
        return []
    logits = logits.float()
    at = torch.tensor(picks, device=logits.device)
    chosen = logits[at, torch.tensor(tokens, device=logits.device)]
    return list(zip(rows, (chosen - logits.logsumexp(-1)[at]).tolist(), strict=True))
