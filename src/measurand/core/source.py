"""Where rows come from. A source is data: it can be hashed, printed and replaced by a local copy."""

from __future__ import annotations

from typing import Literal

from measurand.core.record import Record

FileFormat = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "arrow", "pickle", "txt"]


class Hub(Record, frozen=True, tag="hub"):
    """Files of a data set on the Hugging Face hub, at a pinned revision.

    `files` are paths or glob patterns inside the repository, read in sorted order. `nonfinite` lets JSON that
    stands in for them hold NaN and infinities, which are read as the texts NaN, Infinity and -Infinity.
    """

    repo: str
    revision: str
    files: tuple[str, ...]
    gated: bool = False
    nonfinite: bool = False


class File(Record, frozen=True, tag="file"):
    """A local file. The format follows from the name unless given."""

    path: str
    format: FileFormat | None = None


class Package(Record, frozen=True, tag="package"):
    """A data file inside an installed Python package; `install` is the name to install it by."""

    package: str
    resource: str
    install: str


class Inline(Record, frozen=True, tag="inline"):
    """Rows given in a program; `digest` is the hash of their canonical JSON."""

    name: str
    digest: str


Source = Hub | File | Package | Inline
