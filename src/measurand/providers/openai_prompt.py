"""Log-probabilities of a prompt's own tokens as vLLM gives them (`prompt_logprobs`), known by the tokens' ids.

Of each place of the prompt but the first, an object from token ids to `logprob`, `rank` and `decoded_token`: the token
that stands there and, where more are asked for, the likeliest ones. `prompt_token_ids` say which one stands there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from measurand.core.request import Loglikelihood, Rolling
from measurand.providers.http import Transport
from measurand.providers.openai_likelihood import beyond_the_window, refuse_above_one, unmeasured
from measurand.providers.openai_read import Choice


class Named(msgspec.Struct):
    """What is said of one token in one place."""

    logprob: float
    decoded_token: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A token of the prompt: its id, its log-probability in nats (None for the first), its text, and all listed."""

    token: str
    nats: float | None
    text: str
    listed: tuple[float, ...]


def continuation_nats(request: Loglikelihood, choices: list[Choice], http: Transport) -> tuple[float, ...]:
    """Sum the log-probabilities of each continuation's tokens.

    The ids of the context alone must begin those of the whole, or the sum would not be the continuation's. Raises
    CallFailedError where they do not, and where a place has no log-probability of the token that stands in it.
    """
    alone = 1 if request.context else 0
    wanted = alone + len(request.continuations)
    if len(choices) != wanted:
        raise http.broken(f"gave {len(choices)} prompts of {wanted}", transient=False)
    read = [places(choice, http) for choice in sorted(choices, key=lambda choice: choice.index or 0)]
    found = []
    for text, whole in zip(request.continuations, read[alone:], strict=True):
        begin = len(read[0]) if alone else _after_own(whole, text, http)
        if alone and [place.token for place in whole[:begin]] != [place.token for place in read[0]]:
            raise unmeasured(f"the join before {text[:40]!r} falls inside a token of the server's", http)
        found.append(_sum(whole[begin:], text, http))
    return tuple(found)


def text_nats(request: Rolling, choice: Choice, http: Transport) -> tuple[float, int]:
    """The log-probability of a text and its number of tokens, from one window.

    Raises CallFailedError where the text is longer than the protocol's window, where its first token has no
    probability, and where the probabilities listed in one place exceed one together.
    """
    whole = places(choice, http)
    for place in whole:
        refuse_above_one(place.listed, f"in the place of {place.text[:20]!r}", http)
    begin = _after_own(whole, request.text, http)
    if len(whole) - begin > request.window:
        raise beyond_the_window(len(whole) - begin, request.window, http)
    return _sum(whole[begin:], request.text, http), len(whole) - begin


def places(choice: Choice, http: Transport) -> list[Place]:
    """Every token of the prompt. Raises CallFailedError where it is not said which one stands in a place."""
    if choice.prompt_logprobs is None:
        raise http.broken("gave no `prompt_logprobs`: set `prompt_logprobs` to false", transient=False)
    try:
        found = msgspec.convert(choice.prompt_logprobs, list[dict[str, Named] | None])
        ids = msgspec.convert(choice.prompt_token_ids, list[int] | None)
    except msgspec.ValidationError as error:
        raise http.broken(f"gave `prompt_logprobs` that are none ({error})", transient=False) from error
    if ids is not None and len(ids) != len(found):
        raise http.broken(f"gave {len(ids)} token ids and {len(found)} `prompt_logprobs`", transient=False)
    names = [str(number) for number in ids] if ids is not None else [_only(entry, http) for entry in found]
    return [_place(name, entry, http) for name, entry in zip(names, found, strict=True)]


def _only(entry: dict[str, Named] | None, http: Transport) -> str:
    """The one token of a place, where no ids say which one stands there."""
    if entry and len(entry) > 1:
        raise http.broken(
            f"lists {len(entry)} tokens in one place and not which of them stands there (`prompt_token_ids`), so a "
            "text has no log-probability: take a newer vLLM",
            transient=False,
        )
    return next(iter(entry), "") if entry else ""


def _place(name: str, entry: dict[str, Named] | None, http: Transport) -> Place:
    if not entry:
        return Place(name, None, "", ())
    if name not in entry:
        raise http.broken(
            f"lists the {len(entry)} likeliest tokens in one place and not the one that stands there, so a text has "
            "no log-probability: take a server that gives the prompt's own tokens",
            transient=False,
        )
    listed = tuple(one.logprob for one in entry.values())
    return Place(name, entry[name].logprob, entry[name].decoded_token or "", listed)


def _after_own(whole: Sequence[Place], text: str, http: Transport) -> int:
    """Where a text without a context begins: behind the one token that the server put before it, such as <s>.

    Blanks do not count: some tokenizers' tokens lose theirs when they are decoded one by one.
    """
    rest = "".join(place.text for place in whole[1:])
    if "".join(rest.split()) != "".join(text.split()) and "\N{REPLACEMENT CHARACTER}" not in rest:
        raise unmeasured(f"the first token of {text[:40]!r} has no log-probability without a context", http)
    return 1


def _sum(part: Sequence[Place], text: str, http: Transport) -> float:
    nats = [place.nats for place in part if place.nats is not None]
    if not part or len(nats) != len(part):
        raise unmeasured(f"{text[:40]!r} has a token without a log-probability, or none of its own", http)
    return math.fsum(nats)
