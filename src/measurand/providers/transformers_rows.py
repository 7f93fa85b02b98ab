"""Rows of tokens that grow together, one token each at a time, on the keys and values of what stands before.

A prompt is read with its padding on the right, where a causal model cannot see it, so no row depends on the others.
Then the rows are moved until they end in one column; what stands before a short one is masked and counts for no
position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from measurand.providers.prefix_tree import WORTH, Ids
from measurand.providers.transformers_passes import ForwardPasses, Layers, size_of

ROOM = 64
"""Columns that a buffer of keys and values grows by: a step then copies its own token, not all of them."""


class Rows(Protocol):
    """What grows. `logits` [rows, vocabulary] are those behind the last token of each row."""

    logits: torch.Tensor

    def step(self, tokens: Sequence[int]) -> None:
        """Add a token to each row."""
        ...

    def keep(self, places: Sequence[int]) -> None:
        """Go on with these rows only, in this order."""
        ...

    def fitting(self) -> int:
        """How many of the rows the next step has memory for; at least one."""
        ...


def rows_of(passes: ForwardPasses, texts: Sequence[Ids]) -> Rows:
    """Read some texts of at least one token, and be ready to make them longer."""
    return _Aligned(passes, texts) if passes.shares else _Whole(passes, texts)


def fitting(passes: ForwardPasses, texts: Sequence[Ids]) -> int:
    """How many of the texts, shortest first, may be read together: half of the memory is left for what they become."""
    count = 0
    while count < min(len(texts), passes.limits.rows):
        if count and (count + 1) * (len(texts[count]) + ROOM) * passes.token_bytes > passes.free // 2:
            break
        count += 1
    return count


class _Aligned:
    """Rows whose keys and values end in one column of a buffer."""

    def __init__(self, passes: ForwardPasses, texts: Sequence[Ids]) -> None:
        self._passes = passes
        self._lengths = [len(text) for text in texts]
        self._width = max(self._lengths)
        self._buffers = self._empty(len(texts), self._width + ROOM)
        passes.hold(size_of(self._buffers))
        self.logits = self._read(texts)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int]) -> None:
        """Add a token to each row."""
        if self._width == self._buffers[0][0].shape[2]:
            self._grow()
        cache = DynamicCache()
        cache.layers = [_Buffered(*buffer, self._width) for buffer in self._buffers]
        ids = [[token] for token in tokens]
        self.logits = self._passes.run_on(cache, ids, [(row, 0) for row in range(len(ids))], self._mask())
        self._lengths = [length + 1 for length in self._lengths]
        self._width += 1

    @torch.inference_mode()
    def keep(self, places: Sequence[int]) -> None:
        """Go on with these rows only; padding that all of them have goes too."""
        lengths = [self._lengths[place] for place in places]
        padding = self._width - max(lengths)
        held = size_of(self._buffers)
        at = torch.tensor(places, device=self.logits.device)
        for number, pair in enumerate(self._buffers):  # one layer after the other, so that one is held twice
            keys, values = (tensor[:, :, padding:].index_select(0, at) for tensor in pair)
            self._buffers[number] = keys, values
        self.logits = self.logits[at]
        self._lengths, self._width = lengths, self._width - padding
        self._passes.hold(size_of(self._buffers) - held)

    def fitting(self) -> int:
        """All rows while the buffers have room; else as many as may grow."""
        rows = len(self._lengths)
        if self._width < self._buffers[0][0].shape[2]:
            return rows
        free = self._passes.free + size_of(self._buffers)
        return min(rows, max(1, free // ((self._width + ROOM) * self._passes.token_bytes)))

    def _empty(self, rows: int, columns: int) -> Layers:
        """Buffers of zeros: what is masked has no weight, and what is no number would show nonetheless."""
        return [
            (
                keys.new_zeros((rows, keys.shape[1], columns, keys.shape[3])),
                values.new_zeros((rows, values.shape[1], columns, values.shape[3])),
            )
            for keys, values in self._passes.like
        ]

    def _grow(self) -> None:
        held = size_of(self._buffers)
        for number, pair in enumerate(self._buffers):
            keys, values = (torch.nn.functional.pad(tensor, (0, 0, 0, ROOM)) for tensor in pair)
            self._buffers[number] = keys, values
        self._passes.hold(size_of(self._buffers) - held)

    def _mask(self) -> torch.Tensor | None:
        """What the next token of each row sees [rows, columns]; None where all see everything."""
        if min(self._lengths) == self._width:
            return None
        device = self.logits.device
        padding = torch.tensor([self._width - length for length in self._lengths], device=device)
        return (torch.arange(self._width + 1, device=device) >= padding[:, None]).long()

    @torch.inference_mode()
    def _read(self, texts: Sequence[Ids]) -> torch.Tensor:
        """Fill the buffers, as many rows at a time as fit; the logits behind each text."""
        begin, past = self._shared(texts)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        logits: dict[int, torch.Tensor] = {}
        for places in self._groups(order, begin):
            longest = len(texts[places[-1]])
            ids = [[*texts[place][begin:], *[0] * (longest - len(texts[place]))] for place in places]
            layers = past
            most = max(1, self._passes.limits.tokens // len(places))
            for first in range(0, longest - begin, most):
                part = [row[first : first + most] for row in ids]
                ends = {row: self._lengths[place] - begin - first - 1 for row, place in enumerate(places)}
                picks = [(row, column) for row, column in ends.items() if 0 <= column < len(part[0])]
                found, layers = self._passes.run(part, layers, picks or [(0, 0)])
                logits.update((places[row], found[number]) for number, (row, _) in enumerate(picks))
            for buffers, grown in zip(self._buffers, layers, strict=True):
                for buffer, tensor in zip(buffers, grown, strict=True):
                    for row, place in enumerate(places):
                        length = self._lengths[place]
                        buffer[place, :, self._width - length : self._width] = tensor[row, :, :length]
        return torch.stack([logits[place] for place in range(len(texts))])

    def _groups(self, order: Sequence[int], begin: int) -> Iterator[list[int]]:
        """Rows that are read together, shortest first: as many as fit into one pass, or one."""
        group: list[int] = []
        for place in order:
            rows, length = len(group) + 1, self._lengths[place]
            wide = rows * (length - begin) > self._passes.limits.tokens
            if group and (wide or rows * length * self._passes.token_bytes > self._passes.free):
                yield group
                group = []
            group.append(place)
        yield group

    def _shared(self, texts: Sequence[Ids]) -> tuple[int, Layers]:
        """The length of a beginning of all texts, short of the last token of any, and its keys and values.

        What is worth it is computed once and kept for the texts that come later.
        """
        same = _common([text[:-1] for text in texts])
        known, layers = self._passes.kept.longest(same)
        if (len(same) - known) * (len(texts) - 1) <= WORTH:
            return known, layers
        for first in range(known, len(same), self._passes.limits.tokens):
            ids = list(same[first : first + self._passes.limits.tokens])
            _, layers = self._passes.run([ids], layers, [(0, 0)])
        self._passes.kept.keep(same, layers)
        return len(same), layers


class _Whole:
    """Rows that are computed anew for each token, since what the model remembers cannot be cut or moved."""

    def __init__(self, passes: ForwardPasses, texts: Sequence[Ids]) -> None:
        self._passes = passes
        self._texts = [list(text) for text in texts]
        self.logits = self._read()

    def step(self, tokens: Sequence[int]) -> None:
        """Add a token to each row."""
        for text, token in zip(self._texts, tokens, strict=True):
            text.append(token)
        self.logits = self._read()

    def keep(self, places: Sequence[int]) -> None:
        """Go on with these rows only."""
        self._texts = [self._texts[place] for place in places]
        self.logits = self.logits[torch.tensor(places, device=self.logits.device)]

    def fitting(self) -> int:
        """All: nothing is held from step to step."""
        return len(self._texts)

    def _read(self) -> torch.Tensor:
        longest = max(map(len, self._texts))
        ids = [text + [0] * (longest - len(text)) for text in self._texts]
        return self._passes.run(ids, [], [(row, len(text) - 1) for row, text in enumerate(self._texts)])[0]


def _common(texts: Sequence[Ids]) -> Ids:
    """The longest beginning of all texts: that of the first and the last in order."""
    first, last = min(texts), max(texts)
    same = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:same]


class _Buffered(DynamicLayer):
    """One layer's keys and values in buffers [rows, heads, columns, size], of which `used` columns are filled."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, used: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lazy_initialization(keys, values)
        self._room = keys, values
        self._used = used
        self.keys, self.values = keys[:, :, :used], values[:, :, :used]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write what is new behind what is there."""
        used = self._used
        self._used = end = used + key_states.shape[2]
        for buffer, fresh in zip(self._room, (key_states, value_states), strict=True):
            buffer[:, :, used:end] = fresh
        self.keys, self.values = (buffer[:, :, :end] for buffer in self._room)
        return self.keys, self.values
