"""Templates: text with `{{name}}` in it. What is filled in is never read as a template again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache

from measurand.core.errors import InputError

_PLACE = re.compile(r"\{\{[ ]{0,8}(\w{1,100})[ ]{0,8}\}\}", re.ASCII)
"""Bounded repeats, so that no text makes matching slow."""

_SHOWN = 40


@lru_cache(maxsize=256)  # one template is filled for every item
def names(template: str) -> tuple[str, ...]:
    """The names a template asks for, each once, in order. Raises InputError for a `{{` that begins no name."""
    for literal in _PLACE.split(template)[::2]:
        if (at := literal.find("{{")) >= 0:
            message = (
                f"a template holds {literal[at : at + _SHOWN]!r}, which is no {{{{name}}}}; "
                "close it, or put literal double braces into a field"
            )
            raise InputError(message)
    return tuple(dict.fromkeys(_PLACE.findall(template)))


def fill(template: str, fields: Mapping[str, str]) -> str:
    """The template with every `{{name}}` replaced by the field of that name, exactly as it is.

    Single braces are ordinary characters. Fields that the template does not use are left alone. Raises InputError
    for a name without a field (with the nearest name there is) and for a field that is no text.
    """
    for name in names(template):
        if name not in fields:
            raise InputError(_unknown(name, fields))
        if not isinstance(fields[name], str):
            kind = type(fields[name]).__name__
            message = f"the field {name!r} of a template is of type {kind}; turn it into text first"
            raise InputError(message)
    return _PLACE.sub(lambda place: fields[place[1]], template)


def _unknown(name: str, fields: Mapping[str, str]) -> str:
    near = get_close_matches(name, list(fields), n=1)
    there = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, fields)) or 'no fields'}"
    return f"a template asks for {name!r}, which is not among its fields; {there}"
