"""GGUF metadata is read, hashed and never trusted."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.core.identity import sha256_text
from measurand.providers.gguf import Gguf, describe


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def field(name: str, value: str | int | list[str] | list[int]) -> bytes:
    match value:
        case str():
            return text(name) + struct.pack("<I", 8) + text(value)
        case int():
            return text(name) + struct.pack("<II", 4, value)
        case [str(), *_]:
            return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(text(str(v)) for v in value)
    return text(name) + struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)


def gguf(*fields: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(fields)) + b"".join(fields)


WHOLE = gguf(
    field("general.architecture", "llama"),
    field("tokenizer.ggml.tokens", ["a", "", "ccc"]),
    field("tokenizer.ggml.token_type", [1, 2, 3]),
    field("llama.context_length", 2048),
    field("general.file_type", 15),
    field("tokenizer.chat_template", "{{ messages }}"),
)


def written(folder: Path, content: bytes, name: str = "m.gguf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_what_belongs_to_identity(tmp_path: Path) -> None:
    found = describe(written(tmp_path, WHOLE + b"weights"))
    assert (found.quantisation, found.context) == ("Q4_K_M", 2048)
    assert found.template_hash == sha256_text("{{ messages }}")
    assert len(found.sha256) == 64
    assert describe(written(tmp_path, WHOLE + b"others!")).sha256 != found.sha256


def test_little_is_said() -> None:
    assert Gguf("", "", "", 0).quantisation == ""


@pytest.mark.parametrize("version", [2, 3])
def test_a_bare_file(tmp_path: Path, version: int) -> None:
    found = describe(written(tmp_path, gguf(version=version)))
    assert (found.template_hash, found.quantisation, found.context) == ("", "", 0)
    assert describe(written(tmp_path, gguf(field("general.file_type", 999)))).quantisation == "type 999"


def test_a_split_model_is_all_its_parts(tmp_path: Path) -> None:
    first = written(tmp_path, WHOLE, "big-00001-of-00002.gguf")
    with pytest.raises(InputError, match="cannot be read"):
        describe(first)
    second = written(tmp_path, b"rest", "big-00002-of-00002.gguf")
    before = describe(first).sha256
    second.write_bytes(b"other rest")
    assert describe(first).sha256 != before


def test_the_hash_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    before = describe(path).sha256
    path.write_bytes(WHOLE.replace(b"messages", b"passages"))
    os.utime(path, (1, 1))
    assert describe(path).sha256 != before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"<html>not found</html>", "does not begin with GGUF"),
        (gguf(version=1), "version 1"),
        (WHOLE[:-4], "ends too early"),
        (WHOLE[:20], "not a whole GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "claims"),
        (gguf(text("a") + struct.pack("<I", 77)), "unknown type 77"),
        (gguf(text("a") + struct.pack("<IIQ", 9, 8, 1 << 60)), "array of"),
        (gguf(text("a") + struct.pack("<IIQ", 9, 9, 1)), "array of 1 values of type 9"),
        (gguf(text("a") + struct.pack("<IIQ", 9, 4, 1 << 62)), "ends too early"),
        (gguf(struct.pack("<Q", 1 << 63)), "ends too early"),
    ],
)
def test_files_that_are_no_gguf(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(InputError) as caught:
        describe(written(tmp_path, content))
    assert why in str(caught.value)
    assert "m.gguf" in str(caught.value)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(at=st.integers(0, len(WHOLE) - 1), junk=st.binary(min_size=1, max_size=12))
def test_any_damage_is_either_harmless_or_one_sentence(tmp_path: Path, at: int, junk: bytes) -> None:
    path = written(tmp_path, WHOLE[:at] + junk + WHOLE[at + len(junk) :])
    try:
        found = describe(path)
    except InputError as error:
        assert "\n" not in str(error).replace(str(path), "")  # noqa: PT017 (either ending is right)
    else:
        assert len(found.sha256) == 64
