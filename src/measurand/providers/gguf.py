"""What a GGUF file says of itself: the few fields that belong to a model's identity.

The form is that of the GGUF specification (ggml, docs/gguf.md), versions 2 and 3. Nothing in the file is trusted:
every length is checked against the bytes that are there.
"""

from __future__ import annotations

import hashlib
import mmap
import re
import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

from measurand.core.errors import InputError
from measurand.core.identity import sha256_text
from measurand.core.record import Record

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""GGUF's value types, as `struct` writes them; the other two are texts and arrays."""

_TEXT, _ARRAY = 8, 9

_MOST_FIELDS = 100_000
_MOST_TEXTS = 5_000_000
"""How many fields, and texts in an array, are walked over at most. Real vocabularies hold about 300,000."""

_QUANTISATIONS = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4",
}
"""Names of `general.file_type`, from llama.cpp's `llama_ftype`."""

_PART = re.compile(r"^(.{1,200})-00001-of-(\d{5})\.gguf$")


class Gguf(Record, frozen=True):
    """What identifies a GGUF file, and how long a context its model was trained on (0: not said)."""

    sha256: str
    template_hash: str
    quantisation: str
    context: int


def describe(path: Path) -> Gguf:
    """Read a file's metadata and hash its content. Raises InputError for a file that is not whole GGUF metadata.

    The hash is remembered for as long as the size and the time of change stay the same.
    """
    try:
        fields = _Reader(path).fields()
        digest = _sha256(tuple((str(part), *_stamp(part)) for part in _parts(path)))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give the path of a GGUF file") from None
    except (struct.error, ValueError, OverflowError) as error:
        raise InputError(f"{path} is not a whole GGUF file ({error}); download it again") from None
    template = fields.get("tokenizer.chat_template")
    kind = fields.get("general.file_type")
    context = fields.get(f"{fields.get('general.architecture')}.context_length")
    return Gguf(
        sha256=digest,
        template_hash=sha256_text(template) if isinstance(template, str) and template else "",
        quantisation=_QUANTISATIONS.get(kind, f"type {kind}") if isinstance(kind, int) else "",
        context=context if isinstance(context, int) else 0,
    )


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _parts(path: Path) -> list[Path]:
    """The file, or all files of a model that is split; llama.cpp is given the first."""
    match = _PART.match(path.name)
    if match is None:
        return [path]
    stem, count = match.group(1), int(match.group(2))
    return [path.with_name(f"{stem}-{number:05}-of-{count:05}.gguf") for number in range(1, count + 1)]


@lru_cache(maxsize=64)
def _sha256(parts: tuple[tuple[str, int, int], ...]) -> str:
    """One part's SHA-256, or that of the parts' hashes. The sizes and times make the key of the memory."""
    digests = []
    for name, _, _ in parts:
        with Path(name).open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


class _Reader:
    """Walks over the metadata at the head of a file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise ValueError("it is empty")
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0

    def fields(self) -> dict[str, Any]:
        """The fields that are numbers or texts, by name."""
        with self._bytes:
            if self._bytes[:4] != b"GGUF":
                raise ValueError("it does not begin with GGUF")
            self._at = 4
            version = self._number("I")
            if version not in {2, 3}:
                raise ValueError(f"it is of version {version}, and versions 2 and 3 are known")
            self._number("Q")
            count = self._number("Q")
            if count > _MOST_FIELDS:
                raise ValueError(f"it claims {count} fields")
            found = {}
            for _ in range(count):
                name = self._text()
                found[name] = self._value(self._number("I"))
            return found

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            return self._skip_array()
        if kind not in _NUMBERS:
            raise ValueError(f"it has a field of the unknown type {kind}")
        return self._number(_NUMBERS[kind])

    def _skip_array(self) -> None:
        """Pass over an array; none of them matters here."""
        kind, count = self._number("I"), self._number("Q")
        if kind in _NUMBERS:
            self._advance(count * struct.calcsize("<" + _NUMBERS[kind]))
        elif kind == _TEXT and count <= _MOST_TEXTS:
            for _ in range(count):
                self._advance(self._number("Q"))
        else:
            raise ValueError(f"it has an array of {count} values of type {kind}")

    def _number(self, kind: str) -> Any:
        (value,) = struct.unpack_from("<" + kind, self._bytes, self._at)
        self._at += struct.calcsize("<" + kind)
        return value

    def _text(self) -> str:
        length = self._number("Q")
        begin = self._at
        self._advance(length)
        return self._bytes[begin : self._at].decode("utf-8", "replace")

    def _advance(self, length: int) -> None:
        self._at += length
        if self._at > len(self._bytes):
            raise ValueError("it ends too early")
