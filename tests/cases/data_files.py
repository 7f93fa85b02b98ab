"""Theme data-files: what is read from a file, and which files are refused."""

from __future__ import annotations

import base64
from typing import Any

from measurand.core.errors import DataError
from measurand.data import check_rows, parse

_GOLDS = ("target", "answer", "gold", "label")
_OPTIONS = ("choices", "options")


def data_files(case: dict[str, Any]) -> dict[str, Any]:
    """Read the bytes as a private data set is read: parsed, then checked by the columns that it has."""
    try:
        table = parse(_bytes(case), "data", case.get("format", "jsonl"))
        columns = list(dict.fromkeys(name for row in table.rows for name in row))
        flags = check_rows(
            table.rows,
            table.places,
            gold=next((name for name in _GOLDS if name in columns), ""),
            options=next((name for name in _OPTIONS if name in columns), ""),
        )
    except DataError as error:
        return {"error": str(error)}
    found: dict[str, Any] = {
        "columns": columns,
        "rows": len(table.rows),
        "values": table.rows,
        "flagged": [flag.row for flag in flags],
    }
    for name in columns:
        found[f"{name}s"] = [row.get(name) for row in table.rows]
    for number, row in enumerate(table.rows):
        found[f"row{number}"] = row
        found.update({f"row{number}_{name}": value for name, value in row.items()})
    return found


def _bytes(case: dict[str, Any]) -> bytes:
    for name, value in case.items():
        if name.startswith("bytes_") and name not in {"bytes_hex", "bytes_base64", "bytes_b64"}:
            return str(value).encode(name.removeprefix("bytes_").replace("utf8", "utf-8").replace("latin1", "latin-1"))
    if "bytes_hex" in case:
        return bytes.fromhex(case["bytes_hex"])
    return base64.b64decode(case.get("bytes_base64", case.get("bytes_b64", "")))
