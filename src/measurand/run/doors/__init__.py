"""The doors to the world: small wrappers around a port, stacked in one order.

journal → budget → circuit → retry → limiter → port. What is replayed pays nothing and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurand.core.call import Reply
    from measurand.core.request import Request


@dataclass(slots=True)
class Ask:
    """One request on its way out: who is asked, what, for which sample, and the key its reply is kept under."""

    key: bytes
    request: Request
    role: str
    subject_id: str
    who: str
    sample_no: int = 0


Door = Callable[[Ask], "Awaitable[Reply]"]
