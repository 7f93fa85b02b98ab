"""Models run on this machine by PyTorch and transformers: exact log-probabilities, perplexity, and generation.

Made for log-probabilities in batches: what requests share is computed once. See docs/log-likelihood.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec

from measurand.core.benchmark import Ability
from measurand.core.call import Reply
from measurand.core.errors import CallError, CallFailedError, InputError
from measurand.core.ports import Abilities
from measurand.core.request import Request
from measurand.core.subject import Model
from measurand.core.tokens import Seam
from measurand.providers.plain import prompt_of
from measurand.providers.transformers_files import Precision, TransformersOptions, locate, missing_packages

if TYPE_CHECKING:
    from measurand.providers.transformers_model import Loaded


class Transformers:
    """Runs one causal model: `model` is a folder, a GGUF file, a packaged model, or a name on the hub.

    Raises InputError for a model that is not there, and where the extra is not installed.
    """

    def __init__(self, model: str | Path, seam: Seam, options: TransformersOptions | None = None) -> None:
        if missing := missing_packages():
            raise InputError(f'{", ".join(missing)} is not installed: pip install "measurand[transformers]"')
        self._options = options or TransformersOptions()
        precisions = get_args(Precision)
        if self._options.dtype not in precisions:
            raise InputError(f"there is no dtype {self._options.dtype}: there are {', '.join(precisions)}")
        self._seam = seam
        self._weights = locate(str(model))
        self.size = self._options.size
        computed = self._options.dtype
        self._subject = Model(
            provider="transformers",
            name=self._weights.name,
            revision=self._weights.sha256,
            template_hash=self._weights.template_hash,
            quantisation=f"{self._weights.quantisation} as {computed}" if self._weights.quantisation else computed,
        )
        self._loaded: Loaded | None = None
        self._sampled: set[type[Request]] = set()

    @property
    def subject(self) -> Model:
        """Who answers; the revision is the hash of the weights, the quantisation the precision of the computation."""
        return self._subject

    def describe(self) -> Abilities:
        """Raw text, log-likelihoods of anything and perplexity; chat where there is a chat template."""
        can: tuple[Ability, ...] = ("complete", "loglikelihood", "rolling")
        if self._weights.template_hash:
            can = ("chat", *can)
        said = f"Computed in {self._options.dtype} on {self._options.place()} by transformers."
        return Abilities(can, loglikelihood="any", local=True, conditions=dict.fromkeys(can, said))

    async def start(self) -> None:
        """Load the model, after converting it where it is a GGUF file that was not used before. Raises InputError."""
        from measurand.providers.transformers_model import load

        await self.close()
        self._loaded = await asyncio.to_thread(load, self._weights, self._seam, self._options)

    async def close(self) -> None:
        """Give the model's memory back. May be called twice."""
        if self._loaded is not None:
            self._loaded.passes.stop()
        self._loaded = None

    def affinity(self, request: Request) -> str:
        """The text that the request begins with: equal beginnings sort together."""
        return prompt_of(request)

    async def reply(self, request: Request) -> Reply:
        """Answer one request. Raises CallFailedError."""
        (answered,) = await self.replies([request])
        if isinstance(answered, CallError):
            raise answered
        return answered

    async def replies(self, requests: Sequence[Request]) -> Sequence[Reply | CallError]:
        """Answer all, in order. Raises CallFailedError where the model does not run."""
        loaded = self._loaded
        if loaded is None:
            raise CallFailedError(f"{self._subject.name} does not run: start it first")
        replies = await asyncio.to_thread(loaded.replies, requests)
        return [self._sampled_ids(*pair) for pair in zip(requests, replies, strict=True)]

    def _sampled_ids(self, request: Request, reply: Reply | CallError) -> Reply | CallError:
        """The reply, without the ids that were read unless it is the first of its kind: a sample is enough."""
        if isinstance(reply, CallError):
            return reply
        if type(request) not in self._sampled:
            self._sampled.add(type(request))
            return reply
        return msgspec.structs.replace(reply, prompt_ids=())
