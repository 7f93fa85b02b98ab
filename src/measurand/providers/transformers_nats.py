"""Log-probabilities of token sequences from a causal model of PyTorch, what they share computed once.

The sequences make a forest (`prefix_tree`). Siblings are computed together on the keys and values of their parent;
padding stands on the right, where a causal model cannot see it, so no number depends on who is computed beside it.
The head computes logits at the positions that predict a scored token, and nowhere else.
"""

from __future__ import annotations

import inspect
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, cast

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from measurand.core.tokens import Joined
from measurand.providers.prefix_tree import WORTH, Ids, Node, forest, wanted

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer: [rows, heads, tokens, size]."""

Place = tuple[int, int]
"""A row of a pass, and a column."""

Pick = tuple[int, list[tuple[int, int]]]
"""A row of a pass, and the (sequence, token) pairs whose probability is wanted there."""

Found = tuple[int, float]
"""A sequence, and the log-probability of one of its tokens."""

_LOGIT_BYTES = 1 << 28
"""Memory that the logits of one pass may take."""

_FULL = frozenset({"full_attention", "sliding_attention"})
"""Kinds of layers whose keys and values may be kept, cut and shared."""

_LEAST_TOKENS = 16
"""Where a pass of so few tokens does not fit into memory, nothing does."""


class OutOfMemoryError(Exception):
    """Not even a short pass of one row fits."""


@dataclass(slots=True)
class Limits:
    """What a pass may take: tokens (rows times their length), and bytes of keys and values that are alive together."""

    tokens: int = 8192
    bytes: int = 1 << 30


@dataclass(slots=True)
class _Kept:
    """The latest prefixes that several sequences began with, and their keys and values, within a bound."""

    most: int
    entries: OrderedDict[Ids, Layers] = field(default_factory=OrderedDict)
    bytes: int = 0

    def longest(self, ids: Ids) -> tuple[int, Layers]:
        """The most of `ids` that is kept, from the first token on."""
        best, found = 0, None
        for entry in self.entries:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(entry, ids, strict=False)))
            if same > best:
                best, found = same, entry
        if found is None:
            return 0, []
        self.entries.move_to_end(found)
        return best, _cut(self.entries[found], best)

    def keep(self, ids: Ids, layers: Layers) -> bool:
        """Remember, and forget the least used beyond the bound; whether it is kept."""
        size = _bytes(layers)
        if size > self.most:
            return False
        self.entries[ids] = layers
        self.bytes += size
        while self.bytes > self.most:
            _, gone = self.entries.popitem(last=False)
            self.bytes -= _bytes(gone)
        return True

    def clear(self) -> None:
        """Forget all."""
        self.entries.clear()
        self.bytes = 0


@dataclass(slots=True)
class _Work:
    """What is measured together: the rows, and for each of them the log-probabilities found so far."""

    rows: Sequence[Joined]
    sums: list[list[float]]


class Measure:
    """Measures sequences with one model. `peak` is the most bytes that keys and values took together."""

    def __init__(self, model: Any, limits: Limits) -> None:
        self._model = model
        self._limits = limits
        self._kept = _Kept(limits.bytes // 2)
        self._held = 0
        self._stopped = False
        self.peak = 0
        names = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"
        kinds = getattr(model.config.get_text_config(), "layer_types", None) or ()
        self._shares = not getattr(model, "_is_stateful", False) and _FULL.issuperset(kinds)
        self._head = model.get_output_embeddings()
        logits, layers = self.step([0], [])
        self._token_bytes = _bytes(layers)
        self._most_logits = max(_LOGIT_BYTES // (4 * logits.shape[-1]), 1)

    def stop(self) -> None:
        """End the work that goes on in another thread, at its next pass."""
        self._stopped = True

    def nats(self, rows: Sequence[Joined]) -> list[float]:
        """The summed log-probability of each row's tokens from its `start` on, in nats.

        Raises OutOfMemoryError where even a short pass does not fit, and InterruptedError after `stop`.
        """
        work = _Work(rows, [[] for _ in rows])
        alone = []
        for node in forest(rows, WORTH if self._shares else math.inf):
            if node.children:
                self._descend(node, work)
            else:
                alone.append(node)
        self._siblings(alone, [], work)
        return [math.fsum(parts) for parts in work.sums]

    def step(self, ids: Sequence[int], layers: Layers) -> tuple[torch.Tensor, Layers]:
        """The logits after the last of `ids`, which follow what `layers` hold: [vocabulary], and the grown layers."""
        logits, grown = self._pass([list(ids)], layers, [(0, len(ids) - 1)])
        return logits[0], grown

    def _descend(self, node: Node, work: _Work) -> None:
        """A first stretch that several rows share, from what is kept of it, and then what follows it."""
        first_wanted = next(iter(wanted(node, work.rows)), node.end)
        known, layers = self._kept.longest(node.ids)
        known = min(known, first_wanted)
        if known < node.end:
            rest = Node(known, node.ids[known:], node.rows, node.children)
            self._siblings([rest], _cut(layers, known), work, keep=node.ids)
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
                self._shrink(error, batch)
                continue
            del waiting[: len(batch)]
            for row, value in found:
                work.sums[row].append(value)
            held = 0 if keep and self._kept.keep(keep, layers) else _bytes(layers)
            self._held += held
            for place, node in enumerate(batch):
                if node.children:
                    self._siblings(node.children, _cut(layers, node.end, place), work)
            self._held -= held

    def _fitting(self, waiting: Sequence[Node]) -> list[Node]:
        """The first of the nodes, shortest first, that fit into one pass; at least one."""
        free = self._limits.bytes - self._kept.bytes - self._held
        if any(node.children for node in waiting):
            free //= 2  # the other half is for those that follow
        count = 1
        for node in waiting[1:]:
            rows = count + 1
            if rows * len(node.ids) > self._limits.tokens or rows * node.end * self._token_bytes > free:
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
            logits, past = self._pass([row[begin:end] for row in ids], past, picks or [(0, 0)])
            found += _values(logits, [pairs for column in range(begin, end) for _, pairs in columns[column]])
        return past if any(node.children for node in batch) else [], found

    def _cuts(self, columns: Sequence[Sequence[Pick]], rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of columns that one pass each can take."""
        if not self._shares:
            yield 0, len(columns)
            return
        begin = wants = 0
        for column, picks in enumerate(columns):
            wants += len(picks)
            if column > begin and (wants > self._most_logits or (column - begin + 1) * rows > self._limits.tokens):
                yield begin, column
                begin, wants = column, len(picks)
        yield begin, len(columns)

    @torch.inference_mode()
    def _pass(self, ids: list[list[int]], past: Layers, picks: Sequence[Place]) -> tuple[torch.Tensor, Layers]:
        """One pass of the model over rows of equal length behind their past: logits [picks, vocabulary], and layers."""
        if self._stopped:
            raise InterruptedError("the subject was closed")
        device = self._model.device
        cache = _cache(past, len(ids))
        where = torch.tensor(picks, device=device)

        def only_picked(_head: object, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            """Hidden states [1, picks, size] for the head, instead of [rows, tokens, size]."""
            return args[0][where[:, 0], where[:, 1]].unsqueeze(0), *args[1:]

        hook = self._head.register_forward_pre_hook(only_picked)
        try:
            given = {self._cache_name: cache, "use_cache": True} if self._shares else {"use_cache": False}
            logits = self._model(input_ids=torch.tensor(ids, device=device), **given).logits[0]
        finally:
            hook.remove()
        grown: Layers = [(layer.keys, layer.values) for layer in cast("list[DynamicLayer]", cache.layers)]  # type: ignore[misc]
        self.peak = max(self.peak, self._kept.bytes + self._held + _bytes(grown))
        return logits, grown

    def _shrink(self, error: Exception, batch: Sequence[Node]) -> None:
        """Do half as much at a time from now on. Raises what was no lack of memory, and where halving helps no more."""
        words = str(error).lower()
        if not isinstance(error, MemoryError) and "memory" not in words and "alloc" not in words:
            raise error
        tried = min(self._limits.tokens, sum(len(node.ids) for node in batch))
        if tried <= _LEAST_TOKENS or not self._shares:
            raise OutOfMemoryError from error
        self._limits.tokens = tried // 2
        self._kept.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


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


def _cache(past: Layers, rows: int) -> DynamicCache:
    """A cache that begins with one past for all rows; it is copied only when a pass makes it longer."""
    cache = DynamicCache()
    for keys, values in past:
        layer = DynamicLayer()  # type: ignore[no-untyped-call]
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1)
        cache.layers.append(layer)
    return cache


def _cut(layers: Layers, length: int, place: int = 0) -> Layers:
    """The first tokens of one row."""
    row = slice(place, place + 1)
    return [(keys[row, :, :length], values[row, :, :length]) for keys, values in layers if length]


def _bytes(layers: Layers) -> int:
    return sum(tensor.numel() * tensor.element_size() for pair in layers for tensor in pair)
