"""Reasoning is taken out of a reply once and for all, before stops are applied and before anything is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from measurand.core.record import Record

DEFAULT_TAGS = ("think", "thinking", "reasoning", "reflection")


class FinalText(Record, frozen=True):
    """What is left of a reply when its reasoning is taken out.

    `pieces` are the places of the remaining text in the reply, as [start, end) characters in order, so that
    a span of `text` can be found again in the reply. `complete` is False where reasoning was begun and never
    ended; then there is no answer and `text` is empty.
    """

    text: str
    reasoning: str = ""
    complete: bool = True
    pieces: tuple[tuple[int, int], ...] = ()

    def original(self, span: tuple[int, int]) -> tuple[int, int]:
        """The place of `text[span]` in the reply it was made from."""
        start, end = span
        first = self._place(start)
        return first, max(first, self._place(end - 1) + 1) if end > start else first

    def _place(self, offset: int) -> int:
        for start, end in self.pieces:
            if offset < end - start:
                return start + offset
            offset -= end - start
        return self.pieces[-1][1] if self.pieces else offset


@lru_cache(maxsize=32)
def _pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(sorted((re.escape(_name(tag)) for tag in tags), key=len, reverse=True))
    # A tag named in backticks is talked about, not used.
    return re.compile(
        rf"(?<!`)(?:<\s?(?P<close1>/?)\s?(?P<name1>{names})(?:\s[^<>]{{0,200}})?>"
        rf"|\[(?P<close2>/?)(?P<name2>{names})\]|◁(?P<close3>/?)(?P<name3>{names})▷)(?!`)",
        re.IGNORECASE,
    )


def _name(tag: str) -> str:
    return tag.strip("<>[]/◁▷ ")


def final_text(text: str, tags: Sequence[str] = DEFAULT_TAGS) -> FinalText:
    """Take reasoning out of a reply.

    A tag may be written `think`, `<think>` or `[THINK]`; case does not matter, and each is known in angle and
    in square brackets. Tags of one name nest; a tag of another name inside reasoning is part of it. A closing
    tag that nothing opened ends reasoning that began before the text did (the chat template opened it).
    White space at both ends is dropped where reasoning was taken out, and only there. A reply in gpt-oss's
    channels gives the last message of its final channel.
    """
    if (harmony := _harmony(text)) is not None:
        return harmony
    if not tags or not any(bracket in text for bracket in "<[◁"):
        return FinalText(text, pieces=((0, len(text)),))
    kept: list[tuple[int, int]] = []
    taken: list[tuple[int, int]] = []
    position, depth, outer = 0, 0, ""
    for tag in _pattern(tuple(tags)).finditer(text):
        closing = bool(tag["close1"] or tag["close2"] or tag["close3"])
        name = (tag["name1"] or tag["name2"] or tag["name3"]).lower().removesuffix("ing")
        if depth == 0 and closing:
            kept.clear()
            taken = [(0, tag.start())]
            position = tag.end()
        elif depth == 0:
            kept.append((position, tag.start()))
            position, depth, outer = tag.end(), 1, name
        elif name == outer:
            depth += -1 if closing else 1
            if depth == 0:
                taken.append((position, tag.start()))
                position = tag.end()
    if depth:
        return FinalText("", _join(text, [*taken, (position, len(text))]), complete=False)
    if position == 0:
        return FinalText(text, pieces=((0, len(text)),))
    kept.append((position, len(text)))
    return _stripped(text, kept, _join(text, taken))


_CHANNEL = re.compile(r"<\|channel\|>[ ]?(?P<name>analysis|commentary|final)\b[^<]{0,80}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")


def _harmony(text: str) -> FinalText | None:
    """The last message of the final channel, where the reply is written in gpt-oss's channels."""
    places = list(_CHANNEL.finditer(text))
    if not places:
        return None
    final = next((place for place in reversed(places) if place["name"] == "final"), None)
    if final is None:
        return FinalText("", text[places[0].end() :].strip(), complete=False)
    end = _CHANNEL_END.search(text, final.end())
    kept = [(final.end(), end.start() if end else len(text))]
    return _stripped(text, kept, text[places[0].end() : final.start()].strip() if places[0] is not final else "")


def _join(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    return "\n".join(part for start, end in pieces if (part := text[start:end].strip()))


def _stripped(text: str, kept: list[tuple[int, int]], reasoning: str) -> FinalText:
    while kept and not text[slice(*kept[0])].strip():
        kept.pop(0)
    while kept and not text[slice(*kept[-1])].strip():
        kept.pop()
    if not kept:
        return FinalText("", reasoning)
    start, end = kept[0]
    kept[0] = (end - len(text[start:end].lstrip()), end)
    start, end = kept[-1]
    kept[-1] = (start, start + len(text[start:end].rstrip()))
    pieces = tuple(piece for piece in kept if piece[0] < piece[1])
    return FinalText("".join(text[start:end] for start, end in pieces), reasoning, pieces=pieces)


def apply_stops(text: str, stops: Sequence[str]) -> str:
    """The text up to the first stop string. Reasoning must be out already, or a stop may fire inside it."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


def is_stopped(text: str, stops: Sequence[str]) -> bool:
    """Whether a stop string stands in the text outside of its reasoning. One inside it ends nothing."""
    if not any(stop in text for stop in stops if stop):
        return False
    final = final_text(text)
    return final.complete and any(stop in final.text for stop in stops if stop)
