"""Weights for PyTorch: where they lie, the hash of their content, and GGUF files converted once."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from measurand.core.errors import InputError
from measurand.core.identity import sha256_text
from measurand.core.record import Json, Record
from measurand.providers import gguf
from measurand.providers.packaged import PACKAGED, found

Precision = Literal["float32", "bfloat16", "float16"]

READ = (
    "*.safetensors",
    "model.safetensors.index.json",
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "*.model",
    "*.jinja",
)
"""The files that change what a model replies. A checkpoint's folder holds others: optimisers, logs, states."""

_UNSAFE = ("*.bin", "*.pt", "*.pth", "*.ckpt")


_FASTEST_ON_CPU, _FASTEST_ON_CUDA = 512, 8192


class TransformersOptions(Record, frozen=True):
    """How a model is run.

    `device` is cpu or cuda (empty: cuda where there is one). Numbers in float32 agree to 1e-4 whatever the batch; the
    others are faster on CUDA, and rounded. `threads` compute on the CPU (0: OMP_NUM_THREADS, or all usable cores).
    `size` requests make a batch. `memory_mb` bounds the keys and values that are held together; a pass takes at most
    `tokens` of input (0: as many as are fastest on the device).
    """

    device: str = ""
    dtype: Precision = "float32"
    threads: int = 0
    size: int = 64
    memory_mb: int = 1024
    tokens: int = 0

    def place(self) -> str:
        """The device that is used."""
        if self.device:
            return self.device
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"

    def tokens_of_a_pass(self) -> int:
        """Measured on two cores with 135M parameters: 600 tokens took 0.29 s a question, 8192 took 0.34, 150 0.29."""
        return self.tokens or (_FASTEST_ON_CPU if self.place() == "cpu" else _FASTEST_ON_CUDA)


class Weights(Record, frozen=True):
    """Where a model lies and who it is: a folder in Hugging Face's form, or a GGUF file.

    `sha256` is of the content: of the GGUF file, or of the names and hashes of all files in `READ`.
    """

    path: str
    name: str
    sha256: str
    template_hash: str = ""
    quantisation: str = ""

    @property
    def is_gguf(self) -> bool:
        """Whether it is to be converted before PyTorch can read it."""
        return not Path(self.path).is_dir()


def locate(model: str) -> Weights:
    """Find a model by the path of a folder or of a GGUF file, a package's name, or its name on the Hugging Face hub.

    A model of the hub is downloaded, unless it is there already. Raises InputError.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return _folder(path.resolve(), path.resolve().name)
    if model.lower() in PACKAGED or path.is_file():
        file, name = found(model)
        said = gguf.describe(file)
        return Weights(str(file), name, said.sha256, said.template_hash, said.quantisation)
    if path.suffix == ".gguf" or model.count("/") != 1 or model.startswith((".", "/", "~")):
        names = ", ".join(PACKAGED)
        raise InputError(f"there is no model {model}: give a folder, a GGUF file, OWNER/NAME of the hub, or {names}")
    return _folder(_downloaded(model), model)


def _downloaded(model: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, allow_patterns=list(READ)))
    except Exception as error:
        raise InputError(f"{model} cannot be had from the hub ({type(error).__name__}): give a local folder") from error


def _folder(path: Path, name: str) -> Weights:
    files = sorted({file for pattern in READ for file in path.glob(pattern) if file.is_file()})
    names = {file.name for file in files}
    if "config.json" not in names:
        raise InputError(f"{path} holds no config.json: give the folder of a model as transformers saves it")
    if not any(file.suffix == ".safetensors" for file in files):
        unsafe = any(next(path.glob(pattern), None) for pattern in _UNSAFE)
        mend = "save the weights as safetensors, since pickled ones run code" if unsafe else "the weights are not there"
        raise InputError(f"{path} holds no .safetensors file: {mend}")
    digests = [f"{file.name} {_sha256(str(file), *_stamp(file))}" for file in files]
    return Weights(str(path), name, sha256_text("\n".join(digests)), _template_hash(path))


def _template_hash(path: Path) -> str:
    """The hash of the chat template; empty where there is none, or only an empty one."""
    import msgspec

    template = path / "chat_template.jinja"
    if template.is_file():
        return sha256_text(template.read_text(encoding="utf-8"))
    settings = path / "tokenizer_config.json"
    said: Json = msgspec.json.decode(settings.read_bytes()).get("chat_template") if settings.is_file() else None
    if isinstance(said, list):
        return sha256_text(msgspec.json.encode(said).decode())
    return sha256_text(said) if isinstance(said, str) and said else ""


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4096)
def _sha256(path: str, _size: int, _changed: int) -> str:
    """A file's hash, remembered for as long as its size and time of change stay the same."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def converted(weights: Weights) -> Path:
    """The folder of a GGUF file's weights as float32, made at the first use and named by the file's hash.

    It lies in MEASURAND_CACHE, or where caches of a user lie. transformers shows the progress of the conversion on
    standard error; it takes about half a minute for each hundred million parameters.
    """
    home = os.environ.get("MEASURAND_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    target = Path(home) / "measurand" / "converted" / weights.sha256
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix="unfinished-"))
    except OSError as error:
        raise InputError(f"{target.parent} cannot be written ({error.strerror}): set MEASURAND_CACHE") from error
    try:
        _convert(Path(weights.path), made)
        made.replace(target)
    except OSError:
        if not target.is_dir():  # another process was first
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return target


def _convert(file: Path, folder: Path) -> None:
    """Load a GGUF file and save it as safetensors. A model loaded so refuses to be saved, hence the fresh copy."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place: dict[str, Any] = {"gguf_file": file.name}
    try:
        tokenizer = AutoTokenizer.from_pretrained(file.parent, **place)
        loaded = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **place)
    except (ValueError, KeyError, TypeError, ImportError) as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(f"transformers cannot read {file} ({words}): use llamacpp:{file}, or the original") from error
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    fresh: Any = type(loaded)(config)
    fresh.to(torch.float32)
    fresh.load_state_dict(loaded.state_dict())
    fresh.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def missing_packages() -> Sequence[str]:
    """The packages of the extra that are not installed."""
    from importlib.util import find_spec

    return [name for name in ("torch", "transformers", "tokenizers", "safetensors") if find_spec(name) is None]
