"""Log-likelihoods of continuations, out of the log-probabilities of an OpenAI-compatible server."""

from __future__ import annotations

import math
from collections.abc import Iterable
from string import ascii_lowercase

from measurand.core.call import Reply
from measurand.core.errors import CallFailedError
from measurand.core.request import Loglikelihood, Rolling
from measurand.providers.http import Transport
from measurand.providers.openai_read import Choice, logprobs_of

ECHOED_TOP = 5
"""The likeliest tokens asked for at each place of a text: as many as OpenAI gives."""

PROBE = Loglikelihood("The", tuple(f" {letter}" for letter in ascii_lowercase))
"""Texts of which none begins another, so that their probabilities after one context cannot exceed one together."""

UNVERIFIABLE = (
    "The server lists only the likeliest tokens, so nobody can verify that its probabilities sum to one; "
    "what it lists is checked not to exceed one."
)

_ROUNDING = 0.01
"""How far beyond one a sum of probabilities may lie: servers round, and compute in half precision."""

_PARTIAL = ("\N{REPLACEMENT CHARACTER}", "bytes:")
"""How servers write a token that is only part of a character."""


def continuation_nats(request: Loglikelihood, choices: list[Choice], http: Transport) -> tuple[float, ...]:
    """Sum the log-probabilities of each continuation's tokens, from prompts that were echoed.

    The tokens of the context alone must begin the tokens of the whole, or the sum would not be the
    continuation's. Raises CallFailedError where they do not.
    """
    alone = 1 if request.context else 0
    wanted = alone + len(request.continuations)
    if len(choices) != wanted:
        raise http.broken(f"echoed {len(choices)} prompts of {wanted}", transient=False)
    ordered = sorted(choices, key=lambda choice: choice.index or 0)
    context = _echoed(ordered[0], http)[0] if alone else []
    return tuple(
        _sum(context, continuation, choice, http)
        for continuation, choice in zip(request.continuations, ordered[alone:], strict=True)
    )


def next_token_nats(request: Loglikelihood, choices: list[Choice], http: Transport) -> tuple[float, ...]:
    """The log-probability of each one-token continuation, from the likeliest next tokens.

    Raises CallFailedError where one of them is not among these: it was not measured, and that is no zero.
    """
    tokens = logprobs_of(choices[0].logprobs)
    if not tokens or not tokens[0].top:
        raise http.broken("gave no log-probabilities of the next token: set `top_logprobs` to 0", transient=False)
    top = tokens[0].top
    for continuation in request.continuations:
        if continuation not in top:
            raise http.broken(
                f"did not list {continuation[:40]!r} among the {len(top)} likeliest next tokens, so it has no "
                "log-likelihood: raise `top_logprobs`, or ask by generation",
                transient=False,
            )
    return tuple(top[continuation] for continuation in request.continuations)


def text_nats(request: Rolling, choice: Choice, http: Transport) -> tuple[float, int]:
    """The log-probability of an echoed text and its number of tokens, from one window.

    Raises CallFailedError where the text is longer than the protocol's window (only the server knows the tokens to
    slide it by), where its first token has no probability, and where the probabilities listed cannot be ones.
    """
    tokens, nats = _echoed(choice, http)
    for token, number, top in zip(tokens, nats, (choice.logprobs and choice.logprobs.top_logprobs) or [], strict=False):
        listed = {name: value for name, value in (top or {}).items() if value is not None}
        listed |= {} if number is None else {token: number}
        refuse_above_one(listed.values(), f"in the place of {token[:20]!r}", http)
    begin = 1 if "".join(tokens[1:]) == request.text else 0
    if len(tokens) - begin > request.window:
        raise beyond_the_window(len(tokens) - begin, request.window, http)
    return _sum([], request.text, choice, http), len(tokens) - begin


def check_sum(reply: Reply, http: Transport) -> None:
    """Refuse a server whose probabilities of different texts after PROBE's context exceed one together."""
    refuse_above_one(reply.values, f"for {len(reply.values)} different continuations", http)


def refuse_above_one(nats: Iterable[float], where: str, http: Transport) -> None:
    """Refuse probabilities of things that exclude one another where they exceed one together."""
    total = math.fsum(math.exp(min(number, 1.0)) for number in nats)
    if total > 1 + _ROUNDING:
        error = http.broken(
            f"gave probabilities that sum to {total:.2f} {where}: they are no distribution, so no perplexity is "
            "computed from them; measure the weights with transformers:NAME",
            transient=False,
        )
        error.fatal = True
        raise error


def _sum(context: list[str], continuation: str, choice: Choice, http: Transport) -> float:
    tokens, nats = _echoed(choice, http)
    begin = len(context)
    if not context and "".join(tokens[1:]) == continuation:
        begin = 1  # the server put a token of its own before the text, such as <s>
    if tokens[:begin] != (context or tokens[:begin]):
        raise unmeasured(f"the join before {continuation[:40]!r} falls inside a token of the server's", http)
    echoed = "".join(tokens[begin:])
    if echoed != continuation and not any(mark in echoed for mark in _PARTIAL):
        raise unmeasured(f"{echoed[:40]!r} came back for {continuation[:40]!r}", http)
    measured = [number for number in nats[begin:] if number is not None]
    if len(measured) != len(tokens) - begin:
        raise unmeasured(f"the first token of {continuation[:40]!r} has no log-probability without a context", http)
    return math.fsum(measured)


def _echoed(choice: Choice, http: Transport) -> tuple[list[str], list[float | None]]:
    """The tokens of an echoed prompt and their log-probabilities."""
    found = choice.logprobs
    if found is None or found.tokens is None or found.token_logprobs is None:
        raise http.broken("did not echo the prompt: set `echo_logprobs` to false", transient=False)
    if len(found.tokens) != len(found.token_logprobs):
        raise http.broken("gave tokens and log-probabilities of different number")
    return found.tokens, found.token_logprobs


def beyond_the_window(tokens: int, window: int, http: Transport) -> CallFailedError:
    """The failure of a text that only the server could slide a window over."""
    why = f"the text has {tokens:,} tokens and the protocol's window {window:,}"
    return http.broken(f"cannot slide a window: {why}; use transformers:NAME, or split the text", transient=False)


def unmeasured(why: str, http: Transport) -> CallFailedError:
    """The failure of a continuation that cannot be told from its context."""
    error = http.broken(f"cannot give a log-likelihood: {why}; join text and option where tokens end", transient=False)
    error.where = "seam"
    return error
