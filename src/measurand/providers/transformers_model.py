"""A loaded model of PyTorch and its tokenizer: requests in, replies out, in the thread that calls."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from measurand.core.call import Reply, Timings, Usage
from measurand.core.errors import CallError, CallFailedError, InputError
from measurand.core.request import Complete, Decode, Generate, Loglikelihood, Request, Rolling
from measurand.core.tokens import Joined, Seam, Tokenizer
from measurand.providers.llamacpp import usable_cores
from measurand.providers.plain import messages_of, one_line
from measurand.providers.transformers_files import TransformersOptions, Weights, converted
from measurand.providers.transformers_nats import Measure
from measurand.providers.transformers_passes import ForwardPasses, Limits, OutOfMemoryError
from measurand.providers.transformers_saying import Saying, Speaker, say

T = TypeVar("T")

_NO_END = 1 << 30
"""The window of a model that names none."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that runs. One batch is answered at a time."""

    name: str
    passes: ForwardPasses
    measure: Measure
    speaker: Speaker
    tokenizer: Any
    tokens: Tokenizer
    seam: Seam
    window: int
    has_template: bool
    lock: threading.Lock = field(default_factory=threading.Lock)

    def replies(self, requests: Sequence[Request]) -> list[Reply | CallError]:
        """Generate all replies together, and measure all log-likelihoods together.

        Each reply holds the ids that were read for it. Raises CallFailedError where memory ends, and after `stop`.
        """
        with self.lock:
            begun = time.perf_counter()
            found = [self._found(request) for request in requests]
            sayings = [one for one in found if isinstance(one, Saying)]
            failed = self._say(sayings) if sayings else None
            nats = iter(self._nats([row for rows in found if isinstance(rows, list) for row in rows]))
            made: list[Reply | CallError] = []
            for request, one in zip(requests, found, strict=True):
                if isinstance(one, list):
                    made.append(_measured(request, one, [next(nats) for _ in one], begun))
                elif isinstance(one, Saying):
                    made.append(one.reply or failed or CallFailedError(f"{self.name} gave no reply"))
                else:
                    made.append(one)
            return made

    def _found(self, request: Request) -> list[Joined] | Saying | CallError:
        """The rows to measure for a request, or what is to be generated, or why it is neither."""
        try:
            match request:
                case Loglikelihood(context=context, continuations=continuations):
                    return self._joined(_sound(context), [_sound(text) for text in continuations])
                case Rolling():
                    return self._windows(request)
                case Complete(prompt=prompt, decode=decode):
                    return self._saying(prompt, decode)
                case Generate(decode=decode) if self.has_template:
                    return self._saying(self._rendered(request), decode)
                case _:
                    can = "chat, raw text and log-likelihoods" if self.has_template else "raw text and log-likelihoods"
                    why = f"{self.name} offers {can} and was asked something else: choose a protocol that asks so"
                    raise CallFailedError(why, where="request", fatal=True)
        except CallError as error:
            return error
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            return self._broken(error)

    def _joined(self, context: str, continuations: Sequence[str]) -> list[Joined]:
        try:
            joined = self.seam.join(context, continuations, self.tokens)
        except InputError as error:
            raise CallFailedError(str(error), where="seam") from error
        try:
            return [self.seam.fit(one, self.window, self.tokens.bos) for one in joined]
        except InputError as error:
            raise CallFailedError(str(error), where="context") from error

    def _windows(self, request: Rolling) -> list[Joined]:
        if request.window > self.window:
            why = f"the protocol's window is {request.window:,} tokens and {self.name} reads {self.window:,}"
            raise CallFailedError(f"{why}: choose a protocol with a shorter one", where="request", fatal=True)
        prefix = self.tokens.prefix
        if prefix is None:
            why = f"{self.name} has no BOS and no EOS, so the first token of a text has no probability"
            raise CallFailedError(f"{why}: give its tokenizer one", where="request", fatal=True)
        ids = self._ids(request.text)
        return list(self.seam.windows(ids if ids[:1] == (prefix,) else (prefix, *ids), request.window, request.stride))

    def _saying(self, prompt: str, decode: Decode) -> Saying:
        ids = self._ids(prompt)
        if not ids and self.tokens.prefix is not None:
            ids = (self.tokens.prefix,)
        if not ids:
            raise CallFailedError("the prompt is empty and the model has no BOS: give a prompt", where="request")
        if len(ids) >= self.window:
            raise CallFailedError(
                f"the prompt has {len(ids):,} tokens, {self.name} reads {self.window:,}", where="context"
            )
        return Saying(ids, decode)

    def _rendered(self, request: Generate) -> str:
        messages = messages_of(request, self.name)
        if not messages:
            raise CallFailedError("a conversation without messages cannot be asked: give one", where="request")
        try:
            made = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception as error:
            why = f"the chat template of {self.name} refuses the conversation ({one_line(error)})"
            raise CallFailedError(why, where="request") from error
        return str(made)

    def _ids(self, text: str) -> tuple[int, ...]:
        return self.seam.begin(self.tokens.encode(_sound(text)), self.tokens)

    def _say(self, sayings: Sequence[Saying]) -> CallError | None:
        """Generate; why those without a reply have none."""
        try:
            self._computed(lambda: say(self.speaker, sayings))
        except CallError as error:
            return error
        return None

    def _nats(self, rows: Sequence[Joined]) -> list[float]:
        return self._computed(lambda: self.measure.nats(rows))

    def _computed(self, work: Callable[[], T]) -> T:
        """What the model computes. Raises CallFailedError for whatever stops it."""
        try:
            return work()
        except InterruptedError as error:
            raise CallFailedError(str(error)) from error
        except OutOfMemoryError as error:
            why = "not even a few tokens of one request fit into memory: take a smaller model, or dtype bfloat16"
            raise CallFailedError(why, where="memory", fatal=True) from error
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> CallFailedError:
        return CallFailedError(f"{self.name} broke down ({one_line(error)})")


