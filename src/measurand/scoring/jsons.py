"""Reading a JSON value from a reply, and checking it against a schema or a gold."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

from measurand.core.benchmark import Scorer
from measurand.core.errors import InputError
from measurand.core.identity import canonical_json, short
from measurand.core.item import Item
from measurand.core.record import Json
from measurand.core.trial import Absent, Finding, Found, Measured, Missing
from measurand.scoring.folding import reader

_START = re.compile(r"\{(?=\s{0,80}[\"}])|\[(?=\s{0,80}[\[\]{\"\d\-tfn])")
_DEEPEST = 100
_BUDGET = 8  # how many times the text's length may be spent on attempts that fail


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def _decode(text: str, start: int) -> tuple[Json, int] | int:
    """The value at `start` and its end; or what it took to see that there is none, 0 where it is cut off."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        json.dumps(value, ensure_ascii=False).encode()  # refuses lone surrogates, which have no identity
        _check_depth(value)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        return 0 if cut_off else max(1, error.pos - start)
    except (ValueError, RecursionError):
        return 1000
    return value, end


def _check_depth(value: Json) -> None:
    """Raise RecursionError where lists and objects are nested too deeply to be compared or stored."""
    layer = [value]
    for _ in range(_DEEPEST):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return
    raise RecursionError


def _read(_: Item, text: str) -> Finding:
    whole = text.strip()
    offset = text.find(whole)
    decoded = _decode(whole, 0)
    if not isinstance(decoded, int) and decoded[1] == len(whole):
        return Found(decoded[0], (offset, offset + len(whole)))
    spent, position = 0, 0
    found: Finding = Absent("no JSON")
    while (start := _START.search(text, position)) is not None and spent <= _BUDGET * len(text) + 1000:
        decoded = _decode(text, start.start())
        if decoded == 0:
            break  # what stands inside a value that was cut off is no value of its own
        if isinstance(decoded, int):
            spent += decoded + start.start() // 16  # the decoder's error counts the lines before it
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
        import referencing  # comes with it
    except ImportError as error:
        raise InputError("checking a JSON schema needs an extra: pip install 'measurand[schema]'") from error
    checker = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        checker.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise InputError(f"the JSON schema is not valid: {error.message}") from error
    validator = checker(schema, registry=referencing.Registry())  # nothing is fetched

    def score(_: Item, finding: Finding) -> Measured | Missing:
        try:
            return Measured((float(isinstance(finding, Found) and validator.is_valid(finding.value)),))
        except (referencing.exceptions.Unresolvable, RecursionError) as error:
            return Missing("scorer_failed", f"the schema cannot be applied: {type(error).__name__}")

    digest = hashlib.sha256(canonical_json(schema)).hexdigest()
    return Scorer(f"json_schema({short(digest)})", 1, score)


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
