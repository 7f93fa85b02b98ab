"""The store that ends with the process: the port in plain dictionaries, for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from measurand.core.call import Asked, Call, Ran, Reply
from measurand.core.decision import Signed
from measurand.core.errors import StoreError
from measurand.core.item import Item
from measurand.core.outcome import outcome_name
from measurand.core.ports import CallMade, Session
from measurand.core.program import Result
from measurand.core.protocol import Protocol
from measurand.core.run import Run, Slot, trial_name
from measurand.core.summary import Spent
from measurand.core.trial import Reading, Score, Trial
from measurand.store.entries import as_iso, finished, now, recorded

_Kept = tuple[Trial, Sequence[CallMade], Sequence[Reading | Score]]


class MemoryStore:
    """Implements the port `Store`. What the store of a file refuses, this refuses too."""

    def __init__(self) -> None:
        self._journal: dict[bytes, tuple[str, Asked | Ran, int]] = {}
        self._runs: dict[str, tuple[Run, Protocol, tuple[Item, ...]]] = {}
        self._began: dict[str, int] = {}
        self._trials: dict[str, dict[Slot, _Kept]] = {}
        self._sessions: list[str] = []
        self._lost: dict[str, int] = {}
        self._decisions: dict[tuple[str, str], Signed] = {}
        self._closed = False

    def open_run(self, run: Run, protocol: Protocol, items: Iterable[Item]) -> None:
        """Keep the run, its protocol and items; a second time only its conditions."""
        self._refuse_if_closed()
        if run.id in self._runs:
            old, first_protocol, first_items = self._runs[run.id]
            changed = msgspec.structs.replace(old, conditions=run.conditions)
            self._runs[run.id] = (changed, first_protocol, first_items)
        else:
            self._runs[run.id] = (run, protocol, tuple(items))
            self._trials[run.id] = {}

    def begin_session(self, run: str, concurrency: int) -> Session:  # noqa: ARG002 - this process cannot outlive it
        """Note a session. Only sessions that ended with requests in flight can be unclean here."""
        self._run(run)
        self._began.setdefault(run, now())
        self._sessions.append(run)
        return Session(len(self._sessions), self._lost.pop(run, 0))

    def end_session(self, session: int, in_flight: int) -> None:
        """Note that it stopped, with this many requests unanswered."""
        run = self._sessions[session - 1]
        self._lost[run] = self._lost.get(run, 0) + in_flight

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Reply | Result]:
        """What the journal holds under these keys; a reply says since when."""
        found: dict[bytes, Reply | Result] = {}
        for key in keys:
            if key in self._journal:
                _, what, at = self._journal[key]
                replayed = {"replayed_from": as_iso(at)}
                found[key] = what.result if isinstance(what, Ran) else msgspec.structs.replace(what.reply, **replayed)
        return found

    async def record(self, key: bytes, subject_id: str, what: Asked | Ran) -> None:
        """Keep a call. The first under a key stays."""
        self._refuse_if_closed()
        recorded(key, subject_id, what)
        self._journal.setdefault(key, (subject_id, what, now()))

    def finish(self, slot: Slot, trial: Trial, calls: Sequence[CallMade], marks: Sequence[Reading | Score]) -> None:
        """Keep a finished trial, in place of what the slot had."""
        self._refuse_if_closed()
        items = self._run(trial.run)[2]
        finished((0, 0), slot, trial, calls, marks)
        known = slot.item_no < len(items) and items[slot.item_no].id == trial.item
        if not known or any(made.ran is None and made.key not in self._journal for made in calls):
            raise StoreError("The store was handed a trial that names an item or a call it does not hold.")
        self._trials[trial.run][slot] = (trial, tuple(calls), tuple(marks))

    async def flush(self) -> None:
        """Nothing waits."""
        self._refuse_if_closed()

    def done(self, run: str) -> Iterator[tuple[Slot, str]]:
        """The slots that have a trial, and the names of their outcomes; none for a run that is not there yet."""
        if run not in self._runs:
            return iter(())
        return ((slot, outcome_name(trial.outcome)) for slot, (trial, _, _) in self._in_order(run))

    def runs(self) -> list[Run]:
        """All runs, the latest first."""
        return [run for run, _, _ in reversed(self._runs.values())]

    def protocol(self, run: str) -> Protocol:
        """The protocol of a run."""
        return self._run(run)[1]

    def items(self, run: str) -> Iterator[Item]:
        """The items of a run, in the order of the plan."""
        return iter(self._run(run)[2])

    def trials(self, run: str) -> Iterator[tuple[Slot, Trial]]:
        """The trials of a run, in the order of the plan."""
        return ((slot, trial) for slot, (trial, _, _) in self._in_order(run))

    def scores(self, run: str) -> Iterator[tuple[Slot, Score]]:
        """The scores of a run, in the order of the plan."""
        for slot, (_, _, marks) in self._in_order(run):
            yield from ((slot, mark) for mark in marks if isinstance(mark, Score))

    def readings(self, run: str, slot: Slot | None = None) -> Iterator[tuple[Slot, Reading]]:
        """The readings of a run, or of one trial, in the order of the plan."""
        for at, (_, _, marks) in self._in_order(run):
            if slot in {None, at}:
                yield from ((at, mark) for mark in marks if isinstance(mark, Reading))

    def calls(self, run: str, slot: Slot) -> list[Call]:
        """Every call of one trial, as sent and as received."""
        _, made, _ = self._trials[self._run(run)[0].id].get(slot, (None, (), ()))
        return [_call(trial_name(run, slot), step, one, self._journal) for step, one in enumerate(made)]

    def spent(self, run: str) -> Spent:
        """The requests and tokens of a run's trials; what is older than its first session was replayed."""
        asked: list[tuple[Reply, int]] = []
        for _, (_, made, _) in self._in_order(run):
            for _, what, at in (self._journal[one.key] for one in made if one.ran is None):
                if isinstance(what, Asked):
                    asked.append((what.reply, at))
        older = [at for _, at in asked if at < self._began.get(run, 0)]
        return Spent(
            requests=len(asked),
            replayed=len(older),
            replayed_since=as_iso(min(older)) if older else "",
            input_tokens=sum(reply.usage.input or 0 for reply, _ in asked),
            output_tokens=sum(reply.usage.output or 0 for reply, _ in asked),
        )

    def sign(self, signed: Signed) -> None:
        """Keep a signed decision. What one person signed twice stays as it was first."""
        self._refuse_if_closed()
        self._decisions.setdefault((signed.signature.decision, signed.signature.by), signed)

    def decisions(self) -> list[Signed]:
        """The signed decisions, the latest first."""
        return list(reversed(self._decisions.values()))

    def close(self) -> None:
        """Take nothing more."""
        self._closed = True

    def _run(self, run: str) -> tuple[Run, Protocol, tuple[Item, ...]]:
        if run not in self._runs:
            raise StoreError(f"The store has no run {run}; `measurand ls` lists those it has.")
        return self._runs[run]

    def _in_order(self, run: str) -> list[tuple[Slot, _Kept]]:
        def place(entry: tuple[Slot, _Kept]) -> tuple[int, int, str]:
            return entry[0].item_no, entry[0].sample_no, entry[0].member

        return sorted(self._trials[self._run(run)[0].id].items(), key=place)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError("The store is closed; open it again.")


def _call(owner: str, step: int, made: CallMade, journal: dict[bytes, tuple[str, Asked | Ran, int]]) -> Call:
    if made.ran is not None:
        return Call(owner, step, made.role, "", "", made.ran)
    subject, what, _ = journal[made.key]
    return Call(owner, step, made.role, subject, made.key.hex(), what)
