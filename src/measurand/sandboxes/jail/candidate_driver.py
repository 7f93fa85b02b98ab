"""Runs a candidate and answers calls of its function. It knows the arguments, never what is expected.

Everything here may be rewritten by the candidate, which runs in the same interpreter. That is why nothing
here decides anything: the worst that can be sent is a wrong value.
"""

from __future__ import annotations

import builtins
import os

from measurand.sandboxes.jail.codec import CodecError
from measurand.sandboxes.jail.inside import Channel, define, text_of

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def main(source: str, entry_point: str, channel: Channel) -> None:
    """Load the candidate, then answer calls until the channel closes."""
    loaded = attempt(load, source, entry_point)
    if loaded[0] != "returned":
        channel.send(loaded)
        return
    channel.send(("loaded",))
    while True:
        try:
            args, kwargs = channel.receive()
        except EOFError:
            return
        answer = attempt(loaded[1], *args, **kwargs)
        attempt(print, end="", flush=True)
        try:
            channel.send(answer)
        except (CodecError, RecursionError, MemoryError) as error:
            channel.send(("refused", text_of(error)))


def load(source: str, entry_point: str) -> Any:
    """The function that the source defines. Raises whatever the source raises, and NameError."""
    namespace = define("candidate", source)
    if entry_point not in namespace:
        raise NameError(f"the program does not define {entry_point}")
    return namespace[entry_point]


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """What came of a call: ("returned", value), ("raised", built-in class, text) or ("ended", class)."""
    try:
        return ("returned", function(*args, **kwargs))
    except Exception as error:  # noqa: BLE001 - whatever the candidate raises crosses as a value
        return ("raised", _builtin_class(error), text_of(error))
    except BaseException as error:  # noqa: BLE001 - an exit is an answer too
        return ("ended", type(error).__name__)


def _builtin_class(error: Exception) -> str:
    for kind in type(error).__mro__:
        if getattr(builtins, kind.__name__, None) is kind:
            return str(kind.__name__)
    return "Exception"


def run(job: tuple[Any, ...], channels: list[int]) -> None:
    """Entry: leave without running what the candidate registered for the end."""
    try:
        source, entry_point = job
        incoming, outgoing = channels
        main(source, entry_point, Channel(incoming, outgoing))
    finally:
        os._exit(0)
