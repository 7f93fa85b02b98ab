"""The colours of every page, read from the style sheet, so that plots and pages cannot disagree."""

from __future__ import annotations

import functools
import re

from measurand.report.html import style_sheet

_VARIABLE = re.compile(r"--([a-z-]+):\s*(#[0-9a-f]{3,6})\b")


@functools.cache
def palette(*, dark: bool = False) -> dict[str, str]:
    """The colours by name, as `#rrggbb`, for light or dark surroundings."""
    light, _, rest = style_sheet().partition("@media (prefers-color-scheme: dark)")
    return {name: _six(colour) for name, colour in _VARIABLE.findall(rest.partition("\n}")[0] if dark else light)}


def variable(colour: str) -> str:
    """The style sheet's variable of a light colour, as `var(--ink)`. Raises KeyError for any other colour."""
    return f"var(--{_names()[colour.lower()]})"


@functools.cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for name, colour in palette().items():
        names.setdefault(colour, name)  # two variables may share a colour; in the dark they do as well
    return names


def _six(colour: str) -> str:
    return colour if len(colour) > 4 else "#" + "".join(2 * digit for digit in colour[1:])  # noqa: PLR2004 -- #rgb
