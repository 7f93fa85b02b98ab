"""Conversations and lists of options."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Literal

from measurand.core.errors import InputError
from measurand.core.message import Message, assistant, system, user

LABELS = ascii_uppercase
"""The letters that options are called by."""

Mark = Literal["A.", "A)", "(A)"]
"""How an option's letter is written before it."""

Shot = tuple[str, str]
"""What was asked, and what was to be answered."""


def labels(count: int) -> tuple[str, ...]:
    """The letters of so many options. Raises InputError for none and for more than there are letters."""
    if not 1 <= count <= len(LABELS):
        message = f"{count} options cannot be lettered; give 1 to {len(LABELS)}"
        raise InputError(message)
    return tuple(LABELS[:count])


def lay_out(options: Sequence[str], mark: Mark = "A.") -> str:
    """The options one a line, each behind its letter: `A. …`. Raises InputError as `labels` does."""
    return "\n".join(
        f"{mark.replace('A', letter)} {option}" for letter, option in zip(labels(len(options)), options, strict=True)
    )


def join_shots(shots: Sequence[Shot], question: str, *, between: str = "\n\n", before_answer: str = " ") -> str:
    """Exemplars and the question as one text, for a raw prompt or a single user turn."""
    return between.join([*(asked + before_answer + answered for asked, answered in shots), question])


def conversation(question: str, shots: Sequence[Shot] = (), *, instruction: str = "") -> tuple[Message, ...]:
    """Messages with each exemplar as a user's and an assistant's turn, after a system message where one is given.

    Exemplars in turns and exemplars in one text are two protocols: for the other, ask `join_shots` alone.
    """
    turns = [message for asked, answered in shots for message in (user(asked), assistant(answered))]
    return (*((system(instruction),) if instruction else ()), *turns, user(question))
