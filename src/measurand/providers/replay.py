"""Replies that were recorded earlier, by whatever tool, and are scored here without asking anybody again.

The file is JSONL in UTF-8: one object a line. A line says to which prompt it replies, and what was replied:

    {"prompt": "What is 2+2?", "reply": "4"}

`prompt` is the text of the last user message exactly as it is asked (or the raw prompt, or the context of a
log-likelihood), since a provider sees nothing else. `reply` may be called `text`; for log-likelihoods `values`
takes its place. Optional are `sample` (0, 1, … where one prompt was answered several times; otherwise the order of
the lines counts), `finish`, `reasoning`, `usage` ({"input": …, "output": …}), `id` and `notes`, which are for people.
"""

from __future__ import annotations

import hashlib
import io
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from measurand.core.benchmark import Ability
from measurand.core.call import Finish, Reply, Usage
from measurand.core.errors import CallFailedError, InputError
from measurand.core.identity import digest
from measurand.core.message import Text
from measurand.core.ports import Abilities
from measurand.core.record import Json, Record
from measurand.core.request import Embed, Loglikelihood, Request, Rolling
from measurand.core.subject import System
from measurand.providers.plain import prompt_of

_BOM = b"\xef\xbb\xbf"
"""The mark with which some programs begin a file; no line of JSON begins like it."""

_COMPARED = 5000
_COMPARED_CHARACTERS = 10_000_000
"""Recorded prompts that are looked at, at most, to find the one nearest to a prompt that is missing."""


class Recorded(Record, frozen=True):
    """One line of a file of recorded replies."""

    prompt: str
    reply: str | None = None
    text: str | None = None
    values: tuple[float, ...] | None = None
    sample: int | None = None
    finish: Finish = "stop"
    reasoning: str = ""
    usage: Usage = Usage()
    id: str | int | None = None
    notes: Json = None


_LINE = msgspec.json.Decoder(Recorded)


class Replay:
    """Answers from a file of recorded replies.

    Only the place of each line is kept in memory. Several lines with one prompt are successive samples: sample 0 of an
    item takes the first. Where a sample asks a prompt again, as two items with the same one do, it takes the next
    line, counted from `start`. Raises InputError for a file that cannot be used, with its line.
    """

    _file: IO[bytes] | None = None

    def __init__(self, path: str | Path, name: str = "") -> None:
        where = Path(path)
        self._load(lambda: where.open("rb"), str(where), name or where.stem)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], name: str = "recorded") -> Replay:
        """A replay of prompts and replies that are in memory."""
        self = cls.__new__(cls)
        content = b"".join(msgspec.json.encode(Recorded(prompt, reply)) + b"\n" for prompt, reply in pairs)
        self._load(lambda: io.BytesIO(content), "the recorded pairs", name)
        return self

    @property
    def subject(self) -> System:
        """Who answered: the name, and the hash of the file as version."""
        return self._subject

    def describe(self) -> Abilities:
        """What kinds of reply are recorded."""
        can: list[Ability] = ["chat", "complete"] if self._texts else []
        if self._numbers:
            can.append("loglikelihood")
        return Abilities(can=tuple(can), loglikelihood="any" if self._numbers else "none", local=True)

    async def start(self) -> None:
        """Open the file, and begin with the first sample of each prompt. Raises InputError where it is gone."""
        await self.close()
        self._taken.clear()
        self._file = self._opened()

    async def close(self) -> None:
        """Close the file. May be called twice."""
        if self._file is not None:
            self._file.close()
        self._file = None

    async def reply(self, request: Request) -> Reply:
        """The next recorded reply to this prompt. Raises CallFailedError where there is none."""
        return await self.sample(request, 0)

    async def sample(self, request: Request, sample_no: int) -> Reply:
        """The recorded reply of a sample to this prompt. Raises CallFailedError where there is none."""
        prompt = prompt_of(request)
        mark = _mark(prompt)
        places = self._places.get(mark)
        if places is None:
            raise CallFailedError(self._missing(prompt), where="recording")
        nth = sample_no + self._taken.get((mark, sample_no), 0)
        if nth >= len(places):
            often = "once" if len(places) == 1 else f"{len(places)} times"
            why = f"{self._name} holds a reply to this prompt {often}, and it is asked again: record more samples"
            raise CallFailedError(why, where="recording")
        line = self._read(places[nth])
        if line is None or line.prompt != prompt:
            why = f"{self._name} is not open, or has changed since it was read: start again"
            raise CallFailedError(why, where="recording", fatal=True)
        self._taken[mark, sample_no] = nth - sample_no + 1
        return _reply(line, request)

    def _opened(self) -> IO[bytes]:
        try:
            return self._open()
        except OSError as error:
            why = f"{self._name} cannot be read ({error.strerror}); give a JSONL file of recorded replies"
            raise InputError(why) from None

    def _load(self, opening: Callable[[], IO[bytes]], where: str, name: str) -> None:
        self._open = opening
        self._name = where
        self._places: dict[bytes, array[int]] = {}
        self._taken: dict[tuple[bytes, int], int] = {}
        self._texts = self._numbers = self._n_lines = 0
        self._searched = False
        samples: dict[bytes, list[int]] = {}
        sha256 = hashlib.sha256()
        place = 0
        with self._opened() as file:
            for number, raw in enumerate(file, start=1):
                sha256.update(raw)
                content = raw.removeprefix(_BOM)
                if content.strip():
                    self._note(_checked(content, f"{where}, line {number}"), place, samples, f"{where}, line {number}")
                place += len(raw)
        if not self._places:
            raise InputError(f"{where} holds no recorded reply; write one JSON object a line, with prompt and reply")
        for mark, numbers in samples.items():
            ordered = sorted(zip(numbers, self._places[mark], strict=True))
            self._places[mark] = array("Q", [where for _, where in ordered])
        self._subject = System(name=name, version=f"sha256:{sha256.hexdigest()}")

    def _note(self, line: Recorded, place: int, samples: dict[bytes, list[int]], where: str) -> None:
        mark = _mark(line.prompt)
        self._places.setdefault(mark, array("Q")).append(place)
        self._n_lines += 1
        self._texts += line.values is None
        self._numbers += line.values is not None
        if line.sample is not None or mark in samples:
            _number(samples, mark, line.sample, where, len(self._places[mark]))

    def _read(self, place: int) -> Recorded | None:
        if self._file is None:
            return None
        try:
            self._file.seek(place)
            return _LINE.decode(self._file.readline().removeprefix(_BOM))
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def _missing(self, prompt: str) -> str:
        holds = f"{self._name} holds {self._n_lines} replies to {len(self._places)} prompts"
        why = f"no reply is recorded for the prompt {_quoted(prompt)}: {holds}"
        if self._searched:  # once is enough: where one prompt is worded otherwise, all are
            return why
        self._searched = True
        nearest = _nearest(prompt, self._prompts())
        if nearest is None:
            return f"{why}, and none of them is like it; record this one too"
        same = next((at for at, (a, b) in enumerate(zip(prompt, nearest, strict=False)) if a != b), len(prompt))
        same = min(same, len(nearest))
        told = "ends" if same == len(nearest) else f"goes on with {_quoted(nearest[same:])}"
        asked = "ends" if same == len(prompt) else f"goes on with {_quoted(prompt[same:])}"
        return f"{why}; the nearest is the same for {same} characters, then {told} where this one {asked}"

    def _prompts(self) -> Iterator[str]:
        left = _COMPARED_CHARACTERS
        for places in islice(self._places.values(), _COMPARED):
            line = self._read(places[0])
            if line is not None and left > 0:
                left -= len(line.prompt)
                yield line.prompt


