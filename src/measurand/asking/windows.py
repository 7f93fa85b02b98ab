"""How a text longer than a model's window is read: in windows that score every token exactly once."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.core.errors import InputError
from measurand.core.tokens import Joined


def windows(ids: Sequence[int], window: int, stride: int) -> tuple[Joined, ...]:
    """Windows of at most `window` input tokens over `ids`, whose first is the prefix and is not scored itself.

    The first window scores `window` tokens; each later one scores the next `stride`, after as much context as the
    window still holds. With `stride` equal to `window` the windows are disjoint but for one token of context, as
    lm-evaluation-harness reads texts; a smaller stride gives more context and a lower perplexity (the "strided"
    perplexity of the Hugging Face documentation). Raises InputError for sizes that score a token twice or never.
    """
    if not 1 <= stride <= window:
        raise InputError(f"a stride of {stride} does not go with a window of {window}: give 1 to {window}")
    made = []
    done = 0
    while done < len(ids) - 1:
        end = min(done + (stride if done else window), len(ids) - 1)
        begin = max(0, end - window)
        made.append(Joined(tuple(ids[begin : end + 1]), done + 1 - begin))
        done = end
    return tuple(made)
