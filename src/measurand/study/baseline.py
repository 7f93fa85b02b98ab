"""A baseline: the scores of one run, item by item, in a file small enough to lie in a repository."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from measurand.core.errors import InputError
from measurand.core.estimate import Tally
from measurand.core.identity import short
from measurand.core.protocol import Protocol
from measurand.core.record import Record
from measurand.core.run import Run
from measurand.run.tables import Tables, metrics_of
from measurand.stats.missing import ByItem, complete

LARGEST = 1_000_000
"""Bytes of a baseline: what a repository bears."""
MARK = 6
"""Bytes of an item's content hash that are kept: enough to see that an item has changed."""
VERSION = 1


class Baseline(Record, frozen=True):
    """The headline scores of a run. `rows` [items] are the rows of the metric, in the order of `names`.

    `contents` are the first bytes of the hashes of what the items ask, in hexadecimal. `unmeasured` counts the items
    that had no score; they are left out. `clusters` labels items that belong together, if any do.
    """

    version: int
    run: Run
    protocol: Protocol
    metric: str
    names: tuple[str, ...]
    contents: tuple[str, ...]
    rows: tuple[float | tuple[float, ...], ...]
    unmeasured: int = 0
    clusters: tuple[int, ...] = ()


def baseline_of(tables: Tables) -> Baseline:
    """The baseline that a run is. Raises InputError for a run without a score."""
    table = tables.metrics[tables.headline]
    done = np.flatnonzero(complete(table.rows))
    if not len(done):
        raise InputError(f"run {tables.run.id} has no score, so it can be no baseline")
    run = msgspec.structs.replace(tables.run, recipe={})  # it names files of one machine
    return Baseline(
        version=VERSION,
        run=run,
        protocol=tables.protocol,
        metric=tables.headline,
        names=tuple(tables.names[at] for at in done),
        contents=tuple(tables.contents[at][:MARK].hex() for at in done),
        rows=tuple(_plain(table.rows[at].tolist()) for at in done),
        unmeasured=len(table.rows) - len(done),
        clusters=() if table.independent or table.clusters is None else tuple(table.clusters[done].tolist()),
    )


def write_baseline(baseline: Baseline, path: Path) -> int:
    """Write a baseline as JSON and return its bytes. Raises InputError where it is too large."""
    content = msgspec.json.encode(baseline, order="sorted") + b"\n"
    if len(content) > LARGEST:
        raise InputError(
            f"a baseline of {len(baseline.names):,} items takes {len(content):,} bytes, more than {LARGEST:,}; "
            "gate on a seeded subset of the items (--subset N)"
        )
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path}: the baseline cannot be written ({error.strerror}); choose another place") from error
    return len(content)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises InputError for a file that is none, or was changed by hand."""
    try:
        made = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); write a baseline with `measurand gate --write {path}`"
        ) from error
    except msgspec.MsgspecError as error:
        raise InputError(f"{path} is no baseline ({error}); write one with `measurand gate --write FILE`") from error
    if made.version != VERSION:
        raise InputError(
            f"{path} is a baseline of version {made.version}, and this is version {VERSION}: write it anew"
        )
    if not len(made.names) == len(made.contents) == len(made.rows):
        raise InputError(
            f"{path} names {len(made.names)} items and scores {len(made.rows)}: it was changed; write it anew"
        )
    if made.protocol.id != made.run.protocol:
        raise InputError(
            f"{path} holds another protocol than {short(made.run.protocol)}: it was changed; write it anew"
        )
    return made


def as_tables(baseline: Baseline) -> Tables:
    """The baseline as tables, to be compared like any run. Costs and times are not kept."""
    metric = metrics_of(baseline.protocol, {})[baseline.metric]
    rows = np.array(baseline.rows, dtype=np.float64).reshape(len(baseline.rows), len(metric.columns))
    n = len(rows)
    ones = np.ones(n, dtype=np.int64)
    clusters = np.array(baseline.clusters, dtype=np.int64) if baseline.clusters else None
    single = len(metric.columns) == 1 and metric.low is not None and metric.high is not None
    table = ByItem(
        metric,
        rows,
        rows if single else None,
        rows if single else None,
        ones * baseline.run.samples,
        0 * ones,
        clusters,
    )
    unknown = np.full(n, np.nan)
    return Tables(
        run=baseline.run,
        protocol=baseline.protocol,
        tally=Tally(planned=n, answered=n),
        metrics={baseline.metric: table},
        fields={},
        names=baseline.names,
        contents=tuple(bytes.fromhex(mark) for mark in baseline.contents),
        lengths=0 * ones,
        seconds=unknown,
        costs=unknown,
        made={},
    )


def _plain(row: list[float]) -> float | tuple[float, ...]:
    """One number where the metric has one column; six digits, which no interval is finer than."""
    rounded = [round(value, 6) for value in row]
    return rounded[0] if len(rounded) == 1 else tuple(rounded)
