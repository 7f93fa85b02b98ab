"""Faults of an asking that can be seen before anything is paid for."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.core.item import Conversation, Environment, Item, Question
from measurand.core.record import Json, Record


class StopFault(Record, frozen=True):
    """A stop string that would cut off good answers, why, and the texts that it would cut."""

    stop: str
    why: str
    texts: tuple[str, ...] = ()


class ItemFault(Record, frozen=True):
    """An item that asks nothing, or has nothing to be right about."""

    item: str
    why: str


def lint_stop(stop: Sequence[str], golds: Sequence[Json] = (), samples: Sequence[str] = ()) -> tuple[StopFault, ...]:
    """The stop strings that are not safe.

    A stop string inside a gold makes that gold unreachable; inside a good reply (`samples`) it cuts that reply; a
    bare word cuts whatever uses the word; an empty one cuts everything. A newline before a word makes it safe to
    use: what begins a line is seldom part of a sentence.
    """
    written = [text for gold in golds for text in _texts(gold)]
    faults: list[StopFault] = []
    for one in stop:
        if not one:
            faults.append(StopFault(one, "it is empty"))
            continue
        if cut := tuple(text for text in written if one in text):
            faults.append(StopFault(one, "it occurs in golds, which can then not be given", cut))
        if cut := tuple(text for text in samples if one in text):
            faults.append(StopFault(one, "it occurs in good replies, which it would cut", cut))
        if one.strip(" \t").isalnum():
            faults.append(StopFault(one, "it is a bare word, which any sentence may use; begin it with a newline"))
    return tuple(faults)


def lint_items(items: Sequence[Item], *, needs_gold: bool = True) -> tuple[ItemFault, ...]:
    """The items whose text, an option, or (where needed) whose gold is empty."""
    faults: list[ItemFault] = []
    for item in items:
        if not _asked(item).strip():
            faults.append(ItemFault(item.id, "it asks nothing: its text is empty"))
        if isinstance(item.input, Question) and not all(option.strip() for option in item.input.options):
            faults.append(ItemFault(item.id, "one of its options is empty"))
        if needs_gold and _empty(item.gold):
            faults.append(ItemFault(item.id, "it has no gold"))
    return tuple(faults)


def _asked(item: Item) -> str:
    given = item.input
    if isinstance(given, Conversation):
        # A picture or a tool's result says something without words.
        return "".join(said.text or "…" for said in given.messages if said.role != "system")
    if isinstance(given, Environment):
        return given.task
    return given.text


def _empty(gold: Json) -> bool:
    return gold is None or gold in ("", [], {}) or (isinstance(gold, str) and not gold.strip())


def _texts(gold: Json) -> list[str]:
    """Every text in a gold, whatever its shape; numbers as they are written."""
    if isinstance(gold, dict):
        return [text for value in gold.values() for text in _texts(value)]
    if isinstance(gold, list | tuple):
        return [text for value in gold for text in _texts(value)]
    if gold is None or isinstance(gold, bool):
        return []
    return [gold if isinstance(gold, str) else str(gold)]
