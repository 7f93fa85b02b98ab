"""Pickles, of which only plain values are read: a pickle that names any class or function is refused, not run."""

from __future__ import annotations

import io
import json
import pickle
from typing import NoReturn

from measurand.core.errors import DataError
from measurand.data.table import Table

KEY = "__key__"


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse: what is found by name could be called by the file."""
        message = f"it asks for {module}.{name}"
        raise pickle.UnpicklingError(message)


def read_pickle(data: bytes, where: str) -> Table:
    """A dict of dicts, whose keys become `__key__`, or a list of dicts.

    Raises DataError for anything else, for values that are not JSON, and for a pickle that would call something.
    """
    try:
        value = _Plain(io.BytesIO(data)).load()
        found = [{KEY: key, **row} for key, row in value.items()] if isinstance(value, dict) else value
        json.dumps(found, allow_nan=False, ensure_ascii=False).encode()  # refuses sets, NaN and half characters
    except Exception as error:  # a damaged pickle may raise anything
        message = f"{where} cannot be read as plain values ({error}); a pickle that holds more is not opened"
        raise DataError(message) from error
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        message = f"{where} holds no table: expected a dict of dicts, or a list of dicts"
        raise DataError(message)
    return Table(found, [f"row {number}" for number in range(1, len(found) + 1)])
