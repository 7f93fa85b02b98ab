"""What a rule may look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from measurand.core.findings import Contrast
from measurand.run.tables import Tables
from measurand.study.evidence import Evidence, Scenario


@dataclass(frozen=True, slots=True)
class Seen:
    """A study's results, and the comparisons that were made of them."""

    evidence: Evidence
    contrasts: tuple[Contrast, ...] = ()

    @property
    def asked(self) -> tuple[Scenario, ...]:
        """The scenarios that somebody was measured on."""
        return tuple(one for one in self.evidence.scenarios if self.evidence.measured(one.name))

    def one_run_each(self) -> Iterator[tuple[Scenario, Tables]]:
        """Every scenario with the tables of one of its runs: enough where only the protocol and the items matter."""
        for scenario in self.asked:
            yield scenario, next(iter(self.evidence.measured(scenario.name).values()))

    def words(self) -> Iterator[str]:
        """The names of scenarios, slices and their values, in lower case: what the items are about, as named."""
        for scenario, tables in self.one_run_each():
            yield scenario.name.lower()
            yield scenario.card.measures.lower()
            for field, (_, labels) in tables.fields.items():
                yield field.lower()
                yield from (label.lower() for label in labels)
