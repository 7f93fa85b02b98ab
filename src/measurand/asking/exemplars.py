"""Which exemplars an item gets. Never the item itself, nor a copy of it under another name."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from measurand.core.benchmark import Shots
from measurand.core.errors import InputError
from measurand.core.identity import canonical_json
from measurand.core.item import Conversation, Document, Item, Perturbed, Question

Fingerprint = tuple[str, ...]


def choose(shots: Shots, item: Item, pool: Sequence[Item]) -> tuple[Item, ...]:
    """The exemplars of an item, `shots.k` of them.

    First everything is removed that may not be shown: other groups where `same` names a slice, the item, its equal
    copies, what it was perturbed from. Then the first are taken in the pool's order, or some by lot. The lot depends
    on the seed and the item's id alone (a perturbed item draws as its original does), so neither the process nor the
    order of the run changes it. Repeats in the pool are drawn once, yet the first rule takes the pool as it was
    published: MMLU's own five of college physics hold one question twice.

    Raises InputError where fewer than `k` are left: fewer shots are another protocol.
    """
    if shots.k < 1:
        return ()
    candidates: Iterable[Item] = _of_group(shots.same, item, pool) if shots.same else pool
    if shots.rule == "seeded":
        drawn_from = list(candidates) if shots.same else pool
        candidates = _by_lot(f"{shots.seed}\0{_anchor(item)}", drawn_from)
    chosen = tuple(islice(_allowed(item, candidates, repeats=shots.rule == "first"), shots.k))
    if len(chosen) < shots.k:
        group = f" with the same {shots.same}" if shots.same else ""
        message = (
            f"item {item.id} is to get {shots.k} exemplars from {shots.pool!r}, and only {len(chosen)} are left{group} "
            "without the item and its copies; ask with fewer, which is another protocol, or enlarge the pool"
        )
        raise InputError(message)
    return chosen


def same_question(a: Item, b: Item) -> bool:
    """Whether two items ask the same thing: equal but for case, spacing and the order of the options.

    The gold is not compared: a copy with another gold is still a copy. Equal stems with other options are two
    questions.
    """
    return _fingerprint(a) == _fingerprint(b)


def _allowed(item: Item, order: Iterable[Item], *, repeats: bool) -> Iterator[Item]:
    seen = {_fingerprint(item)}
    original = item.origin.item if isinstance(item.origin, Perturbed) else None
    for candidate in order:
        mark = _fingerprint(candidate)
        if mark not in seen and candidate.id != original:
            yield candidate
            if not repeats:
                seen.add(mark)


def _of_group(name: str, item: Item, pool: Sequence[Item]) -> Iterator[Item]:
    if name not in item.slices:
        message = f"item {item.id} has no slice {name!r}, by which its exemplars are chosen; add it to its slices"
        raise InputError(message)
    group = item.slices[name]
    return (candidate for candidate in pool if candidate.slices.get(name) == group)


def _anchor(item: Item) -> str:
    return item.origin.item if isinstance(item.origin, Perturbed) else item.id


def _by_lot(key: str, pool: Sequence[Item]) -> Iterator[Item]:
    """All of the pool in an order drawn by hash: Fisher and Yates, of which only what is asked for is done."""
    moved: dict[int, int] = {}
    for place in range(len(pool)):
        drawn = hashlib.sha256(f"{key}\0{place}".encode("utf-8", "backslashreplace")).digest()
        other = place + int.from_bytes(drawn, "big") % (len(pool) - place)
        yield pool[moved.get(other, other)]
        moved[other] = moved.get(place, place)


def _fingerprint(item: Item) -> Fingerprint:
    given = item.input
    if isinstance(given, Question):
        return ("question", _plain(given.text), *sorted(map(_plain, given.options)))
    if isinstance(given, Conversation):
        return ("conversation", *(part for said in given.messages for part in (said.role, _plain(said.text))))
    if isinstance(given, Document):
        return ("document", _plain(given.text))
    return ("environment", _plain(given.task), canonical_json(given.setup).decode())


@lru_cache(maxsize=2048)  # one exemplar is compared with every item of its group
def _plain(text: str) -> str:
    """Case and spacing removed, and characters composed; x² and x2 stay apart."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
