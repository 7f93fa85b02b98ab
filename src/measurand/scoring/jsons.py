"""Reading a JSON value from a reply, and checking it against a schema or a gold."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.folding import reader

_START = re.compile(r"[{\[]")
_FENCE = re.compile(r"```[ \t]*(?:json5?|JSON)?[ \t]*\r?\n?")
_BUDGET = 8  # how many times the text's length may be spent on attempts that fail


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def _decode(text: str, start: int) -> tuple[Json, int] | int:
    """The value at `start` and its end, or how many characters it took to see that there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        return max(1, error.pos - start)
    except (ValueError, RecursionError):
        return 1000
    return value, end


def _read(_: Item, text: str) -> Finding:
    whole = text.strip()
    offset = text.find(whole)
    decoded = _decode(whole, 0)
    if not isinstance(decoded, int) and decoded[1] == len(whole):
        return Found(decoded[0], (offset, offset + len(whole)))
    spent, position, last = 0, 0, Absent("no JSON")
    found: Finding = last
    while (start := _START.search(text, position)) is not None and spent <= _BUDGET * len(text) + 1000:
        decoded = _decode(text, start.start())
        if isinstance(decoded, int):
            spent += decoded
            position = start.end()
        else:
            found = Found(decoded[0], (start.start(), decoded[1]))
            position = decoded[1]
    return found


JSON_VALUE = reader("json_value", 1, _read)
"""The whole reply as JSON, or its last complete object or array, fenced or between prose."""


def json_schema(schema: dict[str, Json]) -> Scorer:
    """1 where the value found is valid under the JSON schema, else 0; row: (valid,).

    Raises:
        InputError: the extra `schema` is not installed, or the schema is not a valid one.
    """
    try:
        import jsonschema  # an extra, and slow to import
    except ImportError as error:
        raise InputError("checking a JSON schema needs an extra: pip install 'measurand[schema]'") from error
    checker = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        checker.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise InputError(f"the JSON schema is not valid: {error.message}") from error
    validator = checker(schema)

    def score(_: Item, finding: Finding) -> Measured | Missing:
        return Measured((float(isinstance(finding, Found) and validator.is_valid(finding.value)),))

    return Scorer("json_schema", 1, score)


def same_json(one: Json, two: Json) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, True and 1 are not, the order of keys does not matter."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same_json(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(same_json, one, two))
    return bool(one == two)


def _equal(item: Item, finding: Finding) -> Measured | Missing:
    return Measured((float(isinstance(finding, Found) and same_json(finding.value, item.gold)),))


JSON_EQUAL = Scorer("json_equal", 1, _equal)
"""1 where the value found equals the gold as JSON; row: (equal,)."""
