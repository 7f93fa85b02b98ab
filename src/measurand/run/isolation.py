"""How the programs of a run are isolated: demanded before anything is asked, and told in its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from measurand.core.errors import SandboxError

if TYPE_CHECKING:
    from measurand.core.ports import Sandbox, Store
    from measurand.core.run import Run

_THEN = ", then "


def demand_isolation(sandbox: Sandbox) -> None:
    """Raise SandboxError with what is lacking where programs could not be run."""
    found = sandbox.describe()
    if found.level == "none" and not found.accepted:
        raise SandboxError(f"this benchmark runs programs that nobody vouches for, and {found.detail}")


def with_isolation(run: Run, sandbox: Sandbox, store: Store) -> Run:
    """The run with its isolation in its conditions, after that of earlier sessions, if theirs was another."""
    found = sandbox.describe()
    isolation = f"{found.level} by {found.by}"
    before = next((known.conditions.isolation for known in store.runs() if known.id == run.id), "")
    levels = [*filter(None, before.split(_THEN))]
    if isolation not in levels:
        levels.append(isolation)
    conditions = replace(run.conditions, isolation=_THEN.join(levels), isolation_detail=found.detail)
    return replace(run, conditions=conditions)


def is_unconfined(run: Run) -> bool:
    """Whether programs of the run were executed without isolation, be it in one session."""
    return any(level.startswith("none ") for level in run.conditions.isolation.split(_THEN))
