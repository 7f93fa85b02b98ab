"""How work grows with its size: what a test may say of speed on a machine that it does not know."""

import gc
from collections.abc import Callable
from time import thread_time

FLOOR = 0.25
"""CPU seconds below which nothing is judged, since overheads would decide; what is quadratic is far above."""
STEEP = 40.0
"""Between what ten times the size costs where work is linear (10) and where it is quadratic (100)."""


def assert_grows_gently(work: Callable[[int], object], size: int, what: str = "") -> None:
    """Fail where ten times the size costs more than forty times the work.

    Both are this thread's processor time on this machine at this moment, so a slow or busy one changes nothing.
    """
    work(size // 100)  # what is loaded when it is first needed
    whole = _spent(work, size)
    if whole > FLOOR:
        part = _spent(work, size // 10)
        assert whole <= STEEP * part, f"{what} size {size} took {whole:.2f} s, a tenth of it {part:.4f} s"


def _spent(work: Callable[[int], object], size: int) -> float:
    """Without collections of garbage: they go through all that the other tests have left, which takes seconds."""
    gc.disable()
    try:
        started = thread_time()
        work(size)
        return thread_time() - started
    finally:
        gc.enable()
