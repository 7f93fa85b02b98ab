"""Compare prompts with those that a peer renders from the same rows, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from measurand.core.fidelity import Cause, Check, Rendering, Side, Verdict
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling

ARROW = "\n→"
AROUND = 30
"""Characters shown on both sides of the first difference."""

Render = Callable[[Sequence[tuple[Rendering, Side]]], Sequence[Sequence[str]]]
"""What the peer renders of all tasks at once: a text for each row asked, as `text_of` writes ours."""


def text_of(request: Request) -> str:
    """A request as one text: the context, and each continuation after an arrow on a line of its own."""
    match request:
        case Loglikelihood():
            return request.context + "".join(ARROW + one for one in request.continuations)
        case Complete():
            return request.prompt
        case Generate():
            return "\n\n".join(message.text for message in request.messages)
        case Rolling():
            return request.text
        case Embed():
            return "\n".join(request.texts)


def verify_prompts(folder: Path, chosen: Sequence[Rendering], render: Render, source: str) -> Iterator[Check]:
    """One line for each task of the peer: how many prompts are equal, and the causes of what is not."""
    lacking = {one.task: [name for name in one.files if not (folder / name).exists()] for one in chosen}
    here = [(one, one.sides(folder)) for one in chosen if not lacking[one.task]]
    theirs = render(here) if here else ()
    rendered = {one.task: (side, texts) for (one, side), texts in zip(here, theirs, strict=True)}
    for one in chosen:
        if one.task in rendered:
            yield _check(one, *rendered[one.task], source)
        else:
            note = f"the folder lacks {', '.join(lacking[one.task])}"
            yield Check(one.benchmark, one.task, source, None, None, "not here", note)


def _check(one: Rendering, side: Side, theirs: Sequence[str], source: str) -> Check:
    ours = [text_of(request) for request in side.requests]
    equal = sum(a == b for a, b in zip(ours, theirs, strict=True))
    mended, used = _mended(ours, one.causes)
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


def _first_difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    number, a, b = next(
        (number, *pair) for number, pair in enumerate(zip(ours, theirs, strict=True), 1) if pair[0] != pair[1]
    )
    at = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    shown = [repr(text[max(0, at - AROUND) : at + AROUND]) for text in (a, b)]
    return f"prompt {number}, character {at}: ours has {shown[0]}, theirs {shown[1]}"
