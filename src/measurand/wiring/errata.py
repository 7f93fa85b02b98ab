"""Corrected golds from a file, for stored answers."""

from __future__ import annotations

import json

from measurand.core.benchmark import Benchmark
from measurand.core.errors import DataError
from measurand.core.ports import Store
from measurand.core.record import Json
from measurand.core.run import Run
from measurand.core.source import File
from measurand.scoring.errata import with_errata
from measurand.wiring.opening import open_data


def corrected_benchmark(benchmark: Benchmark, path: str, store: Store, run: Run) -> Benchmark:
    """The benchmark of a stored run, scored by the corrected golds of a file.

    Its rows have `id`, the item's, and `corrected`: a gold, a list of golds of which any is right, or nothing where no
    answer is. Raises DataError for other rows, for an id twice, and for one that no item of the run has.
    """
    errata: dict[str, Json] = {}
    for number, row in enumerate(open_data({}).rows("errata", File(path)).rows, 1):
        item, gold = row.get("id"), row.get("corrected", ...)
        if not isinstance(item, str) or not item or gold is ... or item in errata:
            message = (
                f"{path}: row {number} is no erratum; give each item once, with its `id` and its gold as `corrected`"
            )
            raise DataError(message)
        errata[item] = _gold(gold)
    unknown = sorted(errata.keys() - {item.id for item in store.items(run.id)})
    if unknown:
        message = f"{path}: run {run.id} has no item {unknown[0]}; `measurand export` lists its items"
        raise DataError(message)
    return with_errata(benchmark, errata)


def _gold(given: Json) -> Json:
    """A table of text writes a list as JSON, and nothing as an empty cell."""
    if given == "":
        return None
    if isinstance(given, str) and given.startswith("[") and given.endswith("]"):
        try:
            return json.loads(given)
        except ValueError:  # a gold that is written in brackets
            return given
    return given
