"""Read a study from TOML, strictly: an unknown key is an error that suggests the right one."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path

import msgspec

from measurand.core.errors import InputError
from measurand.study.records import PrivateSet, PublicBenchmark, Study

KEYS = {
    "$": Study.__struct_fields__,
    "sets": PrivateSet.__struct_fields__,
    "benchmarks": PublicBenchmark.__struct_fields__,
}


def load_study(path: Path) -> Study:
    """Read a study file; the files it names are taken relative to it. Raises InputError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        study = msgspec.convert(tomllib.loads(text), Study)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {_sentence(str(error))}") from error
    if not study.sets and not study.benchmarks:
        raise InputError(f"{path}: the study asks nothing; add [[sets]] or [[benchmarks]]")
    return msgspec.structs.replace(study, sets=tuple(_beside(path, one) for one in study.sets))


def _beside(path: Path, one: PrivateSet) -> PrivateSet:
    file = Path(one.file)
    return msgspec.structs.replace(one, file=str(file if file.is_absolute() else path.parent / file))


def _sentence(error: str) -> str:
    """Turn msgspec's message into one that names the place and, for an unknown key, the nearest known one."""
    unknown = re.match(r"Object contains unknown field `(?P<key>[^`]*)`(?: - at `(?P<at>[^`]*)`)?", error)
    if unknown is None:
        return error
    place = re.sub(r"\W|\d|\.\.\.", "", (unknown["at"] or "").removeprefix("$")) or "$"
    known = KEYS.get(place, ())
    near = difflib.get_close_matches(unknown["key"], known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"known keys are {', '.join(known)}"
    where = "" if place == "$" else f" in [[{place}]]"
    return f"unknown key '{unknown['key']}'{where}; {hint}"
