"""Passes of a causal model of PyTorch: what goes in, keys and values that come out, and the memory they may take."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, cast

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from measurand.providers.prefix_tree import Ids

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer: [rows, heads, tokens, size]."""

Place = tuple[int, int]
"""A row of a pass, and a column."""

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
    """What may be taken at a time.

    Tokens of a pass (rows times their length), bytes of keys and values that are alive together, and rows that are
    generated together.
    """

    tokens: int = 8192
    bytes: int = 1 << 30
    rows: int = 256


@dataclass(slots=True)
class Kept:
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
        return best, cut(self.entries[found], best)

    def keep(self, ids: Ids, layers: Layers) -> bool:
        """Remember, and forget the least used beyond the bound; whether it is kept."""
        size = size_of(layers)
        if size > self.most:
            return False
        self.entries[ids] = layers
        self.bytes += size
        while self.bytes > self.most:
            _, gone = self.entries.popitem(last=False)
            self.bytes -= size_of(gone)
        return True

    def clear(self) -> None:
        """Forget all."""
        self.entries.clear()
        self.bytes = 0


class ForwardPasses:
    """Runs one model.

    `held` counts the bytes of keys and values that its users hold besides what is `kept`, and `peak` is the most that
    all took together. `shares` says whether keys and values can be kept, cut and shared: those of recurrent states
    cannot. `like` are the layers of one token.
    """

    def __init__(self, model: Any, limits: Limits) -> None:
        self._model = model
        self._stopped = False
        self.limits = limits
        self.kept = Kept(limits.bytes // 2)
        self.held = 0
        self.peak = 0
        names = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"
        self._takes_positions = "position_ids" in names
        kinds = getattr(model.config.get_text_config(), "layer_types", None) or ()
        self.shares = not getattr(model, "_is_stateful", False) and _FULL.issuperset(kinds)
        self._head = model.get_output_embeddings()
        logits, self.like = self.run([[0]], [], [(0, 0)])
        self.token_bytes = size_of(self.like)
        self.most_logits = max(_LOGIT_BYTES // (4 * logits.shape[-1]), 1)

    @property
    def free(self) -> int:
        """Bytes that more keys and values may take."""
        return self.limits.bytes - self.kept.bytes - self.held

    def stop(self) -> None:
        """End the work that goes on in another thread, at its next pass."""
        self._stopped = True

    def run(self, ids: list[list[int]], past: Layers, picks: Sequence[Place]) -> tuple[torch.Tensor, Layers]:
        """One pass over rows of equal length behind their past: logits [picks, vocabulary], and the grown layers."""
        cache = _cache(past, len(ids))
        logits = self.run_on(cache, ids, picks)
        grown: Layers = [(layer.keys, layer.values) for layer in cast("list[DynamicLayer]", cache.layers)]  # type: ignore[misc]
        self.peak = max(self.peak, self.kept.bytes + self.held + size_of(grown))
        return logits, grown

    @torch.inference_mode()
    def run_on(
        self, cache: DynamicCache, ids: list[list[int]], picks: Sequence[Place], mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """One pass that makes a cache longer: logits [picks, vocabulary].

        `mask` [rows, columns of the cache and of the pass] is 0 at padding on the left, which counts for no position.
        Raises InterruptedError after `stop`.
        """
        if self._stopped:
            raise InterruptedError("the subject was closed")
        device = self._model.device
        where = torch.tensor(picks, device=device)
        given: dict[str, Any] = {self._cache_name: cache, "use_cache": True} if self.shares else {"use_cache": False}
        if mask is not None:
            given["attention_mask"] = mask
            if self._takes_positions:
                given["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)[:, -len(ids[0]) :]

        def only_picked(_head: object, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            """Hidden states [1, picks, size] for the head, instead of [rows, tokens, size]."""
            return args[0][where[:, 0], where[:, 1]].unsqueeze(0), *args[1:]

        hook = self._head.register_forward_pre_hook(only_picked)
        try:
            logits: torch.Tensor = self._model(input_ids=torch.tensor(ids, device=device), **given).logits[0]
        finally:
            hook.remove()
        return logits

    def hold(self, size: int) -> None:
        """Count bytes of keys and values that a user holds (negative: gives back)."""
        self.held += size
        self.peak = max(self.peak, self.kept.bytes + self.held)

    def shrink(self, error: Exception, tried: int) -> None:
        """Take half as many tokens a pass as were tried, from now on.

        Raises the error where it was no lack of memory, and OutOfMemoryError where halving helps no more.
        """
        if not is_lack_of_memory(error):
            raise error
        tried = min(self.limits.tokens, tried)
        if tried <= _LEAST_TOKENS or not self.shares:
            raise OutOfMemoryError from error
        self.limits.tokens = tried // 2
        self.forget()

    def forget(self) -> None:
        """Give back the memory of what is kept."""
        self.kept.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def is_lack_of_memory(error: Exception) -> bool:
    """Whether an error of PyTorch says that memory ended."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "memory" in words or "alloc" in words


def cut(layers: Layers, length: int, place: int = 0) -> Layers:
    """The first tokens of one row."""
    row = slice(place, place + 1)
    return [(keys[row, :, :length], values[row, :, :length]) for keys, values in layers if length]


def size_of(layers: Layers) -> int:
    """Bytes."""
    return sum(tensor.numel() * tensor.element_size() for pair in layers for tensor in pair)


def _cache(past: Layers, rows: int) -> DynamicCache:
    """A cache that begins with one past for all rows; it is copied only when a pass makes it longer."""
    cache = DynamicCache()
    for keys, values in past:
        layer = DynamicLayer()  # type: ignore[no-untyped-call]
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1)
        cache.layers.append(layer)
    return cache
