"""What users did with replies: logs of a product, turned into numbers by cohort.

A log has one line for each reply that was shown. Users are clusters: a hundred replies shown to one person are not a
hundred independent opinions. Power users, who see far more replies than others, are also reported apart, because a
mean over replies is mostly theirs.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from measurand.core.errors import DataError, InputError
from measurand.core.estimate import Estimate
from measurand.core.record import Record
from measurand.stats.estimate import estimate
from measurand.stats.metrics import ACCURACY
from measurand.study.records import ProductionLog

EVERYBODY = "everybody"
POWER_USERS, OTHERS = "power users", "other users"
POWER_SHARE = 0.1
"""The users with the most replies, up to this share of all users, are power users…"""
POWER_TIMES = 3.0
"""…if each has at least this many times the median."""

ACTIONS: Mapping[str, str] = {
    "accept": "accepted",
    "accepted": "accepted",
    "kept": "accepted",
    "edit": "edited",
    "edited": "edited",
    "abandon": "abandoned",
    "abandoned": "abandoned",
    "dismissed": "abandoned",
    "up": "up",
    "thumbs_up": "up",
    "thumbs up": "up",
    "down": "down",
    "thumbs_down": "down",
    "thumbs down": "down",
}
YES, NO = {"1", "true", "yes", "y"}, {"0", "false", "no", "n"}
GUESSES: Mapping[str, tuple[str, ...]] = {
    "subject": ("subject", "model", "variant"),
    "user": ("user", "user_id", "customer", "session"),
    "cohort": ("cohort", "segment", "group", "language"),
    "action": ("action", "event", "outcome", "feedback"),
    "accepted": ("accepted", "accept"),
    "shown": ("shown", "reply", "suggestion", "output"),
    "kept": ("kept", "final", "edited_text", "sent"),
}
"""The names that columns usually have; a column named in the study comes first."""


class Signal(Record, frozen=True):
    """One number of what users did: whose replies, which users, and how many of them there were.

    The metric is `acceptance`, `edited`, `abandonment`, `edit_distance` (share of the longer text that was changed, of
    replies that were kept) or `thumbs_up` (of replies with a thumb). Edited replies count as accepted.
    """

    subject: str
    cohort: str
    estimate: Estimate
    users: int


class Shown(Record, frozen=True):
    """One line of a log: a reply that a user was shown, and what became of it. `distance` is None without texts."""

    subject: str
    user: str
    cohort: str
    action: str
    distance: float | None = None


def read_log(spec: ProductionLog) -> tuple[Shown, ...]:
    """Read a log in JSONL or CSV. Raises DataError with the line that cannot be used."""
    rows = list(_rows(Path(spec.file)))
    if not rows:
        raise DataError(f"{spec.file} holds no line; a log has one line for each reply that was shown")
    columns = _columns(spec, rows[0])
    return tuple(_shown(spec.file, number, row, columns) for number, row in enumerate(rows, 1))


def signals(log: Iterable[Shown]) -> tuple[Signal, ...]:
    """Every number of a log: for all users, for power users and others, and for each cohort, by subject."""
    lines = list(log)
    power = power_users(lines)
    found: list[Signal] = []
    for subject in dict.fromkeys(line.subject for line in lines):
        own = [line for line in lines if line.subject == subject]
        groups = {EVERYBODY: own}
        if power:
            groups[POWER_USERS] = [line for line in own if line.user in power]
            groups[OTHERS] = [line for line in own if line.user not in power]
        cohorts = dict.fromkeys(line.cohort for line in own if line.cohort)
        groups |= {cohort: [line for line in own if line.cohort == cohort] for cohort in cohorts}
        found += [signal for cohort, part in groups.items() for signal in _numbers(subject, cohort, part)]
    return tuple(found)


def power_users(lines: Sequence[Shown]) -> frozenset[str]:
    """Users who saw so many replies that a mean over replies is mostly theirs; none where users are not named."""
    counts = Counter(line.user for line in lines if line.user)
    most = max(1, round(POWER_SHARE * len(counts))) if counts else 0
    middle = float(np.median(list(counts.values()))) if counts else 0.0
    return frozenset(user for user, n in counts.most_common(most) if n >= POWER_TIMES * middle and n > middle)


def edit_distance(shown: str, kept: str) -> float:
    """Levenshtein's distance in characters over the length of the longer text: 0 untouched, 1 nothing left."""
    if shown == kept:
        return 0.0
    previous = np.arange(len(kept) + 1)
    target = np.frombuffer(kept.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    steps = np.arange(len(kept) + 1)
    for number, letter in enumerate(shown, 1):
        row = np.empty_like(previous)
        row[0] = number
        row[1:] = np.minimum(previous[1:] + 1, previous[:-1] + (target != ord(letter)))
        previous = np.minimum.accumulate(row - steps) + steps  # insertions carry on from the left
    return float(previous[-1]) / max(len(shown), len(kept))


def _numbers(subject: str, cohort: str, lines: Sequence[Shown]) -> Iterator[Signal]:
    used = [line for line in lines if line.action in {"accepted", "edited", "abandoned"}]
    thumbs = [line for line in lines if line.action in {"up", "down"}]
    kept = [line for line in used if line.distance is not None and line.action != "abandoned"]
    measures: tuple[tuple[str, list[Shown], list[float]], ...] = (
        ("acceptance", used, [float(line.action != "abandoned") for line in used]),
        ("edited", used, [float(line.action == "edited") for line in used]),
        ("abandonment", used, [float(line.action == "abandoned") for line in used]),
        ("edit_distance", kept, [line.distance or 0.0 for line in kept]),
        ("thumbs_up", thumbs, [float(line.action == "up") for line in thumbs]),
    )
    for name, about, values in measures:
        if about:
            users = [line.user for line in about]
            clusters = np.unique(users, return_inverse=True)[1] if all(users) else None
            made = estimate(np.array(values), ACCURACY, clusters=clusters)
            yield Signal(
                subject, cohort, msgspec.structs.replace(made, metric=name), len(set(users)) if all(users) else 0
            )


def _rows(path: Path) -> Iterator[dict[str, object]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: the log cannot be read ({error}); give JSONL or CSV in UTF-8") from error
    if path.suffix.lower() in {".csv", ".tsv"}:
        yield from csv.DictReader(io.StringIO(text), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: not JSON ({error}); give one object a line") from error
            if not isinstance(row, dict):
                raise DataError(f"{path}, line {number}: not an object; give one object a line")
            yield row


def _columns(spec: ProductionLog, row: Mapping[str, object]) -> dict[str, str]:
    found = {}
    for name, guesses in GUESSES.items():
        given = getattr(spec, name)
        if given and given not in row:
            raise InputError(f"{spec.file} has no column '{given}'; it has {', '.join(map(str, row))}")
        found[name] = given or next((guess for guess in guesses if guess in row), "")
    if not found["action"] and not found["accepted"]:
        raise InputError(
            f"{spec.file}: name the column that says what users did (action), or whether they accepted (accepted)"
        )
    return found


def _shown(file: str, number: int, row: Mapping[str, object], columns: Mapping[str, str]) -> Shown:
    def cell(name: str) -> str:
        value = row.get(columns[name]) if columns[name] else None
        return "" if value is None else str(value).strip()

    shown, kept = cell("shown"), cell("kept")
    distance = edit_distance(shown, kept) if columns["shown"] and columns["kept"] and kept else None
    said = cell("action").lower() if columns["action"] else ""
    if said:
        action = ACTIONS.get(said, "")
        if not action:
            raise DataError(f"{file}, line {number}: the action '{said}'; it is one of {', '.join(sorted(ACTIONS))}")
    else:
        answer = cell("accepted").lower()
        if answer not in YES | NO:
            raise DataError(f"{file}, line {number}: accepted is '{answer}'; it is yes or no, true or false, 1 or 0")
        action = "abandoned" if answer in NO else "edited" if distance else "accepted"
    return Shown(cell("subject") or "product", cell("user"), cell("cohort"), action, distance)
