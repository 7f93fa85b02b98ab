"""Compare prompts with those that a peer renders from the same rows, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from measurand.core.fidelity import Cause, Check, Peer, Rendering, Side, Unmatched, Verdict
from measurand.core.message import Image, Message, Text
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling

ARROW = "\n→"
AROUND = 30
"""Characters shown on both sides of the first difference."""

Render = Callable[[Sequence[tuple[Rendering, Side]]], Sequence[Sequence[str]]]
"""What the peers render of all tasks at once: a text for each row asked, as `text_of` writes ours."""


def text_of(request: Request) -> str:
    """A request as one text: the context, and each continuation after an arrow on a line of its own."""
    match request:
        case Loglikelihood():
            return request.context + "".join(ARROW + one for one in request.continuations)
        case Complete():
            return request.prompt
        case Generate():
            return "\n\n".join(map(_shown, request.messages))
        case Rolling():
            return request.text
        case Embed():
            return "\n".join(request.texts)


def _shown(message: Message) -> str:
    """The text of a message, with an image as its data URL."""
    parts = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append(part.text)
        elif isinstance(part, Image):
            parts.append(f"data:{part.media_type};base64,{part.data}")
    return "".join(parts)


def verify_prompts(
    folder: Path, chosen: Sequence[Rendering | Unmatched], render: Render, versions: Mapping[Peer, str]
) -> Iterator[Check]:
    """One line for each task of a peer: how many prompts are equal, and the causes of what is not.

    `versions` are those of the peers that are installed.
    """
    notes = [_lacking(folder, one, versions) for one in chosen]
    asked = [
        (one, one.sides(folder))
        for one, note in zip(chosen, notes, strict=True)
        if isinstance(one, Rendering) and not note
    ]
    rendered = iter(zip(asked, render(asked), strict=True)) if asked else iter(())
    for one, note in zip(chosen, notes, strict=True):
        if isinstance(one, Unmatched):
            yield Check(one.benchmark, "", "", None, None, "no peer", note)
        elif note:
            yield Check(one.benchmark, one.task, one.peer, None, None, "not here", note)
        else:
            (_, side), theirs = next(rendered)
            yield _check(one, side, theirs, f"{one.peer} {versions[one.peer]}")


def _lacking(folder: Path, one: Rendering | Unmatched, versions: Mapping[Peer, str]) -> str:
    """Why nothing can be compared; empty where it can."""
    if isinstance(one, Unmatched):
        return one.why
    if one.peer not in versions:
        return f"{one.peer} is not installed"
    missing = [name for name in one.files if not (folder / name).exists()]
    return f"the folder lacks {', '.join(missing)}" if missing else ""


def _check(one: Rendering, side: Side, theirs: Sequence[str], source: str) -> Check:
    ours = [text_of(request) for request in side.requests]
    equal = sum(a == b for a, b in zip(ours, theirs, strict=True))
    mended, used = _mended(ours, one.causes)
    if one.framed and mended != list(theirs):
        (mended, around), (theirs, their_own) = _unframed(mended), _unframed(theirs)
        used.append(f"{one.framed} ({around} characters around each of ours and {their_own} of theirs are set aside)")
    verdict: Verdict = "differs"
    if equal == len(ours):
        verdict, note = "equal", ""
    elif mended == list(theirs):
        verdict, note = "explained", "; ".join(used)
    else:
        note = _first_difference(mended, theirs)
    return Check(one.benchmark, f"{len(ours)} prompts of {one.task}", source, len(theirs), equal, verdict, note)


def _mended(ours: Sequence[str], causes: Sequence[Cause]) -> tuple[list[str], list[str]]:
    """Our prompts with every known difference undone, and the differences that there were."""
    texts, used = list(ours), []
    for cause in causes:
        changed = [cause.theirs(text) for text in texts]
        used += [cause.what] * (changed != texts)
        texts = changed
    return texts, used


def _unframed(texts: Sequence[str]) -> tuple[list[str], int]:
    """The texts without what all begin and end with, and how many characters that is.

    Where questions begin or end alike, that goes too, on both sides; so rows of our own making should not.
    """
    start = _alike(texts)
    rest = [text[start:] for text in texts]
    end = _alike([text[::-1] for text in rest])
    return [text[: len(text) - end] for text in rest], start + end


def _alike(texts: Sequence[str]) -> int:
    """How many characters all begin with."""
    first, last = min(texts), max(texts)  # of texts in order, these two differ the soonest
    return next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))


def _first_difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    number, a, b = next(
        (number, *pair) for number, pair in enumerate(zip(ours, theirs, strict=True), 1) if pair[0] != pair[1]
    )
    at = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    shown = [repr(text[max(0, at - AROUND) : at + AROUND]) for text in (a, b)]
    return f"prompt {number}, character {at}: ours has {shown[0]}, theirs {shown[1]}"
