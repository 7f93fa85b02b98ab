"""Conversations and options."""

import pytest

from measurand.asking import LABELS, conversation, join_shots, labels, lay_out
from measurand.core.errors import InputError
from measurand.core.message import assistant, system, user

SHOTS = [("Q: 1+1\nA:", "2"), ("Q: 2+2\nA:", "4")]


def test_exemplars_as_turns_or_as_one_text() -> None:
    assert conversation("Q?", SHOTS, instruction="Be brief.") == (
        system("Be brief."), user("Q: 1+1\nA:"), assistant("2"), user("Q: 2+2\nA:"), assistant("4"), user("Q?"),
    )  # fmt: skip
    assert conversation(join_shots(SHOTS, "Q?")) == (user("Q: 1+1\nA: 2\n\nQ: 2+2\nA: 4\n\nQ?"),)
    assert conversation("Q?") == (user("Q?"),)


def test_options_are_laid_out_by_letter() -> None:
    assert lay_out(["x", "A thing"]) == "A. x\nB. A thing"
    assert lay_out(["x", "y"], "(A)") == "(A) x\n(B) y"
    assert lay_out([str(number) for number in range(26)], "A)").splitlines()[-1] == "Z) 25"
    assert labels(26) == tuple(LABELS)
    for count in (0, 27):
        with pytest.raises(InputError, match=f"{count} options cannot be lettered"):
            labels(count)
