"""Read a study from TOML, strictly: an unknown key is an error that suggests the right one."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from measurand.core.errors import InputError
from measurand.study.records import Arm, Candidate, PrivateSet, ProductionLog, PublicBenchmark, Study

KEYS = {
    "$": Study.__struct_fields__,
    "sets": PrivateSet.__struct_fields__,
    "benchmarks": PublicBenchmark.__struct_fields__,
    "subjects": Candidate.__struct_fields__,
    "arms": Arm.__struct_fields__,
    "logs": ProductionLog.__struct_fields__,
}
REPLAY = "replay:"
CLAIMS = ("about_model", "about_system", "about_method")


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
        raise InputError(f"{path}: {sentence(str(error), KEYS)}") from error
    _check(path, study)
    return msgspec.structs.replace(
        study,
        sets=tuple(msgspec.structs.replace(one, file=beside(path, one.file)) for one in study.sets),
        logs=tuple(msgspec.structs.replace(one, file=beside(path, one.file)) for one in study.logs),
        published=beside(path, study.published) if study.published else "",
        subjects=tuple(_recorded(path, one) for one in study.candidates),
    )


def _check(path: Path, study: Study) -> None:
    """What the types cannot say. Raises InputError."""
    if not study.sets and not study.benchmarks:
        raise InputError(f"{path}: the study asks nothing; add [[sets]] or [[benchmarks]]")
    labels = [one.label for one in study.candidates]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"{path}: two subjects are called '{twice}'; give each a name of its own")
    others = [("present", study.present)] if study.present else []
    others += [(f"arm '{arm.name}'", name) for arm in study.arms for name in arm.subjects]
    for what, name in others:
        if name not in labels:
            near = difflib.get_close_matches(name, labels, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"the subjects are {', '.join(labels)}"
            raise InputError(f"{path}: {what} names '{name}', which is no subject of the study; {hint}")


def beside(path: Path, file: str) -> str:
    """A file named in another one: relative to that one."""
    return file if Path(file).is_absolute() else str(path.parent / file)


def _recorded(path: Path, one: Candidate) -> Candidate:
    """A file of recorded replies lies beside the study, as its items do."""
    if not one.spec.startswith(REPLAY):
        return one
    return msgspec.structs.replace(one, spec=REPLAY + beside(path, one.spec.removeprefix(REPLAY)))


def sentence(error: str, keys: Mapping[str, Sequence[str]]) -> str:
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
