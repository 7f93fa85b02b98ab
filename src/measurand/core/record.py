"""The base of every record: frozen, strict on unknown fields, stored without its defaults."""

from __future__ import annotations

from typing import Any

import msgspec

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


class Record(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """A frozen value without behaviour of its own.

    A field that holds its default is left out of the encoding, so a new field at its default leaves
    every earlier identity as it was (law 15). Defaults therefore never change.
    """
