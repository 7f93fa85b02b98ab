"""Decisions that somebody stands behind: signed, superseded, listed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from measurand.core.decision import Decision, Signature, Signed
from measurand.core.errors import InputError
from measurand.core.identity import identity

if TYPE_CHECKING:
    from measurand.core.ports import Store

KEY = 16
"""Characters of a decision's identity by which it is known."""


def decision_id(decision: Decision) -> str:
    """What a signature names: a hash of the whole decision, with its rules, numbers and evidence."""
    return identity(decision)[:KEY]


def sign(store: Store, decision: Decision, by: str, *, date: str = "", supersedes: str = "") -> Signed:
    """Sign a decision and keep it. `date` is ISO and defaults to today; `supersedes` is the beginning of an id.

    Raises InputError without a name, for a decision about nothing, or one that is superseded by itself.
    """
    if not by.strip():
        raise InputError("a decision is signed by somebody: give a name with --by")
    if not decision.evidence:
        raise InputError("nothing was measured, so there is nothing to sign; carry out the study first")
    key = decision_id(decision)
    earlier = named(store.decisions(), supersedes).signature.decision if supersedes else ""
    if earlier == key:
        raise InputError(f"decision {key} cannot supersede itself; nothing in it has changed")
    signed = Signed(decision, Signature(key, by.strip(), _day(date), earlier))
    store.sign(signed)
    return signed


def named(known: Sequence[Signed], name: str) -> Signed:
    """The signed decision whose id begins with `name`. Raises InputError where there is not one."""
    found = {one.signature.decision: one for one in known if one.signature.decision.startswith(name)}
    if len(found) == 1:
        return next(iter(found.values()))
    what = "is the beginning of several decisions" if found else "is no signed decision"
    raise InputError(f"'{name}' {what}; `measurand decisions` lists them")


def superseded_by(known: Sequence[Signed], key: str) -> str:
    """The id of the decision that took the place of this one; empty while it is in force."""
    return next((one.signature.decision for one in known if one.signature.supersedes == key), "")


def _day(text: str) -> str:
    if not text:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.fromisoformat(text).date().isoformat()
    except ValueError as error:
        raise InputError(f"--date {text}: write a day as 2026-01-31") from error
