"""Asking by the letter of the next token: a question, its options behind letters, and the likelihood of each letter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from measurand.asking.chat import Mark, labels, lay_out
from measurand.asking.templates import fill
from measurand.core.item import Item, Question
from measurand.core.request import Loglikelihood


def by_letter(template: str, mark: Mark = "A.") -> Callable[[Item, Sequence[Item]], tuple[Loglikelihood, ...]]:
    """Requests that fill `question` and `options` into a template, without exemplars.

    Each letter is asked for with the space before it, and in brackets where `mark` has them: " A" or " (A)".
    """
    letter = " (A)" if mark == "(A)" else " A"

    def requests(item: Item, _: Sequence[Item]) -> tuple[Loglikelihood, ...]:
        assert isinstance(item.input, Question)  # noqa: S101  sets with options make nothing else
        options = item.input.options
        context = fill(template, {"question": item.input.text, "options": lay_out(options, mark)})
        return (Loglikelihood(context, tuple(letter.replace("A", one) for one in labels(len(options)))),)

    return requests
