"""What this machine offers for running programs nobody vouches for, and what to mend."""

from __future__ import annotations

import os
import shutil
import sys

from measurand.core.record import Record
from measurand.sandboxes import find_sandbox
from measurand.sandboxes.room import FIRST_UID


class Finding(Record, frozen=True):
    """One thing that was looked at. `mend` is empty where nothing is to be done."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


def report() -> list[Finding]:
    """Look at everything that isolation needs, the verdict first. Builds one jail and takes it down again."""
    isolation = find_sandbox().describe()
    isolated = isolation.level != "none"
    return [
        Finding(
            "isolation of programs",
            isolated,
            f"{isolation.level} by {isolation.by}: {isolation.detail}" if isolated else isolation.detail,
            "" if isolated else "until then, benchmarks that run code have no score",
        ),
        _system(),
        _bubblewrap(),
        _user(),
        _leftovers(),
    ]


def _system() -> Finding:
    linux = sys.platform == "linux"
    return Finding(
        "operating system",
        linux,
        sys.platform,
        "" if linux else "run Measurand in a Linux container or virtual machine to execute programs",
    )


def _bubblewrap() -> Finding:
    path = shutil.which("bwrap")
    return Finding(
        "bubblewrap",
        path is not None,
        path or "not found on PATH",
        "" if path else "Debian and Ubuntu: `apt-get install bubblewrap`; Fedora: `dnf install bubblewrap`",
    )


def _user() -> Finding:
    if not hasattr(os, "geteuid"):
        return Finding("user", ok=False, detail="this system has no numbered users")
    if os.geteuid() == 0:
        return Finding("user", ok=True, detail=f"root: programs run as unprivileged users from number {FIRST_UID} on")
    return Finding("user", ok=True, detail=f"number {os.geteuid()}: programs run under it, in namespaces of their own")


def _leftovers() -> Finding:
    """What was left by runs that were killed, and by their reapers too."""
    if sys.platform == "win32":
        return Finding("leftovers", ok=True, detail="nothing is executed here, so nothing is left behind")
    from measurand.sandboxes.leases import leftovers

    left = leftovers()
    if not left:
        return Finding("leftovers", ok=True, detail="none")
    return Finding(
        "leftovers",
        ok=False,
        detail="; ".join(f"{each.kind} {each.what} of process {each.owner}, since {each.since}" for each in left),
        mend="`measurand doctor --clean` removes them",
    )
