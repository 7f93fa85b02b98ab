"""Checkpoints in a folder: found, put in order, and left alone while they are still being written.

A checkpoint is finished when its weights are there in full and nothing in it has changed between two looks. Where the
trainer leaves a file that says so (`DONES`; `NAME.done` beside a GGUF file), one look is enough. Weights are there in
full when every shard that an index names exists, and every safetensors file is as long as its own header says.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from measurand.core.errors import InputError

DONES = (".done", "done", "DONE", ".complete", "COMPLETE", "_SUCCESS")
"""Names of empty files by which trainers say that a checkpoint is finished."""
UNFINISHED = (".", "tmp-", "tmp_", "unfinished-")
"""How the names of folders begin that trainers write into before they rename them."""
MOST_HEADER = 100_000_000
"""Bytes of a safetensors header; the format's own limit."""

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a checkpoint with their sizes and times: two equal stamps are one state."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What looks like a checkpoint.

    `done` says that a marker lies in it, `unfinished` why its weights cannot be complete; empty where they may be.
    """

    path: Path
    step: int | None
    changed: float
    stamp: Stamp
    done: bool
    unfinished: str = ""

    @property
    def name(self) -> str:
        """The name of the folder, or of the file without its ending."""
        return self.path.stem if self.path.suffix == ".gguf" else self.path.name

    @property
    def order(self) -> tuple[bool, int, float, str]:
        """By the step in the name; those without one last, by their time."""
        return self.step is None, self.step or 0, self.changed, self.name


def find(folder: Path) -> list[Candidate]:
    """Every checkpoint in a folder, in order: by the step in its name, those without one last and by their time.

    A checkpoint is a subfolder with a `config.json` and weights, or a `.gguf` file. Raises InputError for a folder
    that cannot be read.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}); give the folder of the checkpoints") from error
    found = [one for entry in entries if not entry.name.startswith(UNFINISHED) for one in _candidate(entry)]
    return sorted(found, key=lambda one: one.order)


def settled(candidate: Candidate, before: Mapping[Path, Stamp]) -> bool:
    """Whether a checkpoint is finished, given the stamps of the look before."""
    if candidate.unfinished:
        return False
    return candidate.done or before.get(candidate.path) == candidate.stamp


def step_of(name: str) -> int | None:
    """The step that a name states: its last number. `step-1000`, `checkpoint_1000` and `1000` are all step 1000."""
    numbers = re.findall(r"\d+", name, re.ASCII)
    return int(numbers[-1]) if numbers and len(numbers[-1]) < 16 else None  # noqa: PLR2004 -- longer is a hash or a time


def _candidate(path: Path) -> Iterator[Candidate]:
    """One entry of the folder as a checkpoint; nothing where it is none, or vanishes while it is looked at."""
    try:
        if path.suffix == ".gguf" and path.is_file():
            status = path.stat()
            stamp: Stamp = ((path.name, status.st_size, status.st_mtime_ns),)
            yield Candidate(path, step_of(path.stem), status.st_mtime, stamp, done=path.with_suffix(".done").is_file())
        elif path.is_dir() and (path / "config.json").is_file():
            files = sorted(one for one in path.iterdir() if one.is_file())
            stamp = tuple((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in files)
            changed = max(time for _, _, time in stamp) / 1e9
            done = any(one.name in DONES for one in files)
            yield Candidate(path, step_of(path.name), changed, stamp, done, _lacks(path, [one.name for one in files]))
    except FileNotFoundError:
        return


def _lacks(folder: Path, names: Sequence[str]) -> str:
    """Why the weights cannot be complete; empty where they seem to be. Weights that are refused later pass here."""
    weights = [name for name in names if name.endswith((".safetensors", ".bin", ".pt", ".pth"))]
    if not weights:
        return "its weights are not there yet"
    for index in (name for name in names if name.endswith(".index.json")):
        missing = sorted(_shards(folder / index) - set(names))
        if missing:
            return f"{missing[0]} is not there yet"
    for name in weights:
        if name.endswith(".safetensors") and not _whole(folder / name):
            return f"{name} is shorter than its header says"
    return ""


def _shards(index: Path) -> set[str]:
    """The files that an index names; none where it cannot be read yet."""
    try:
        said = msgspec.json.decode(index.read_bytes())
        return {str(name) for name in said["weight_map"].values()}
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        return {f"{index.name}, whole,"}


def _whole(file: Path) -> bool:
    """Whether a safetensors file is as long as its header says: 8 bytes of length, the header, the tensors."""
    with file.open("rb") as opened:
        first = opened.read(8)
        if len(first) < 8:  # noqa: PLR2004 -- the length of the length
            return False
        (length,) = struct.unpack("<Q", first)
        if length > MOST_HEADER:
            return True  # no safetensors file; loading it will say so
        header = opened.read(length)
        if len(header) < length:
            return False
        size = os.fstat(opened.fileno()).st_size
    try:
        said = msgspec.json.decode(header)
        ends = [entry["data_offsets"][1] for name, entry in said.items() if name != "__metadata__"]
        return bool(size >= 8 + length + max(ends, default=0))
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError, IndexError):
        return True  # a header that is none: loading it will say so
