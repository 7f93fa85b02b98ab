"""Texts as token ids: what a tokenizer is, and where a continuation begins. No tokenizer is imported here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from measurand.core.record import Record


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """All that joining texts takes of a tokenizer.

    `encode` gives the ids of a text and adds no special token by itself. `bos` is the token that begins a text and
    `adds_bos` whether this model's texts begin with it; `eos` ends a text. A text without a context is conditioned on
    `prefix`.
    """

    encode: Callable[[str], Sequence[int]]
    bos: int | None = None
    adds_bos: bool = False
    eos: int | None = None

    @property
    def prefix(self) -> int | None:
        """The token that stands for an empty context: BOS, or EOS where there is no BOS."""
        return self.eos if self.bos is None else self.bos


class Joined(Record, frozen=True, gc=False):
    """Token ids of which those from `start` on are scored; `start` is at least 1 and below the length.

    `dropped` counts the tokens of the context that were left out, from the left, to fit the subject's window.
    """

    ids: tuple[int, ...]
    start: int
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Seam:
    """What a provider with a tokenizer of its own is handed, so that all of them join, cut and stop alike.

    `begin` gives a text's ids one BOS, `join` puts continuations behind a context, `fit` cuts a context to a window,
    `windows` reads a long text, and `stopped` says whether a stop string stands outside of the reasoning.
    """

    begin: Callable[[Sequence[int], Tokenizer], tuple[int, ...]]
    join: Callable[[str, Sequence[str], Tokenizer], tuple[Joined, ...]]
    fit: Callable[[Joined, int, int | None], Joined]
    windows: Callable[[Sequence[int], int, int], tuple[Joined, ...]]
    stopped: Callable[[str, Sequence[str]], bool]
