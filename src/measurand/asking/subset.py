"""A seeded sample of the items, the same on every machine and in every version of Python."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

from measurand.core.benchmark import Subset
from measurand.core.errors import InputError
from measurand.core.item import Item


def take_subset(items: Sequence[Item], subset: Subset) -> tuple[Item, ...]:
    """The sample, in the order of the data.

    An item's lot is a hash of the seed and its id; those with the smallest are taken, so a larger sample holds the
    smaller one of the same seed where nothing is stratified. With `stratify`, each value of that slice gets its share
    of the size, rounded by largest remainder (ties to the value that comes first in the alphabet).

    Raises InputError for a size that is not between 1 and the number of items, and for an item without the slice.
    """
    if not 1 <= subset.size <= len(items):
        message = (
            f"a subset of {subset.size} cannot be taken from {len(items)} items; give a size from 1 to {len(items)}"
        )
        raise InputError(message)
    taken: set[int] = set()
    strata = _strata(items, subset.stratify)
    for value, size in _shares({value: len(places) for value, places in strata.items()}, subset.size).items():
        ranked = sorted(strata[value], key=lambda place: (_lot(subset.seed, items[place].id), place))
        taken.update(ranked[:size])
    return tuple(items[place] for place in sorted(taken))


def _strata(items: Sequence[Item], name: str) -> dict[str, list[int]]:
    strata: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if name and name not in item.slices:
            message = f"item {item.id} has no slice {name!r} to stratify by; name a slice that all items have"
            raise InputError(message)
        strata.setdefault(item.slices[name] if name else "", []).append(place)
    return strata


def _shares(counts: dict[str, int], size: int) -> dict[str, int]:
    """Hamilton's method. Exact fractions, so that no rounding of floats decides a seat."""
    quotas = {value: Fraction(size * count, sum(counts.values())) for value, count in counts.items()}
    shares = {value: int(quota) for value, quota in quotas.items()}
    by_remainder = sorted(counts, key=lambda value: (shares[value] - quotas[value], value))
    for value in by_remainder[: size - sum(shares.values())]:
        shares[value] += 1
    return shares


def _lot(seed: int, item_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{item_id}".encode("utf-8", "backslashreplace")).digest()
