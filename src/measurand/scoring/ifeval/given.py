"""What a constraint is given: its parameters, by the names of the data set, and the two relations it knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from measurand.core.errors import InputError
from measurand.core.record import Json

Given = Mapping[str, Json]
Check = Callable[[str, Given], bool]
"""Whether a text follows a constraint with these parameters. Raises InputError where one is missing or wrong."""


def text_of(given: Given, name: str) -> str:
    """A parameter that is a text, and not an empty one."""
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise InputError(f"the constraint needs a text as `{name}`, not {value!r}")
    return value


def texts_of(given: Given, name: str) -> list[str]:
    """A parameter that is a list of texts."""
    value = given.get(name)
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, str) and one for one in value):
        raise InputError(f"the constraint needs a list of texts as `{name}`, not {value!r}")
    return list(value)


def count_of(given: Given, name: str) -> int:
    """A parameter that is a whole number of at least 0; data sets write 3 as 3.0 too."""
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
        raise InputError(f"the constraint needs a whole number as `{name}`, not {value!r}")
    return int(value)


def compares(count: int, given: Given, relation: str, threshold: str) -> bool:
    """Whether a count is as the parameters `relation` ("less than" or "at least") and `threshold` say."""
    wanted = text_of(given, relation)
    if wanted == "less than":
        return count < count_of(given, threshold)
    if wanted == "at least":
        return count >= count_of(given, threshold)
    raise InputError(f"`{relation}` is 'less than' or 'at least', not {wanted!r}")
