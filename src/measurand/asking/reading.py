"""Asking a subject to read: how probable is this text?"""

from __future__ import annotations

from collections.abc import Sequence

from measurand.core.benchmark import Prompting
from measurand.core.errors import InputError
from measurand.core.item import Document, Item
from measurand.core.request import Rolling

WINDOW = 1024
"""Tokens. What the smallest models in use can read."""


def reading(window: int = WINDOW, stride: int = 0) -> Prompting:
    """A prompting that has documents read in windows of so many tokens.

    Without a stride the windows are disjoint. Raises InputError for a stride that skips tokens.
    """
    step = stride or window
    if not 1 <= step <= window:
        raise InputError(f"a stride of {stride} does not go with a window of {window}: give 1 to {window}")

    def requests(item: Item, _: Sequence[Item]) -> tuple[Rolling, ...]:
        if not isinstance(item.input, Document):
            raise InputError(f"item {item.id} is no document to be read")
        return (Rolling(item.input.text, window, step),)

    kind = "disjoint" if step == window else f"a stride of {step:,} tokens"
    return Prompting(
        name=f"reading in windows of {window:,} tokens, {kind}",
        version=1,
        requests=requests,
        needs=frozenset({"rolling"}),
        text="the document itself, after BOS (or EOS where there is no BOS)",
    )
