"""Score stored outputs again and compare with what was published. A rescoring is a file in `fidelity/`, no registry."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from measurand.core.errors import InputError
from measurand.core.fidelity import Check, Rendering, Rescoring, Stored, Unmatched

FOLDER = "measurand.fidelity"


def rescoring_names() -> list[str]:
    """The names of the files in `fidelity/`, without loading them."""
    package = importlib.import_module(FOLDER)
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def rescorings(only: Sequence[str] = ()) -> list[Rescoring]:
    """All rescorings, or those of the files named. Raises InputError with the nearest name."""
    return [one for module in _modules(only) for one in getattr(module, "RESCORINGS", ())]


def renderings(only: Sequence[str] = ()) -> list[Rendering | Unmatched]:
    """All renderings and what no peer has, or those of the files named. Raises InputError with the nearest name."""
    return [one for module in _modules(only) for one in getattr(module, "PROMPTS", ())]


def _modules(only: Sequence[str]) -> list[ModuleType]:
    names = rescoring_names()
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
            message = f"there is nothing to verify of the name '{name}'; {hint}"
            raise InputError(message)
    return [importlib.import_module(f"{FOLDER}.{name}") for name in names if not only or name in only]


def verify(stored: Stored, chosen: Sequence[Rescoring], *, run_code: bool = False) -> Iterator[Check]:
    """The lines of each rescoring, as they are found.

    What lacks its files is `not here`, and what runs programs is `not run` unless `run_code`; neither is ever
    `equal`. Raises InputError where the folder is none or holds nothing of what was asked for.
    """
    _refuse_other_folders(stored.folder, chosen)
    for one in chosen:
        lacking = [name for name in one.files if not (stored.folder / name).exists()]
        if lacking:
            note = f"the folder lacks {', '.join(lacking)}"
            yield Check(one.benchmark, "", one.source, None, None, "not here", note)
        elif one.runs_code and not run_code:
            yield Check(one.benchmark, "", one.source, None, None, "not run", "it runs programs: --run-code")
        else:
            yield from _checks(stored, one)


def _checks(stored: Stored, one: Rescoring) -> Iterator[Check]:
    began = time.perf_counter()
    for figure in one.figures(stored):
        now = time.perf_counter()
        note = "" if figure.verdict == "equal" else figure.cause
        yield Check(
            one.benchmark,
            figure.what,
            one.source,
            figure.published,
            figure.ours,
            figure.verdict,
            note,
            now - began,
        )
        began = now


def _refuse_other_folders(folder: Path, chosen: Sequence[Rescoring]) -> None:
    if not folder.is_dir():
        message = f"{folder} is no folder; give one that holds stored outputs, such as {_example(chosen)}"
        raise InputError(message)
    if not chosen:
        message = "of what was named only prompts can be compared: --prompts"
        raise InputError(message)
    if not any((folder / name).exists() for one in chosen for name in one.files):
        message = f"{folder} holds none of the stored outputs that can be verified, such as {_example(chosen)}"
        raise InputError(message)


def _example(chosen: Sequence[Rescoring]) -> str:
    return next((name for one in chosen for name in one.files), "gsm8k/test.jsonl")
