"""Read a study from TOML, and check what its types cannot say."""

from __future__ import annotations

import difflib
from pathlib import Path

import msgspec

from measurand.core.errors import InputError
from measurand.core.record import Record
from measurand.study.records import Arm, Candidate, PrivateSet, ProductionLog, PublicBenchmark, Study
from measurand.study.toml import beside, read

INNER: dict[str, type[Record]] = {
    "sets": PrivateSet,
    "benchmarks": PublicBenchmark,
    "subjects": Candidate,
    "arms": Arm,
    "logs": ProductionLog,
}
REPLAY = "replay:"


def load_study(path: Path) -> Study:
    """Read a study file; the files it names are taken relative to it. Raises InputError."""
    study = read(path, Study, INNER)
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


def _recorded(path: Path, one: Candidate) -> Candidate:
    """A file of recorded replies lies beside the study, as its items do."""
    if not one.spec.startswith(REPLAY):
        return one
    return msgspec.structs.replace(one, spec=REPLAY + beside(path, one.spec.removeprefix(REPLAY)))
