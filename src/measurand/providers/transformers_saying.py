"""Generation by a causal model of PyTorch, one request after the other: greedy, or by sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from measurand.core.call import Finish, Reply, TokenLogprob, Usage
from measurand.core.message import Text
from measurand.core.request import Decode
from measurand.providers.transformers_nats import Layers, Measure

_LOOK_BACK = 64
"""Tokens at the end of what was said in which a stop string is looked for first."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """What speaking takes: the model, its tokenizer, its window in tokens, the ids that end a reply.

    `stopped` says whether a stop string stands outside of the reasoning. `temperature` is the model's own, for
    requests that leave it open.
    """

    measure: Measure
    tokenizer: Any
    window: int
    ends: frozenset[int]
    stopped: Callable[[str, Sequence[str]], bool]
    temperature: float = 0.0


def say(speaker: Speaker, prompt: Sequence[int], decode: Decode) -> Reply:
    """Generate what follows the prompt's ids, token by token. Greedy where the temperature is 0."""
    temperature = speaker.temperature if decode.temperature is None else decode.temperature
    dice = torch.Generator()
    dice.manual_seed(decode.seed) if decode.seed is not None else dice.seed()
    said: list[int] = []
    marks: list[TokenLogprob] = []
    layers: Layers = []
    fresh: Sequence[int] = prompt
    finish: Finish = "length"
    while decode.max_tokens is None or len(said) < decode.max_tokens:
        if len(prompt) + len(said) >= speaker.window:
            finish = "context"
            break
        logits, layers = speaker.measure.step(fresh, layers)
        nats = torch.log_softmax(logits.float().cpu(), -1)
        token = _chosen(nats, temperature, decode.top_p, dice)
        if token in speaker.ends:
            finish = "stop"
            break
        said.append(token)
        fresh = [token]
        if decode.top_logprobs:
            marks.append(_mark(speaker.tokenizer, nats, token, decode.top_logprobs))
        if decode.stop and _is_stopped(speaker, said, decode.stop):
            finish = "stop"
            break
    text = _text(speaker.tokenizer, said)
    return Reply(
        parts=(Text(text),) if text else (),
        finish=finish,
        logprobs=tuple(marks),
        usage=Usage(input=len(prompt), output=len(said)),
    )


def _chosen(nats: torch.Tensor, temperature: float, top_p: float | None, dice: torch.Generator) -> int:
    """The likeliest token, or one drawn from the smallest set of tokens that holds `top_p` of the probability."""
    if temperature == 0:
        return int(nats.argmax())
    shares, order = torch.softmax(nats / temperature, -1).sort(descending=True)
    if top_p is not None:
        shares = torch.where(shares.cumsum(-1) - shares < top_p, shares, 0.0)
    return int(order[torch.multinomial(shares, 1, generator=dice)])


def _is_stopped(speaker: Speaker, said: list[int], stops: Sequence[str]) -> bool:
    ending = _text(speaker.tokenizer, said[-_LOOK_BACK:])
    return any(stop in ending for stop in stops) and speaker.stopped(_text(speaker.tokenizer, said), stops)


def _mark(tokenizer: Any, nats: torch.Tensor, token: int, top: int) -> TokenLogprob:
    values, ids = nats.topk(min(top, nats.numel()))
    listed: dict[str, float] = {}
    for one, value in zip(ids, values, strict=True):  # parts of characters look alike: the likeliest stands for them
        listed.setdefault(_text(tokenizer, [int(one)]), float(value))
    return TokenLogprob(_text(tokenizer, [token]), float(nats[token]), listed)


def _text(tokenizer: Any, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))
