"""The orders in which options can be shown, so that a preference for a place can be told from one for an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

from measurand.core.errors import InputError

Order = tuple[int, ...]
"""Which option of the item stands in each place."""

MOST = 5
"""Options of which all orders are asked at most: six have 720."""


def cyclic(count: int) -> tuple[Order, ...]:
    """As many orders as options, in which each option stands once in each place."""
    return tuple(tuple((place + shift) % count for place in range(count)) for shift in range(count))


def every(count: int) -> tuple[Order, ...]:
    """All orders, the item's own first. Raises InputError for more than five options."""
    if count > MOST:
        raise InputError(f"{count} options have too many orders to ask them all: ask the cyclic ones")
    return tuple(permutations(range(count)))


def in_own_order(values: Iterable[Sequence[float]], orders: Sequence[Order]) -> tuple[float, ...]:
    """What each order's places got, put back into the item's own order, one order after the other."""
    found: list[float] = []
    for shown, order in zip(values, orders, strict=True):
        by_option = dict(zip(order, shown, strict=True))
        found += (by_option[option] for option in range(len(order)))
    return tuple(found)
