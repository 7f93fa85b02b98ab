"""Threats to validity: reasons why a number may not mean what it seems to, found by rules over records and cards.

Each rule is a small pure function that yields threats, with the evidence for them and what would remove them. To add
one, write it in the file of what it looks at, and name it in RULES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from measurand.core.decision import Threat
from measurand.core.findings import Contrast
from measurand.study.evidence import Evidence
from measurand.study.threats import asked, numbers, subjects
from measurand.study.threats.seen import Seen

RULES: tuple[Callable[[Seen], Iterator[Threat]], ...] = (
    subjects.simulated,
    asked.quiz_only,
    asked.unmeasured_dimension,
    numbers.within_noise,
    numbers.ranking_flips,
    numbers.missing_share,
    numbers.truncated,
    numbers.worst_slice,
    numbers.few_items,
    asked.public_before_cutoff,
    asked.saturated,
    asked.not_canonical,
    asked.known_errata,
    asked.synthetic_items,
    asked.no_hard_slice,
    asked.tuned_on_test,
    asked.few_exemplar_orders,
    asked.imported_without_protocol,
    numbers.judge_not_calibrated,
    subjects.safety_without_refusal,
    numbers.pass_at_k_of_few,
    numbers.saturated_k,
    numbers.looks,
    subjects.version_unstated,
    subjects.several_changes,
)
"""In the order in which a report shows them: what weighs most comes first."""


def threats(evidence: Evidence, contrasts: Iterable[Contrast]) -> tuple[Threat, ...]:
    """Every threat to what a study concludes."""
    seen = Seen(evidence, tuple(contrasts))
    return tuple(threat for rule in RULES for threat in rule(seen))
