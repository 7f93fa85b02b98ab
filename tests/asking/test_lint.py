"""Faults seen before anything is paid for."""

import pytest

from measurand.asking import ItemFault, lint_items, lint_stop
from measurand.core.item import Conversation, Document, Environment, Item, Question
from measurand.core.message import Image, Message, system


@pytest.mark.parametrize(
    ("stop", "cut"),
    [(".", ("12.25", "-0.5")), ("river", ("The river",)), ("\n", ("a\nb",)), ("x", ()), ("\n\n", ())],
)
def test_a_stop_string_inside_a_gold_is_a_fault(stop: str, cut: tuple[str, ...]) -> None:
    golds = ["12.25", ["The river", {"value": -0.5}], "a\nb", None, True]
    faults = [fault for fault in lint_stop([stop], golds) if fault.texts]
    assert [fault.texts for fault in faults] == ([cut] if cut else [])


def test_a_stop_string_inside_a_good_reply_is_a_fault() -> None:
    (fault,) = lint_stop(["Q:"], samples=["As asked in Q: yes", "no"])
    assert fault.texts == ("As asked in Q: yes",)


@pytest.mark.parametrize("stop", ["Question", "the", " Answer ", "Вопрос", "7", ""])
def test_bare_words_are_faults(stop: str) -> None:
    assert [fault.stop for fault in lint_stop([stop])] == [stop]


@pytest.mark.parametrize("stop", ["\nQuestion:", "Q:", "</s>", "<|im_end|>", "\n\n", "```", "\nclass", "\n#"])
def test_usual_stop_strings_are_none(stop: str) -> None:
    assert lint_stop([stop], ["42"], ["Identify the Question first."]) == ()


def test_empty_texts_are_faults() -> None:
    picture = Conversation((Message("user", (Image("image/png", ""),)),))
    items = [
        Item("ok", Question("q", ("a", "b")), gold=0),
        Item("blank", Question(" \n"), gold="x"),
        Item("option", Question("q", ("a", " ")), gold="a"),
        Item("gold", Question("q"), gold=" "),
        Item("none", Document("d"), gold=[]),
        Item("talk", Conversation((system("s"),)), gold="x"),
        Item("picture", picture, gold=False),
        Item("task", Environment(""), gold=0),
    ]
    assert [fault.item for fault in lint_items(items)] == ["blank", "option", "gold", "none", "talk", "task"]
    assert lint_items(items, needs_gold=False)[-1] == ItemFault("task", "it asks nothing: its text is empty")
    assert len(lint_items(items, needs_gold=False)) == 4
