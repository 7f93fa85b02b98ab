"""What the outside must offer. Ports speak records only; each has a fake and one conformance suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from measurand.core.benchmark import Ability
from measurand.core.call import Asked, Call, Ran, Reply
from measurand.core.record import Json, Record

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from measurand.core.decision import Signed
    from measurand.core.errors import CallError
    from measurand.core.item import Item
    from measurand.core.program import Program, Result
    from measurand.core.protocol import Protocol as ProtocolRecord
    from measurand.core.request import Request
    from measurand.core.run import Run, Slot
    from measurand.core.source import Source
    from measurand.core.subject import Subject
    from measurand.core.summary import Spent
    from measurand.core.trial import Reading, Score, Trial
    from measurand.core.workspace import CommandResult, Entry


class Abilities(Record, frozen=True):
    """What a provider can do. `loglikelihood` is `next_token` where only one-token options can be measured.

    `local` says that requests never leave this machine. `concurrency` is the most requests it takes at once
    (None: find out). `bounded` promises that every reply ends by a deadline of the provider's own. `conditions` are
    sentences that must stand beside the numbers it gives by an ability: precision, device, what nobody can verify.
    """

    can: tuple[Ability, ...]
    loglikelihood: Literal["none", "next_token", "any"] = "none"
    local: bool = False
    concurrency: int | None = None
    bounded: bool = False
    conditions: dict[Ability, str] = {}


@runtime_checkable
class Provider(Protocol):
    """Something that answers requests. Retries, limits, the journal and logging are outside it."""

    @property
    def subject(self) -> Subject:
        """Who answers."""
        ...

    def describe(self) -> Abilities:
        """What it can do. Must not touch the network."""
        ...

    async def start(self) -> None:
        """Open connections or start a server; called once in the loop that will ask."""
        ...

    async def reply(self, request: Request) -> Reply:
        """Answer one request. Raises CallFailedError or CallBlockedError, and nothing else."""
        ...

    async def close(self) -> None:
        """Release everything. May be called twice."""
        ...


@runtime_checkable
class BatchProvider(Protocol):
    """A provider that is faster on many requests at once."""

    size: int

    def affinity(self, request: Request) -> str:
        """A sort key: requests that share work sort together."""
        ...

    async def replies(self, requests: Sequence[Request]) -> Sequence[Reply | CallError]:
        """Answer all, in order; a failure takes the place of its own reply only."""
        ...


@runtime_checkable
class SampleProvider(Protocol):
    """A provider that keeps several replies to one request, and must know for which sample of an item it is asked."""

    async def sample(self, request: Request, sample_no: int) -> Reply:
        """Answer one request of the sample, counted from 0. Raises as `reply` does."""
        ...


class Isolation(Record, frozen=True):
    """How programs are isolated: the level found by trying, and a sentence for people.

    At level `none` nothing is run, unless that was `accepted`, by name and for one run.
    """

    level: Literal["container", "namespaces", "none"]
    by: str
    detail: str = ""
    accepted: bool = False


class Sandbox(Protocol):
    """A place to run what nobody vouches for."""

    def describe(self) -> Isolation:
        """The isolation found by trying it; `none` carries the reason and the remedy."""
        ...

    async def run(self, program: Program) -> Result:
        """Run one program to its end or its limits. Raises SandboxError where nothing can be isolated."""
        ...

    async def close(self) -> None:
        """Leave nothing behind."""
        ...


class Workspace(Protocol):
    """A folder with a shell, for one trial of an agent. What answers no more raises SandboxDeadError.

    Paths are relative to the folder, or below `/work`; for others, and for what is no regular file, InputError.
    """

    async def run(self, command: str, seconds: float) -> CommandResult:
        """Run a shell command after those before it; after so many seconds it is killed."""
        ...

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes of a file."""
        ...

    async def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file in place of whatever has its name."""
        ...

    async def entries(self, folder: str = "") -> list[Entry]:
        """What is below a folder, in order."""
        ...


class Workspaces(Protocol):
    """Where agents work: any number of workspaces over one base that none of them can change."""

    def describe(self) -> Isolation:
        """The isolation found by trying it; `none` carries the reason and the remedy."""
        ...

    def open(self) -> AbstractAsyncContextManager[Workspace]:
        """A fresh one, until the context ends; then nothing of it is left. Raises SandboxError on entering."""
        ...


class Rows(Record, frozen=True):
    """The rows of a source, and the SHA-256 of the bytes they were read from.

    `stands_in` is the local file that was read instead of the declared source, if one was.
    """

    rows: list[dict[str, Json]]
    sha256: str
    stands_in: str = ""


class Data(Protocol):
    """Where rows come from."""

    def rows(self, name: str, source: Source) -> Rows:
        """Read a source of the benchmark `name`. Raises DataError with file and line."""
        ...


class Doors(Protocol):
    """All that a scaffold may do to the world."""

    async def ask(self, role: str, request: Request) -> Reply:
        """Ask whoever plays the role. Journalled before it is returned."""
        ...

    async def execute(self, program: Program) -> Result:
        """Run a program in isolation."""
        ...


class CallMade(Record, frozen=True):
    """A call of a trial, by its key in the journal, or whole where it is not to be replayed (a scorer's program)."""

    role: str
    key: bytes = b""
    ran: Ran | None = None


class Session(Record, frozen=True):
    """One process's work on a run. `unclean` is how many requests earlier sessions may have paid for in vain."""

    id: int
    unclean: int = 0


class Store(Protocol):
    """The journal of calls, and everything derived from it. One writer's batches are committed together."""

    def open_run(self, run: Run, protocol: ProtocolRecord, items: Iterable[Item]) -> None:
        """Write the run, its protocol, subject and items, once; a second time changes only the conditions."""
        ...

    def begin_session(self, run: str, concurrency: int) -> Session:
        """Note that this process works on the run."""
        ...

    def end_session(self, session: int, in_flight: int) -> None:
        """Note that it stopped on purpose, leaving this many requests unanswered."""
        ...

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Reply | Result]:
        """What the journal holds under these keys; a reply says since when in `replayed_from`."""
        ...

    async def record(self, key: bytes, subject_id: str, what: Asked | Ran) -> None:
        """Write a call to the journal; returns when it is committed. Only successes are recorded."""
        ...

    def finish(self, slot: Slot, trial: Trial, calls: Sequence[CallMade], marks: Sequence[Reading | Score]) -> None:
        """Hand over a finished trial, with what it called and how it was marked; written with the next batch.

        A trial that the slot already has is replaced.
        """
        ...

    async def flush(self) -> None:
        """Return when all that was handed over is committed."""
        ...

    def done(self, run: str) -> Iterator[tuple[Slot, str]]:
        """The slots that have a trial, and the name of its outcome; none for a run that is not there yet."""
        ...

    def runs(self) -> list[Run]:
        """All runs, the latest first."""
        ...

    def protocol(self, run: str) -> ProtocolRecord:
        """The protocol of a run."""
        ...

    def items(self, run: str) -> Iterator[Item]:
        """The items of a run, in the order of the plan."""
        ...

    def trials(self, run: str) -> Iterator[tuple[Slot, Trial]]:
        """The trials of a run, in the order of the plan."""
        ...

    def scores(self, run: str) -> Iterator[tuple[Slot, Score]]:
        """The scores of a run, in the order of the plan."""
        ...

    def readings(self, run: str, slot: Slot | None = None) -> Iterator[tuple[Slot, Reading]]:
        """The readings of a run, or of one trial, in the order of the plan."""
        ...

    def calls(self, run: str, slot: Slot) -> list[Call]:
        """Every call of one trial, as sent and as received."""
        ...

    def spent(self, run: str) -> Spent:
        """The requests and tokens of a run's trials; what is older than its first session was replayed."""
        ...

    def sign(self, signed: Signed) -> None:
        """Keep a signed decision. What one person signed twice stays as it was first."""
        ...

    def decisions(self) -> list[Signed]:
        """The signed decisions, the latest first."""
        ...

    def close(self) -> None:
        """Commit and close."""
        ...
