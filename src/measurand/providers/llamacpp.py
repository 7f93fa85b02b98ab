"""Models in GGUF files, run on this machine by llama.cpp (xllamacpp), behind a server of their own.

Measured on 2 shared cores with SmolLM2-135M (Q4_1), greedy, HumanEval prompts, in tokens/s: 1 slot with 1 thread 23,
1 slot with 2 threads 29, 2 slots 36, 4 slots 47. Up to 4 slots, with and without the cache of prompts, every reply and
log-probability was the same to the last bit (with 8 slots 8 of 12 replies were), because flash attention is off: with
it, replies differ by the number of threads, by what decodes beside them, and by up to 0.3 nats by the cache.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from measurand.core.benchmark import Ability
from measurand.core.call import Reply
from measurand.core.errors import CallFailedError, InputError
from measurand.core.ports import Abilities
from measurand.core.record import Json
from measurand.core.request import Complete, Generate, Loglikelihood, Request
from measurand.core.subject import Model
from measurand.providers import gguf
from measurand.providers.connecting import HttpOptions, Timeouts, varied
from measurand.providers.llamacpp_nats import NextToken
from measurand.providers.llamacpp_server import Cache, Settings
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from measurand.providers.packaged import PACKAGED, found
from measurand.providers.plain import tidy
from measurand.providers.secrets import BOUND, FREE_KEY

CONTEXT = 4096
"""Tokens of context for each slot where nothing else is asked for and the model was trained on as many."""

QUANTISED: dict[Cache, str] = {
    "f16": (
        "llama.cpp quantises what it computes with: on SmolLM2-135M (Q4_1) log-probabilities of options were 0.04 nats "
        "on average and up to 0.15 from those of the same weights in float32, and 2 choices in 40 differed."
    ),
    "q8_0": (
        "llama.cpp quantises what it computes with, its keys and values too (q8_0): on SmolLM2-135M (Q4_1) "
        "log-probabilities of options were 0.05 nats on average and up to 0.21 from those of the same weights in "
        "float32, and 3 choices in 40 differed."
    ),
}
"""What stands beside log-probabilities, by the type of keys and values: `python -m perf.deviation` on MMLU."""

_PAGE = 256
"""llama.cpp rounds contexts up to a multiple of this many tokens."""

_MOST_THREADS = 4

_ENDING_SECONDS = 1.0

_MENDS = (
    ("alloc", "ask for a shorter `context` or fewer `slots`, or take a smaller model"),
    ("memory", "ask for a shorter `context` or fewer `slots`, or take a smaller model"),
    ("architecture", "install a newer xllamacpp"),
    ("corrupted", "download the file again"),
    ("load", "download the file again"),
)
"""What helps, by a word of the log."""


class LlamaCpp:
    """Runs one GGUF file: `model` is its path, or the name of a packaged model.

    `threads` are those that compute (the usable cores, 4 at most), `slots` the requests that decode together,
    `context` the tokens of each. `cache_prompt` keeps what earlier prompts began with, which saves most of the work
    where prompts share a beginning. Several slots and the cache may change the rounding, so they are off (1, False)
    but for packaged models, with which they were seen not to; whatever is set otherwise marks the subject's revision.
    `seconds` bounds a start and a reply.

    Chat goes through the model's own template; a file without one offers raw text only. Log-likelihoods are of
    one-token continuations.
    Raises InputError for a model that is not there or is no GGUF, and where xllamacpp is not installed.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        threads: int | None = None,
        slots: int | None = None,
        context: int | None = None,
        cache_prompt: bool | None = None,
        seconds: float = 900.0,
    ) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise InputError('models in GGUF files need an extra: pip install "measurand[local]"')
        path, name = found(model)
        self._file = gguf.describe(path)
        usual = Settings(
            parent=os.getpid(),
            path=str(path),
            name=name,
            threads=min(usable_cores(), _MOST_THREADS),
            slots=PACKAGED[name].slots if name in PACKAGED else 1,
            context=_whole_pages(min(CONTEXT, self._file.context or CONTEXT)),
            cache_prompt=name in PACKAGED and PACKAGED[name].cache_prompt,
        )
        chosen: dict[str, Json] = {
            "slots": usual.slots if slots is None else _above_zero("slots", slots),
            "context": usual.context if context is None else _whole_pages(_above_zero("context", context)),
            "cache_prompt": usual.cache_prompt if cache_prompt is None else cache_prompt,
        }
        self._settings = msgspec.structs.replace(
            usual, threads=usual.threads if threads is None else _above_zero("threads", threads), **chosen
        )
        self._seconds = seconds
        unusual = {setting: value for setting, value in chosen.items() if value != getattr(usual, setting)}
        self._subject = Model(
            provider="llamacpp",
            name=name,
            revision=varied(self._file.sha256, unusual),
            template_hash=self._file.template_hash,
            quantisation=self._file.quantisation,
        )
        self._process: asyncio.subprocess.Process | None = None
        self._log: Any = None
        self._talk: OpenAICompatible | None = None
        self._nats: NextToken | None = None

    def quantise_cache(self) -> None:
        """Hold keys and values in q8_0 from the next start on: half the memory of f16, and rounded.

        Flash attention comes with it, and the revision is marked, so it is another subject.
        """
        if self._settings.cache != "q8_0":
            self._settings = msgspec.structs.replace(self._settings, cache="q8_0")
            revision = varied(self._subject.revision, {"cache": "q8_0"})
            self._subject = msgspec.structs.replace(self._subject, revision=revision)

    @property
    def subject(self) -> Model:
        """Who answers; the revision is the hash of the file's content."""
        return self._subject

    def describe(self) -> Abilities:
        """Raw text and one-token log-likelihoods; chat and JSON schemas where the file holds a chat template."""
        can: tuple[Ability, ...] = ("complete", "loglikelihood")
        if self._file.template_hash:
            can = ("chat", "schema", *can)
        cache = self._settings.cache
        rounds = cache != "f16" or self._file.quantisation not in {"F32", ""}
        said: dict[Ability, str] = {"loglikelihood": QUANTISED[cache]} if rounds else {}
        return Abilities(can, loglikelihood="next_token", local=True, concurrency=self._settings.slots, conditions=said)

    async def start(self) -> None:
        """Start the server and load the model. Raises InputError that says why it cannot, within the deadline."""
        await self.close()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the server runs)
        try:
            address = await self._serve()
            http = HttpOptions(timeouts=Timeouts(read=self._seconds, total=self._seconds))
            self._talk = OpenAICompatible(OpenAIOptions(self._subject.name, base_url=f"{address}/v1", http=http))
            self._nats = NextToken(address, http, cache_prompt=self._settings.cache_prompt)
            await self._talk.start()
            await self._nats.start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop the server. May be called twice."""
        talk, nats, process, log = self._talk, self._nats, self._process, self._log
        self._talk = self._nats = self._process = self._log = None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.communicate()
        if log is not None:
            log.close()
        if talk is not None:
            await talk.close()
        if nats is not None:
            await nats.close()

    async def reply(self, request: Request) -> Reply:
        """Answer one request. Raises CallFailedError."""
        if self._talk is None or self._nats is None:
            raise CallFailedError(f"{self._subject.name} does not run: start it first")
        try:
            match request:
                case Loglikelihood():
                    return await self._nats.reply(request)
                case Generate(tools=()) if self._file.template_hash:
                    return self._checked(await self._talk.reply(request))
                case Complete():
                    return self._checked(await self._talk.reply(request))
        except CallFailedError as error:
            if error.where == "network" and await self._has_ended():
                why = f"the server of {self._subject.name} ended ({self._last_words()[0]}): start again"
                raise CallFailedError(why, fatal=True) from error
            raise
        can = ", ".join(self.describe().can)
        why = f"{self._subject.name} offers {can} and was asked something else: choose a protocol that asks so"
        raise CallFailedError(why, where="request", fatal=True)

    async def _has_ended(self) -> bool:
        """Whether the server is gone; the connection may tell a moment before the process does."""
        process = self._process
        if process is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _ENDING_SECONDS)
        return self._process is not None and self._process.returncode is not None

    def _checked(self, reply: Reply) -> Reply:
        """Tell the end of the context from the end of the allowance; llama.cpp calls both `length`."""
        used = (reply.usage.input or 0) + (reply.usage.output or 0)
        if reply.finish == "length" and used >= self._settings.context:
            return msgspec.structs.replace(reply, finish="context")
        return reply

    async def _serve(self) -> str:
        """Start the child; gives the address at which it listens."""
        keys = {*BOUND, FREE_KEY}
        # The model's file is not trusted, so its process gets no key. Threads that wait give their core away: on a
        # busy machine those that spin were ten times slower, on an idle one as fast.
        environment = {name: value for name, value in os.environ.items() if name not in keys}
        environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        begun = time.monotonic()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "measurand.providers.llamacpp_server"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            env=environment,
            start_new_session=True,  # an interrupt from the keyboard is the harness's to handle
        )
        told, heard = self._process.stdin, self._process.stdout
        if told is None or heard is None:
            raise InputError("the server's pipes could not be opened: start again")
        told.write(msgspec.json.encode(self._settings) + b"\n")
        try:
            async with asyncio.timeout(self._seconds):
                line = await heard.readline()
        except TimeoutError:
            waited = f"{time.monotonic() - begun:.0f} s"
            why = f"{self._subject.name} was not loaded within {waited}: allow more `seconds`, or take a smaller model"
            raise InputError(why) from None
        if not line:
            words, mend = self._last_words()
            raise InputError(f"llama.cpp cannot run {self._settings.path} ({words}): {mend}")
        return line.decode().strip()

    def _last_words(self) -> tuple[str, str]:
        """The first error in the log's end, which is its cause, and what helps."""
        self._log.seek(max(self._log.seek(0, os.SEEK_END) - (1 << 16), 0))
        lines = [tidy(line) for line in self._log.read().decode("utf-8", "replace").splitlines()]
        said = [line for line in lines if line]
        errors = [line.partition(" E ")[2] for line in said if " E " in line[:40]]
        words = (errors or said[-1:] or ["it said nothing"])[0][:300]
        log = " ".join(errors).lower()
        return words, next((mend for mark, mend in _MENDS if mark in log), "see whether another model runs")


def usable_cores() -> int:
    """The cores that this process may use: its affinity, and the quota of its control group, where there is one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(min(cores, int(quota) // int(period)), 1)
    except (OSError, ValueError, ZeroDivisionError):  # no control groups, or no quota ("max")
        return cores


def _whole_pages(tokens: int) -> int:
    return -(-tokens // _PAGE) * _PAGE


def _above_zero(name: str, value: int) -> int:
    if value < 1:
        raise InputError(f"{name} is {value}: give 1 or more")
    return value
