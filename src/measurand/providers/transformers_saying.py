"""Generation by a causal model of PyTorch, several replies together: greedy, or by sampling.

Every reply ends by itself, and no reply depends on what is generated beside it, as far as floating point allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from measurand.core.call import Finish, Reply, Timings, TokenLogprob, Usage
from measurand.core.message import Text
from measurand.core.request import Decode
from measurand.providers.prefix_tree import Ids
from measurand.providers.transformers_passes import ForwardPasses, is_lack_of_memory
from measurand.providers.transformers_rows import Rows, fitting, rows_of

_LOOK_BACK = 64
"""Tokens at the end of what was said in which a stop string is looked for first."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """What speaking takes: the model, its tokenizer, its window in tokens, the ids that end a reply.

    `stopped` says whether a stop string stands outside of the reasoning. `temperature` is the model's own, for
    requests that leave it open. `read` makes rows of texts (another one in tests).
    """

    passes: ForwardPasses
    tokenizer: Any
    window: int
    ends: frozenset[int]
    stopped: Callable[[str, Sequence[str]], bool]
    temperature: float = 0.0
    read: Callable[[ForwardPasses, Sequence[Ids]], Rows] = rows_of


@dataclass(slots=True)
class Saying:
    """A prompt's ids, and what was said so far; `reply` once it has ended. Its dice are its own."""

    prompt: Ids
    decode: Decode
    begun: float = field(default_factory=time.perf_counter)
    said: list[int] = field(default_factory=list)
    marks: list[TokenLogprob] = field(default_factory=list)
    dice: torch.Generator = field(default_factory=torch.Generator)
    reply: Reply | None = None

    def __post_init__(self) -> None:
        if self.decode.seed is None:
            self.dice.seed()
        else:
            self.dice.manual_seed(self.decode.seed)

    @property
    def text(self) -> Ids:
        """All ids: what a model reads to go on."""
        return (*self.prompt, *self.said)


def say(speaker: Speaker, sayings: Sequence[Saying]) -> None:
    """Generate every reply. Greedy where the temperature is 0.

    As many are generated together as fit into memory; where it ends, half as many go on, and the others later, from
    where they are. Raises OutOfMemoryError where not even one fits, and InterruptedError after `stop`.
    """
    for one in sayings:
        _end_if_full(speaker, one)
    passes = speaker.passes
    waiting = sorted((one for one in sayings if one.reply is None), key=lambda one: len(one.prompt))
    while waiting:
        passes.held = 0
        batch = waiting[: fitting(passes, [one.text for one in waiting])]
        try:
            _speak(speaker, batch)
        except (RuntimeError, MemoryError) as error:
            if len(batch) > 1 and is_lack_of_memory(error):
                passes.limits.rows = len(batch) // 2
                passes.forget()
            else:
                passes.shrink(error, len(batch[0].text))
        waiting = sorted((one for one in waiting if one.reply is None), key=lambda one: len(one.text))


def _speak(speaker: Speaker, batch: Sequence[Saying]) -> None:
    """Generate until all have ended, or memory is wanted for fewer: then the last of them stay unended."""
    rows = speaker.read(speaker.passes, [one.text for one in batch])
    going = list(batch)
    while True:
        tokens = _chosen(speaker, rows.logits, going)
        for one, token, logits in zip(going, tokens, rows.logits, strict=True):
            _add(speaker, one, token, logits)
        places = [place for place, one in enumerate(going) if one.reply is None]
        if not places:
            return
        if len(places) < len(going):
            going, tokens = [going[place] for place in places], [tokens[place] for place in places]
            rows.keep(places)
        fit = rows.fitting()
        if fit < len(going):
            going, tokens = going[:fit], tokens[:fit]
            rows.keep(range(fit))
        rows.step(tokens)


def _chosen(speaker: Speaker, logits: torch.Tensor, going: Sequence[Saying]) -> list[int]:
    """The next token of each row."""
    tokens: list[int] = logits.argmax(-1).tolist()
    for place, one in enumerate(going):
        temperature = speaker.temperature if one.decode.temperature is None else one.decode.temperature
        if temperature:
            tokens[place] = _drawn(logits[place].float().cpu() / temperature, one.decode.top_p, one.dice)
    return tokens


def _drawn(scores: torch.Tensor, top_p: float | None, dice: torch.Generator) -> int:
    """A token drawn from the smallest set of tokens that holds `top_p` of the probability.

    By an exponential race (the Gumbel-max trick): each token has a die of its own, so that a last digit of the scores
    changes the draw only where two tokens arrive together.
    """
    shares = torch.softmax(scores, -1)
    if top_p is not None:
        sizes, order = shares.sort(descending=True)
        shares[order[sizes.cumsum(-1) - sizes >= top_p]] = 0.0
    return int((shares / torch.empty_like(shares).exponential_(generator=dice)).argmax())


def _add(speaker: Speaker, one: Saying, token: int, logits: torch.Tensor) -> None:
    """Say a token, and end where it, a stop string or a limit says so."""
    if token in speaker.ends:
        _end(speaker, one, "stop")
        return
    one.said.append(token)
    if one.decode.top_logprobs:
        nats = torch.log_softmax(logits.float().cpu(), -1)
        one.marks.append(_mark(speaker.tokenizer, nats, token, one.decode.top_logprobs))
    if one.decode.stop and _is_stopped(speaker, one):
        _end(speaker, one, "stop")
    else:
        _end_if_full(speaker, one)


def _end_if_full(speaker: Speaker, one: Saying) -> None:
    if one.decode.max_tokens is not None and len(one.said) >= one.decode.max_tokens:
        _end(speaker, one, "length")
    elif len(one.prompt) + len(one.said) >= speaker.window:
        _end(speaker, one, "context")


def _end(speaker: Speaker, one: Saying, finish: Finish) -> None:
    text = _text(speaker.tokenizer, one.said)
    one.reply = Reply(
        parts=(Text(text),) if text else (),
        finish=finish,
        logprobs=tuple(one.marks),
        usage=Usage(input=len(one.prompt), output=len(one.said)),
        timings=Timings.since(one.begun),
        prompt_ids=one.prompt,
    )


def _is_stopped(speaker: Speaker, one: Saying) -> bool:
    stops = one.decode.stop
    ending = _text(speaker.tokenizer, one.said[-_LOOK_BACK:])
    return any(stop in ending for stop in stops) and speaker.stopped(_text(speaker.tokenizer, one.said), stops)


def _mark(tokenizer: Any, nats: torch.Tensor, token: int, top: int) -> TokenLogprob:
    values, ids = nats.topk(min(top, nats.numel()))
    listed: dict[str, float] = {}
    for one, value in zip(ids, values, strict=True):  # parts of characters look alike: the likeliest stands for them
        listed.setdefault(_text(tokenizer, [int(one)]), float(value))
    return TokenLogprob(_text(tokenizer, [token]), float(nats[token]), listed)


def _text(tokenizer: Any, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))
