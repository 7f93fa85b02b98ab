"""Python's garbage collector, calmed while a run makes many short-lived records."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 100)
"""Allocations before a collection of each generation; Python's own 700 cost a run one part in eight of its CPU."""


@contextmanager
def seldom() -> Iterator[None]:
    """Collect seldom, and never look again at what was there before: the items, the modules. May be nested."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