def _mark(prompt: str) -> bytes:
    return digest(prompt.encode("utf-8", "surrogatepass"))


def _checked(raw: bytes, where: str) -> Recorded:
    try:
        line = _LINE.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        known = "the fields are " + ", ".join(Recorded.__struct_fields__)
        raise InputError(f"{where} is not a recorded reply ({error}); {known}") from None
    given = [value for value in (line.reply, line.text, line.values) if value is not None]
    if len(given) != 1:
        raise InputError(f"{where} must give exactly one of reply, text and values, and gives {len(given)}")
    return line


def _number(samples: dict[bytes, list[int]], mark: bytes, sample: int | None, where: str, n: int) -> None:
    """Note which sample a line is, for a prompt whose samples are numbered; then all of its lines must be."""
    numbers = samples.setdefault(mark, [])
    if sample is None or len(numbers) != n - 1:
        raise InputError(f"{where} and another line share a prompt and only one of them has a sample: number both")
    if sample in numbers:
        raise InputError(f"{where} repeats sample {sample} of its prompt: give each sample its own number")
    numbers.append(sample)


def _reply(line: Recorded, request: Request) -> Reply:
    if isinstance(request, Loglikelihood):
        wanted, given = len(request.continuations), len(line.values or ())
        if wanted != given:
            why = f"{given} log-likelihoods are recorded for a prompt with {wanted} continuations: record `values` anew"
            raise CallFailedError(why, where="recording")
        return Reply(values=line.values or (), usage=line.usage)
    if isinstance(request, Embed | Rolling) or line.values is not None:
        why = "what is recorded for this prompt is not of the kind that is asked: ask as the recording did"
        raise CallFailedError(why, where="recording")
    text = line.reply if line.reply is not None else line.text or ""
    return Reply((Text(text),), line.finish, line.reasoning, usage=line.usage)


def _nearest(prompt: str, recorded: Iterable[str]) -> str | None:
    """The recorded prompt that shares most words with this one (Jaccard), if any shares one."""
    words = set(prompt.split())

    def likeness(other: str) -> float:
        others = set(other.split())
        return len(words & others) / (len(words | others) or 1)

    best: Any = max(((likeness(other), other) for other in recorded), default=(0.0, None), key=lambda pair: pair[0])
    return best[1] if best[0] > 0 else None


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")  # noqa: PLR2004 (a glance)
