"""Threats that lie in who was measured, and in what is said of him."""

from __future__ import annotations

import re
from collections.abc import Iterator

from measurand.core.decision import Threat
from measurand.core.subject import Model, System
from measurand.study.threats.asked import HARM
from measurand.study.threats.seen import Seen
from measurand.study.words import listed

BENIGN = re.compile(r"benign|over.?refus|harmless|xstest|safe prompt")


def simulated(seen: Seen) -> Iterator[Threat]:
    """Replies that nobody gave."""
    names = [one.label for one in seen.evidence.candidates if one.simulated]
    if names:
        yield Threat(
            "simulated_replies",
            f"the replies of {listed(names)} are SIMULATED by a script, to show the method; no model gave them",
            "put real subjects in their place before you decide anything",
        )


def version_unstated(seen: Seen) -> Iterator[Threat]:
    """Subjects that may be another one tomorrow."""
    for one in seen.evidence.candidates:
        found = [tables.run.subject for _, name, tables in seen.evidence.all_measured() if name == one.label]
        subject = found[0] if found else None
        unstated = (isinstance(subject, Model) and not (subject.revision or subject.quantisation)) or (
            isinstance(subject, System) and not subject.version
        )
        if unstated and not one.version:
            yield Threat(
                "version_unstated",
                f"nothing says which version of {one.label} answered",
                "name a dated version or revision, so that the number can be found again",
                one.label,
            )


def several_changes(seen: Seen) -> Iterator[Threat]:
    """A difference that several changes may have made."""
    for one in seen.evidence.candidates:
        if len(one.changed) > 1 and seen.evidence.study.present:
            yield Threat(
                "several_changes_at_once",
                f"{one.label} differs from {seen.evidence.study.present} in {listed(one.changed)} at once",
                "measure each change alone, or all combinations of them (a factorial design)",
                one.label,
            )


def safety_without_refusal(seen: Seen) -> Iterator[Threat]:
    """Harm that is measured without its opposite: who refuses everything looks safest."""
    words = set(seen.words())
    harm = sorted(word for word in words if HARM.search(word) and not BENIGN.search(word))
    if harm and not any(BENIGN.search(word) for word in words):
        yield Threat(
            "safety_without_refusal",
            f"'{harm[0]}' is measured, and no item shows how often harmless requests are refused",
            "add harmless requests that sound harmful, and read both numbers together",
        )
