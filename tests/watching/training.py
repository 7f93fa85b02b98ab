"""Training runs made up for tests: folders of checkpoints, and subjects that predict texts as well as they are told."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from measurand.core.benchmark import Ability
from measurand.core.call import Reply
from measurand.core.errors import CallFailedError
from measurand.core.message import Text
from measurand.core.ports import Abilities
from measurand.core.request import Generate, Request, Rolling
from measurand.core.subject import Model
from measurand.providers.fake import Fake
from measurand.study.checkpoints import Candidate

SUITE = """
name = "nightly"
checkpoints = 40

[[sets]]
name = "texts"
file = "texts.jsonl"
scoring = "perplexity"
question = "text"
slices = ["domain"]

[[sets]]
name = "sums"
file = "sums.csv"
question = "question"
answer = "answer"
"""
CAN: tuple[Ability, ...] = ("chat", "rolling")
NATS_PER_BIT = float(np.log(2))


def suite_files(folder: Path, texts: int = 60, sums: int = 120, text: str = SUITE) -> Path:
    """A suite with its data: `texts` documents in two domains, and a canary of sums."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "text": f"{'def f' if at % 2 else 'Once'} {at} " + "abc " * (20 + at % 7),
            "domain": "code" if at % 2 else "web",
        }
        for at in range(texts)
    ]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["question,answer", *(f"{at} + {at},{2 * at}" for at in range(sums))]
    (folder / "sums.csv").write_text("\n".join(lines) + "\n")
    (folder / "suite.toml").write_text(text)
    return folder / "suite.toml"


def checkpoint(folder: Path, name: str, content: bytes = b"weights", *, done: bool = True) -> Path:
    """A folder in Hugging Face's form, whose safetensors file is whole."""
    path = folder / name
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    header = json.dumps({"w": {"dtype": "U8", "shape": [len(content)], "data_offsets": [0, len(content)]}}).encode()
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + content)
    if done:
        (path / "DONE").touch()
    return path


class Checkpointed(Fake):
    """A subject with weights that are known by a hash, that reads texts at so many bits a byte and adds so well.

    `bits` gives the bits per byte of a text, NaN for none that is finite; `right` the share of sums that it gets right.
    """

    def __init__(self, name: str, sha256: str, bits: Callable[[str], float], right: float) -> None:
        super().__init__(self._answer, name, abilities=Abilities(CAN, local=True))
        self._subject = Model("fake", name, revision=sha256)
        self._bits, self._right = bits, right
        self.name = name

    def _answer(self, request: Request) -> Reply:
        if isinstance(request, Rolling):
            size = len(request.text.encode())
            bits = self._bits(request.text)
            if not math.isfinite(bits):  # as providers/transformers_model.py says it
                raise CallFailedError("the model gave no finite log-probability: try dtype float32", where="reply")
            return Reply(values=(-bits * size * NATS_PER_BIT,), counts=(size // 4,))
        assert isinstance(request, Generate)
        (part,) = request.messages[-1].parts
        assert isinstance(part, Text)
        number = int(part.text.split()[0])
        return Reply(parts=(Text(str(2 * number) if number % 100 < 100 * self._right else "no"),))


def noise(text: str, seed: int, scale: float = 0.02) -> float:
    """What is by chance higher or lower for one text and one checkpoint."""
    return float(np.random.default_rng([seed, *text.encode()[:12]]).normal(0, scale))


class Run:
    """A training run whose checkpoint `at` has `bits[at]` bits per byte and `right[at]` of the sums right."""

    def __init__(self, bits: list[float], right: list[float] | None = None) -> None:
        self.bits, self.right = bits, right or [0.5] * len(bits)
        self.opened: list[str] = []
        self.subjects: list[Checkpointed] = []

    def open(self, one: Candidate) -> Checkpointed:
        """The subject of a checkpoint: its step is its number, from 1, times 100."""
        self.opened.append(one.name)
        at = (one.step or 100) // 100 - 1
        content = (one.path / "model.safetensors").read_bytes()[-40:].hex()
        made = Checkpointed(one.name, content, lambda text: self.bits[at] + noise(text, at), self.right[at])
        self.subjects.append(made)
        return made

    @property
    def asked(self) -> int:
        """How many requests came in all."""
        return sum(one.asked for one in self.subjects)

    def write(self, folder: Path, count: int | None = None) -> None:
        """All checkpoints, each with weights of its own, or the first `count`."""
        for at in range(len(self.bits) if count is None else count):
            name = f"checkpoint-{100 * (at + 1)}"
            if not (folder / name).exists():
                checkpoint(folder, name, f"weights {at}".encode())
