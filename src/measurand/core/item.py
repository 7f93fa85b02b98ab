"""An item: one question, document or task, its gold answer, and where it comes from."""

from __future__ import annotations

from typing import Literal

from measurand.core.message import Message
from measurand.core.record import Json, Record


class Question(Record, frozen=True, tag="question"):
    """A text and, for multiple choice, its options in the order shown."""

    text: str
    options: tuple[str, ...] = ()


class Conversation(Record, frozen=True, tag="conversation"):
    """Messages so far; the subject speaks next."""

    messages: tuple[Message, ...]


class Document(Record, frozen=True, tag="document", gc=False):
    """A text that is read, not answered (perplexity, embeddings)."""

    text: str


class Environment(Record, frozen=True, tag="environment"):
    """A task with a place to work in; `setup` is what the sandbox needs to lay it out."""

    task: str
    setup: dict[str, Json] = {}


ItemInput = Question | Conversation | Document | Environment


class Row(Record, frozen=True, tag="row", gc=False):
    """A row of a data set. `made` says whether people met this item in life or somebody wrote it."""

    source: str
    row: int
    made: Literal["real", "synthetic", "unstated"] = "unstated"


class Perturbed(Record, frozen=True, tag="perturbed", gc=False):
    """Another item, changed by a named perturbation."""

    item: str
    by: str


class Judged(Record, frozen=True, tag="judged"):
    """Trials of other runs, shown to a judge or an annotator."""

    trials: tuple[str, ...]
    shown_as: str


class Imported(Record, frozen=True, tag="imported", gc=False):
    """Read from another tool's log."""

    log: str


Origin = Row | Perturbed | Judged | Imported


class Item(Record, frozen=True):
    """One thing a subject is asked.

    `gold` is a JSON value whose shape the scorer documents. `slices` are the named groups the item belongs
    to. `cluster` ties items that are not independent (one passage, many questions). `language` is a BCP 47
    tag, empty where unstated. `files` maps names to blob hashes.
    """

    id: str
    input: ItemInput
    gold: Json = None
    slices: dict[str, str] = {}
    cluster: str = ""
    language: str = ""
    files: dict[str, str] = {}
    origin: Origin | None = None
