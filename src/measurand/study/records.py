"""The records that a study file maps on, one to one. An unknown key is an error."""

from __future__ import annotations

from typing import Literal

from measurand.core.claim import Claim
from measurand.core.record import Record
from measurand.core.subject import Passes


class PrivateSet(Record, frozen=True, kw_only=True):
    """An evaluation of one's own, from a data file whose columns are mapped by name.

    `question` or `conversation` names the column that is asked; `answer` the column with the gold answer (a
    text, a list of acceptable ones, a number, an option, a JSON schema). `scoring` is a scorer's name, or
    `perplexity` where texts are read in windows of `window` tokens (and a `stride`, 0 for disjoint ones), or
    `column:NAME` where each row names its own, `assert:NAME` (as `assert:not-contains`), or
    `python:module:function`. `made` is real, synthetic, or `column:NAME`. `prompt` and `system` are templates that may
    use {{column}} names. `style` says whether the items are like what users ask; `tuned` that they were looked at
    while a prompt was written.
    """

    file: str
    name: str = ""
    question: str = ""
    conversation: str = ""
    answer: str = ""
    options: str = ""
    rubric: str = ""
    scoring: str = "exact"
    normalise: tuple[str, ...] = ()
    tolerance: float = 0.0
    slices: tuple[str, ...] = ()
    id: str = ""
    cluster: str = ""
    language: str = ""
    made: str = "unstated"
    system: str = ""
    prompt: str = ""
    max_tokens: int = 512
    temperature: float = 0.0
    samples: int = 1
    subset_size: int | None = None
    seed: int = 0
    stratify: str = ""
    local_only: bool = False
    window: int = 1024
    stride: int = 0
    style: Literal["quiz", "ask"] = "ask"
    tuned: bool = False


class PublicBenchmark(Record, frozen=True, kw_only=True):
    """A public benchmark in a study. `max_tokens` is for each reply; it makes another protocol, as a subset does."""

    name: str
    subset_size: int | None = None
    seed: int = 0
    samples: int | None = None
    max_tokens: int | None = None


class Candidate(Record, frozen=True, kw_only=True):
    """A subject of a study, with what is declared about it. `spec` alone may stand as a text.

    `price` is US dollars for a million tokens, in and out. `cutoff` is the date up to which it was trained, `version`
    what its maker calls it. `passes` declares that one answer rests on several, as of a search; such a subject never
    shares a rank with a single pass. `changed` lists what differs from the subject in present use. `simulated` says
    that its replies are made up.
    """

    spec: str
    name: str = ""
    version: str = ""
    base_url: str = ""
    key_env: str = ""
    api_version: str = ""
    price: tuple[float, float] | None = None
    cutoff: str = ""
    weights: Literal["open", "closed", "unstated"] = "unstated"
    licence: str = ""
    passes: Passes = "single pass"
    changed: tuple[str, ...] = ()
    simulated: bool = False

    @property
    def label(self) -> str:
        """The name in every table of the study."""
        if self.name:
            return self.name
        kind, _, name = self.spec.partition(":")
        return name.rpartition("/")[2].partition(".jsonl")[0] if kind == "replay" else name or kind


class Arm(Record, frozen=True, kw_only=True):
    """One arm of a method study: the same training with different seeds, each a subject by name."""

    name: str
    subjects: tuple[str, ...]


class ProductionLog(Record, frozen=True, kw_only=True):
    """A log of what users did with replies, whose columns are mapped by name.

    `action` holds accepted, edited, abandoned, up or down; or `accepted` names a column of yes and no. `shown` and
    `kept` are the text that was offered and what the user made of it. `subject` says whose reply it was.
    """

    file: str
    subject: str = ""
    user: str = ""
    cohort: str = ""
    action: str = ""
    accepted: str = ""
    shown: str = ""
    kept: str = ""


class Study(Record, frozen=True, kw_only=True):
    """A question, the subjects it is about, what they are asked, and the rules that decide.

    `claim` is what the answer is about. `decide_on` names the scenario that decides; without it, the first private
    set. `present` is the subject in use today. `accept_difference` names differences of protocol that are accepted,
    as `measurand compare` prints them. `slices` adds slices to those of the sets: any field, `length`, `language`, or
    two crossed as `language*kind`. `published` is a CSV of leaderboard numbers to stand beside.
    `sequential` says that the items may be extended until the rules decide: intervals then hold at all looks.
    """

    name: str
    question: str
    subjects: tuple[str | Candidate, ...]
    sets: tuple[PrivateSet, ...] = ()
    benchmarks: tuple[PublicBenchmark, ...] = ()
    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    claim: Claim | None = None
    rules: tuple[str, ...] = ()
    decide_on: str = ""
    present: str = ""
    accept_difference: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    logs: tuple[ProductionLog, ...] = ()
    published: str = ""
    sequential: bool = False

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The subjects, each as a record."""
        return tuple(Candidate(spec=one) if isinstance(one, str) else one for one in self.subjects)
