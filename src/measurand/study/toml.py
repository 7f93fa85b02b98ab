"""Read a record from TOML, strictly: an unknown key is an error that suggests the right one."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from measurand.core.errors import InputError
from measurand.core.record import Record

CLAIMS = ("about_model", "about_system", "about_method")

R = TypeVar("R", bound=Record)


def read(path: Path, kind: type[R], inner: Mapping[str, type[Record]]) -> R:
    """The record of this kind that a file holds. `inner` says of which kind the tables in its lists are, by key.

    Raises InputError that names the file, the place and, for an unknown key, the nearest of those known there.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), kind)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    except msgspec.ValidationError as error:
        keys = {"$": kind.__struct_fields__, **{place: one.__struct_fields__ for place, one in inner.items()}}
        raise InputError(f"{path}: {_sentence(str(error), keys)}") from error


def beside(path: Path, file: str) -> str:
    """A file named in another one: relative to that one."""
    return file if Path(file).is_absolute() else str(path.parent / file)


def _sentence(error: str, keys: Mapping[str, Sequence[str]]) -> str:
    """The message of msgspec as one that names the place and, for an unknown key, the nearest of those known there."""
    unknown = re.match(r"Object contains unknown field `(?P<key>[^`]*)`(?: - at `(?P<at>[^`]*)`)?", error)
    if unknown is None:
        claimed = re.match(r"Invalid value '(?P<type>[^']*)' - at `\$\.claim\.type`", error)
        return f"there is no claim '{claimed['type']}'; a claim is {', '.join(CLAIMS)}" if claimed else error
    place = re.sub(r"\W|\d|\.\.\.", "", (unknown["at"] or "").removeprefix("$")) or "$"
    known = keys.get(place, ())
    near = difflib.get_close_matches(unknown["key"], known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"known keys are {', '.join(known)}"
    where = "" if place == "$" else f" in [[{place}]]"
    return f"unknown key '{unknown['key']}'{where}; {hint}"
