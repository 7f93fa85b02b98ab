"""A run: one benchmark and one subject. A plan: all that will be done, before anything is paid for."""

from __future__ import annotations

from measurand.core.claim import AboutModel, Claim
from measurand.core.identity import digest
from measurand.core.record import Json, Record
from measurand.core.subject import Facts, Subject


class Conditions(Record, frozen=True):
    """What held while a run was made: shown and compared, never part of its identity.

    `subject` holds what the subject says of how it computes. `isolation` names the level, and all levels where
    sessions of the run had different ones; `isolation_detail` its limits, users and measured factor.
    """

    measurand: str = ""
    python: str = ""
    platform: str = ""
    isolation: str = ""
    served_as: tuple[str, ...] = ()
    data_stand_ins: tuple[str, ...] = ()
    allowed_endpoints: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    isolation_detail: str = ""


class Run(Record, frozen=True):
    """One benchmark by one subject. `protocol` and `subject_id` are full hashes.

    `recipe` is what a private benchmark was made from, so that its stored replies can be scored again. Only the
    protocol, the subject and the occasion make the identity.
    """

    benchmark: str
    protocol: str
    subject: Subject
    subject_id: str
    n_items: int
    samples: int
    occasion: str = ""
    claim: Claim = AboutModel()
    facts: Facts | None = None
    conditions: Conditions = Conditions()
    recipe: dict[str, Json] = {}

    @property
    def id(self) -> str:
        """What is measured, of whom, and when on purpose: 16 hexadecimal characters. Resuming needs no more."""
        return digest(self.protocol.encode(), self.subject_id.encode(), self.occasion.encode()).hex()[:16]

    @property
    def n_planned(self) -> int:
        """Trials in the plan."""
        return self.n_items * self.samples


class Slot(Record, frozen=True, gc=False):
    """One planned trial: the item's place in the plan, and which sample of it."""

    item_no: int
    sample_no: int
    member: str = ""


def trial_name(run: str, slot: Slot) -> str:
    """The name by which a call, a reading or a score refers to a trial."""
    name = f"{run}/{slot.item_no}/{slot.sample_no}"
    return f"{name}/{slot.member}" if slot.member else name


class Shard(Record, frozen=True):
    """The unit of batching and of spreading work: slots that are done together."""

    no: int
    slots: tuple[Slot, ...]


class Plan(Record, frozen=True):
    """What will run, and what it is expected to take.

    `detectable` is the smallest true difference between two subjects that the plan would find four times in
    five at the 5 % level, paired and unpaired, in the unit of the headline metric. Token counts are
    estimates from text length. `cost` is in US dollars, None without a price.
    """

    run: Run
    n_trials: int
    n_done: int
    n_requests: int
    n_replayable: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    detectable_unpaired: float | None = None
    detectable_paired: float | None = None
    notes: tuple[str, ...] = ()
