"""The token seam: the one place where a context and what follows it become token ids.

Two texts that are tokenised apart are not tokenised as one text, and a token may lie across the join. So the whole
is encoded once, and the continuation begins where the whole leaves the tokens of the context.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from measurand.core.errors import InputError
from measurand.core.tokens import Joined, Tokenizer

Ids = tuple[int, ...]


def begin(ids: Sequence[int], tokenizer: Tokenizer) -> Ids:
    """The ids of a text with exactly one BOS where the model's texts have one, and never with two.

    A chat template may have written one already.
    """
    own = tuple(ids)
    while tokenizer.bos is not None and own[:1] == (tokenizer.bos,):
        own = own[1:]
    had = len(own) < len(ids)
    return (tokenizer.bos, *own) if tokenizer.bos is not None and (had or tokenizer.adds_bos) else own


def join(context: str, continuations: Sequence[str], tokenizer: Tokenizer) -> tuple[Joined, ...]:
    """Each continuation after the context, as the tokenizer writes the two together.

    All continuations of a context begin at one place, so that what is compared is the probability of texts from that
    place on: the last place that no token of any of them lies across. Usually it is the end of the context; where
    context and continuation share a token ("a b " and "c", where " c" is one), it is before that token.
    A text without a context is conditioned on BOS, or on EOS where the model has no BOS.

    Raises:
        InputError: a continuation adds no token, or there is neither a context nor a token that stands for one.
    """
    if not context and tokenizer.prefix is None:
        raise InputError("without a context the first token has no probability, since this model has no BOS and no EOS")
    alone = begin(tokenizer.encode(context), tokenizer) if context else ()
    alone = alone or (() if tokenizer.prefix is None else (tokenizer.prefix,))
    wholes = [_whole(context, continuation, tokenizer, alone) for continuation in continuations]
    start = min((_shared(alone, whole) for whole in wholes), default=0)
    if wholes and start < 1:
        raise InputError("context and continuation share their first token: begin the context earlier, or with BOS")
    return tuple(Joined(whole, start) for whole in wholes)


def fit(joined: Joined, window: int, bos: int | None = None) -> Joined:
    """The same within a window of so many input tokens: the context is cut from the left, after its BOS.

    The last id is predicted and never read, so `window` + 1 ids fit. Raises InputError where the continuation itself
    does not fit: it is never cut.
    """
    too_many = len(joined.ids) - 1 - window
    if too_many <= 0:
        return joined
    head = joined.ids[:1] if joined.ids[:1] == (bos,) and joined.start > 1 else ()
    dropped = too_many
    kept = joined.ids[len(head) + dropped :]
    start = joined.start - dropped
    if start < 1:
        raise InputError(
            f"a continuation of {len(joined.ids) - joined.start} tokens does not fit a window of {window}: "
            "ask for shorter ones, or take a subject with a longer window"
        )
    return Joined(head + kept, start, dropped)


def _whole(context: str, continuation: str, tokenizer: Tokenizer, alone: Ids) -> Ids:
    whole = begin(tokenizer.encode(context + continuation), tokenizer)
    if not context and whole[:1] != alone:
        whole = alone + whole
    if whole == alone:
        raise InputError(f"{continuation[:40]!r} adds no token to its context: give an option that the tokenizer sees")
    return whole


def _shared(alone: Ids, whole: Ids) -> int:
    """How many tokens of the context the whole keeps; at least the last token of the whole is the continuation's."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(alone, whole, strict=False)))
    return min(same, len(whole) - 1)