def load(weights: Weights, seam: Seam, options: TransformersOptions) -> Loaded:
    """Load a model, converting a GGUF file at its first use. Raises InputError."""
    if options.threads or "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(options.threads or usable_cores())
    folder = converted(weights) if weights.is_gguf else Path(weights.path)
    precision = getattr(torch, options.dtype)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=precision, use_safetensors=True)
        model = model.to(options.place()).eval()
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise InputError(f"transformers cannot run {weights.path}: {one_line(error)}") from error
    tokens = _tokens(tokenizer)
    passes = ForwardPasses(model, Limits(options.tokens_of_a_pass(), options.memory_mb << 20))
    window = int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or _NO_END)
    own = model.generation_config
    ends = own.eos_token_id if isinstance(own.eos_token_id, list) else [own.eos_token_id]
    speaker = Speaker(
        passes=passes,
        tokenizer=tokenizer,
        window=window,
        ends=frozenset(end for end in (*ends, tokens.eos) if end is not None),
        stopped=seam.stopped,
        temperature=(own.temperature or 0.0) if own.do_sample else 0.0,
    )
    return Loaded(
        weights.name, passes, Measure(passes), speaker, tokenizer, tokens, seam, window, bool(weights.template_hash)
    )


def _tokens(tokenizer: Any) -> Tokenizer:
    """A tokenizer as the seam knows one. Whether texts begin with BOS is seen from a text."""

    def encode(text: str) -> Sequence[int]:
        ids: Sequence[int] = tokenizer(text, add_special_tokens=False, verbose=False).input_ids
        return ids

    bos = tokenizer.bos_token_id
    adds = bos is not None and tokenizer("a", verbose=False).input_ids[:1] == [bos]
    return Tokenizer(encode, bos, adds, tokenizer.eos_token_id)


def _measured(request: Request, rows: Sequence[Joined], nats: list[float], begun: float) -> Reply | CallError:
    """One number for each continuation, or the sum over the windows of a text."""
    if not all(math.isfinite(value) for value in nats):
        return CallFailedError("the model gave no finite log-probability: try dtype float32", where="reply")
    counts = [len(row.ids) - row.start for row in rows]
    read = sum(counts) + (rows[0].start if rows else 0)
    if isinstance(request, Rolling):
        nats, counts = [math.fsum(nats)], [sum(counts)]
    return Reply(
        values=tuple(nats),
        counts=tuple(counts),
        finish="context" if any(row.dropped for row in rows) else "stop",
        usage=Usage(input=read, output=0),
        timings=Timings.since(begun),
        prompt_ids=rows[0].ids if rows else (),
    )


def _sound(text: str) -> str:
    """The text, where it is one. Raises CallFailedError for halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CallFailedError("the request holds half a surrogate pair: mend the item", where="request") from error
    return text
