"""A few trials worth a look: which ones, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from measurand.core.call import Asked
from measurand.core.identity import canonical_json
from measurand.core.item import Conversation, Document, Environment, Item, Question
from measurand.core.message import ToolCall, ToolResult
from measurand.core.outcome import answer_of, outcome_name
from measurand.core.request import Complete, Embed, Generate, Loglikelihood, Request, Rolling
from measurand.core.summary import Example
from measurand.core.trial import Absent, Ambiguous, Found, Reading, Trial

if TYPE_CHECKING:
    from measurand.core.message import Message
    from measurand.core.ports import Store
    from measurand.core.record import Json
    from measurand.core.run import Run, Slot

LONGEST = 3_000
"""Characters of a text that are shown; what is left out is counted."""


def chosen(candidates: NDArray[np.bool_], how_many: int, run_id: str) -> list[int]:
    """Places of some of the candidates: spread over the run, and the same each time for the same run."""
    places = np.flatnonzero(candidates)
    if len(places) > how_many:
        rng = np.random.default_rng(int(run_id, 16))
        places = np.sort(rng.choice(places, how_many, replace=False))
    return [int(place) for place in places]


def example(store: Store, run: Run, why: str, kept: tuple[Slot, Trial], item: Item) -> Example:
    """Show one trial: what was really asked, what came back, what was read."""
    slot, trial = kept
    asked = [call.what.request for call in store.calls(run.id, slot) if isinstance(call.what, Asked)]
    answer = answer_of(trial.outcome)
    return Example(
        item=item.id,
        sample_no=slot.sample_no,
        why=why,
        asked=_cut(_request_text(asked[0]) if asked else item_text(item)),
        answer=_cut((answer.text or ", ".join(f"{value:g}" for value in answer.values)) if answer else ""),
        reading=_cut("; ".join(_reading_text(reading) for _, reading in store.readings(run.id, slot))),
        gold=_cut(_plain(item.gold)),
        outcome=outcome_name(trial.outcome),
    )


def _reading_text(reading: Reading) -> str:
    match reading.finding:
        case Found(value=value):
            return f"{reading.reader}: {_plain(value)}"
        case Absent(why=why):
            return f"{reading.reader}: nothing ({why})" if why else f"{reading.reader}: nothing"
        case Ambiguous(candidates=candidates):
            return f"{reading.reader}: several ({', '.join(_plain(value) for value in candidates)})"


def _request_text(request: Request) -> str:
    match request:
        case Generate(messages=messages):
            return _messages_text(messages)
        case Complete(prompt=prompt):
            return prompt
        case Loglikelihood(context=context, continuations=continuations):
            return "\n".join((context, *(f"[continuation] {text}" for text in continuations)))
        case Rolling(text=text):
            return text
        case Embed(texts=texts):
            return "\n".join(texts)


def item_text(item: Item) -> str:
    """What an item asks, as text."""
    match item.input:
        case Question(text=text, options=options):
            return "\n".join((text, *options))
        case Conversation(messages=messages):
            return _messages_text(messages)
        case Document(text=text):
            return text
        case Environment(task=task):
            return task


def _messages_text(messages: tuple[Message, ...]) -> str:
    if len(messages) == 1:
        return _message_text(messages[0])
    return "\n\n".join(f"[{message.role}]\n{_message_text(message)}" for message in messages)


def _message_text(message: Message) -> str:
    others = [part for part in message.parts if isinstance(part, ToolCall | ToolResult)]
    shown = [f"{part.name}({part.arguments})" if isinstance(part, ToolCall) else part.text for part in others]
    return "\n".join(text for text in (message.text, *shown) if text)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else canonical_json(value).decode()


def _cut(text: str) -> str:
    """The beginning and the end: few-shot prompts end with the question, and answers with the answer."""
    if len(text) <= LONGEST:
        return text
    head, tail = LONGEST // 3, LONGEST - LONGEST // 3
    return f"{text[:head]}\n… {len(text) - LONGEST:,} characters left out …\n{text[-tail:]}"
