"""Perplexity on texts of one's own: each row of a data file, or a text file as a whole, is a document that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from measurand.asking.reading import reading
from measurand.core.benchmark import Aggregation, Prompting, Scoring
from measurand.core.errors import DataError, InputError
from measurand.core.item import Document, Item, Row
from measurand.core.record import Json
from measurand.scoring.perplexity import MARKINGS
from measurand.stats.metrics import PERPLEXITIES
from measurand.study.records import PrivateSet

PERPLEXITY = "perplexity"
"""The scoring of a private set whose texts are read instead of asked."""

TEXT = "text"
"""The column of the texts where none is named; a text file has this one only."""


def documents(spec: PrivateSet, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """The documents of a file. Raises InputError for a column that is not there, DataError for a row without text."""
    column = spec.question or TEXT
    present = {name for row in rows for name in row}
    for name in (column, *spec.slices, *filter(None, (spec.id, spec.cluster, spec.language))):
        if name not in present:
            raise InputError(f"{spec.file} has no column '{name}'; it has {', '.join(sorted(present))}")
    return [_document(spec, column, number, row) for number, row in enumerate(rows)]


def _document(spec: PrivateSet, column: str, number: int, row: Mapping[str, Json]) -> Item:
    text = row.get(column)
    if not isinstance(text, str) or not text:
        raise DataError(f"{spec.file}, row {number + 1}: the column '{column}' holds no text")
    return Item(
        id=str(row[spec.id]) if spec.id else str(number + 1),
        input=Document(text),
        slices={name: str(row[name]) for name in spec.slices if row.get(name) not in (None, "")},
        cluster=str(row.get(spec.cluster, "")) if spec.cluster else "",
        language=str(row.get(spec.language) or "") if spec.language else "",
        origin=Row(Path(spec.file).name, number),
    )


def text_asking(spec: PrivateSet) -> Prompting:
    """How the texts are read: the windows of the set."""
    return reading(spec.window, spec.stride)


TEXT_SCORING = Scoring(MARKINGS)
"""A text's log-probability per byte, word and token."""


def text_aggregation(spec: PrivateSet) -> Aggregation:
    """Bits per byte and perplexities, over all texts and for each value of each slice."""
    return Aggregation(PERPLEXITIES, groups=spec.slices)
