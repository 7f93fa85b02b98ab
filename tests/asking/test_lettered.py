"""The letter of the next token: one template, the options behind letters, and each letter as it would follow."""

from measurand.asking import by_letter
from measurand.core.item import Item, Question
from measurand.core.request import Loglikelihood

ITEM = Item("x", Question("Which?", ("red", "{{question}}", "blue")), gold="A")


def test_letters_follow_a_space_and_stand_for_the_options_shown() -> None:
    (asked,) = by_letter("Q: {{question}}\n{{options}}\nAnswer:")(ITEM, ())
    assert asked == Loglikelihood("Q: Which?\nA. red\nB. {{question}}\nC. blue\nAnswer:", (" A", " B", " C"))


def test_letters_in_brackets_are_asked_for_in_brackets() -> None:
    (asked,) = by_letter("{{question}}\n{{options}}\n", "(A)")(ITEM, ())
    assert asked.context == "Which?\n(A) red\n(B) {{question}}\n(C) blue\n"
    assert asked.continuations == (" (A)", " (B)", " (C)")
