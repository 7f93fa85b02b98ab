"""Places to run what nobody vouches for: programs written by models. No isolation, no execution."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from measurand.core.ports import Sandbox


def accept_none(sentence: str, found: Sandbox) -> Sandbox:
    """The sandbox that was found, or, where it isolates nothing, one that runs programs nevertheless.

    Raises InputError unless the sentence is the one that accepts this.
    """
    if sys.platform == "linux":
        from measurand.sandboxes.unconfined import accept

        return accept(sentence, found)
    from measurand.core.errors import InputError

    raise InputError("only on Linux can programs be run without isolation; leave --no-isolation out")


def find_sandbox(parallel: int | None = None, prefer: Literal["", "namespaces", "docker"] = "") -> Sandbox:
    """The best sandbox of this machine. Nothing is tried before it is asked to describe itself or to run.

    `parallel` is how many programs may run at once; by default one more than there are cores. Namespaces are tried
    first, for they are much faster than containers; `prefer` allows one of the two only. Where nothing can isolate,
    the sandbox refuses every program with a SandboxError that says what is missing.
    """
    if sys.platform == "linux":
        from measurand.sandboxes.bubblewrap import Bubblewrap
        from measurand.sandboxes.choice import FirstThatWorks
        from measurand.sandboxes.docker import Docker
        from measurand.sandboxes.forkserver import ForkServer

        found: list[Sandbox] = [] if prefer == "docker" else [ForkServer(parallel), Bubblewrap(parallel)]
        return FirstThatWorks(found if prefer == "namespaces" else [*found, Docker(parallel)])
    from measurand.sandboxes.refuse import NoSandbox

    return NoSandbox(
        f"programs cannot be isolated on {sys.platform}, so none is run: run Measurand in a Linux container "
        "(Docker) or on a Linux machine with bubblewrap"
    )
