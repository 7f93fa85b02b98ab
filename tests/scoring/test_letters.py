import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.outcome import Answer
from measurand.core.trial import Absent, Ambiguous, Found, Measured, Missing
from measurand.scoring import ARGMAX, CHOICE, CHOICE_SCORE, CHOICE_STRICT, CHOICES, choice, choice_scorer
from tests.artifacts import artifact
from tests.scoring.asking import item, points, read, value

FOUR = ("3", "5", "7", "9")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("The answer is C. Choice A would only hold for even n.", "C"),
        ("The answer is C, D is wrong.", "C"),
        ("The answer isn't B; it's D.", "D"),
        ("I am between A and C. Final answer: C", "C"),
        ("Options: A) 3 B) 5 C) 7 D) 9. I'd say 7, so C.", "C"),
        ("A is wrong, B is wrong, D is wrong, hence C.", "C"),
        ("(A) 3\n(B) 5\n(C) 7\n(D) 9\nThe answer is 7.", "C"),
        ("<answer>B</answer>", "B"),
        ('{"answer": "D"}', "D"),
        ("The answer is \\textbf{(B)}", "B"),
        ("الإجابة الصحيحة هي ج", "C"),
        ("সঠিক উত্তর: গ", "C"),
        ("अतः सही उत्तर (ग) है", "C"),
    ],
)
def test_statements(text, want):
    assert value(CHOICE, text, *FOUR) == want


@pytest.mark.parametrize(
    "text", ["Answer: B or maybe C", "A or B", "Answer: C/D", "Both A and B are correct.", "答案：A和B"]
)
def test_two_labels_are_ambiguous(text):
    assert isinstance(read(CHOICE, text, *FOUR), Ambiguous)


@pytest.mark.parametrize(
    "text",
    ["Answer: F", "Dunno", "ANSWER: Both", "As an AI, I can't answer. A human might say B.", "World War I began"],
)
def test_nothing_is_read_where_nothing_is_said(text):
    assert isinstance(read(CHOICE, text, *FOUR), Absent)


def test_a_long_reply_without_a_statement_is_not_searched_for_letters():
    assert value(CHOICE, "Only C fits.", *FOUR) == "C"
    assert value(CHOICE, "We go on and on. " * 80 + "Only C fits.", *FOUR) is None


def test_labels_come_from_the_item():
    assert value(CHOICE, "E", *FOUR) is None
    assert value(CHOICE, "E", *FOUR, "11") == "E"
    assert value(choice(("yes", "no")), "I would say no.") == "no"
    assert value(choice("1234"), "The answer is 2.") == "2"
    assert value(choice("1234"), "The answer is 12.") is None
    assert value(choice("ABCD", {"β": "B"}), "Answer: β") == "B"
    assert choice("AB", {"β": "B"}).name != choice("AB").name


def test_the_strict_reader_wants_the_line():
    assert value(CHOICE_STRICT, "Because.\nAnswer: (b)", *FOUR) == "B"
    assert value(CHOICE_STRICT, "Answer: B\nI hope this helps.", *FOUR) is None
    assert value(CHOICE_STRICT, "The answer is B", *FOUR) is None
    assert value(CHOICE_STRICT, "Answer: B and more", *FOUR) is None


def test_several_labels():
    assert value(CHOICES, "ANSWER: C, A, and B", *FOUR) == ["A", "B", "C"]
    assert points(CHOICE_SCORE, ["A", "C"], [2, 0], *FOUR) == (1.0,)
    assert points(CHOICE_SCORE, ["A"], ["A", "C"], *FOUR) == (0.0,)


def test_argmax_shares_ties():
    def argmax(*values):
        return ARGMAX.read(item({"options": FOUR}), Answer(values=values))

    assert argmax(-3.0, -1.0, -2.0) == Found(1)
    assert argmax(-1.0, -1.0, -2.0) == Found([0, 1])
    assert isinstance(argmax(), Absent)
    assert isinstance(argmax(1.0, float("nan")), Absent)
    assert points(CHOICE_SCORE, 1, 1, *FOUR) == (1.0,)
    assert points(CHOICE_SCORE, [0, 1], "B", *FOUR) == (0.5,)
    assert points(CHOICE_SCORE, [0, 1], 2, *FOUR) == (0.0,)


@pytest.mark.parametrize("gold", [2, "C", "c", "(C)", "7", ["C"]])
def test_a_gold_is_an_index_a_label_or_a_text(gold):
    assert points(CHOICE_SCORE, "C", gold, *FOUR) == (1.0,)
    assert points(CHOICE_SCORE, "B", gold, *FOUR) == (0.0,)


def test_row_labels_map_by_position():
    scorer = choice_scorer("ABCD", ("1", "2", "3", "4"))
    assert scorer.score(item({}, "3"), Found("C")) == Measured((1.0,))


@pytest.mark.parametrize("gold", [None, 4, "E", [], True, -1])
def test_a_gold_that_is_no_option_is_missing(gold):
    assert isinstance(CHOICE_SCORE.score(item({"options": FOUR}, gold), Found("A")), Missing)


def test_unread_answers_are_wrong():
    assert CHOICE_SCORE.score(item({"options": FOUR}, 0), Absent()) == Measured((0.0,))
    assert CHOICE_SCORE.score(item({"options": FOUR}, 0), Ambiguous(("A", "B"))) == Measured((0.0,))


@given(
    st.sampled_from("ABCD"),
    st.sampled_from(
        ["{}", "({})", "**{}**", "${}$", "\\boxed{{{}}}", "`{}`", "[{}]", "{}.", "{})", '"{}"', "**({})**"]
    ),
    st.sampled_from(
        ["", "Answer: ", "ANSWER:", "The answer is ", "Final answer:\n", "Thus the correct option is ", "答案："]
    ),
)
def test_decoration_changes_nothing(letter, decoration, statement):
    assert (
        value(CHOICE, "Some words first.\n" * bool(statement) + statement + decoration.format(letter), *FOUR) == letter
    )


def test_gemini_on_mmlu_pro_is_read_as_its_makers_read_it():
    """Every tenth of 12,020 replies; where replies recite the exemplars' answers, the first of them was theirs."""
    with zipfile.ZipFile(artifact("mmlu_pro/model_outputs_gemini-1.5-pro-002_5shots.zip")) as archive:
        replies = json.loads(archive.read(archive.namelist()[0]))[::10]
    told = [row for row in replies if row["model_outputs"].count("answer is (") == 1]
    same = sum(value(CHOICE, row["model_outputs"], *row["options"]) == row["pred"] for row in told)
    assert len(told) > 900
    assert same / len(told) > 0.99


@pytest.mark.parametrize(("text", "label"), [("B", "B"), ("E", "D"), ("(B)", "B"), ("Answer: C", "C")])
def test_a_bare_letter_is_the_label_that_was_shown_not_the_text_of_another_option(text: str, label: str) -> None:
    """As in a question of MedQA about a figure, whose options A to D are the letters B to E."""
    assert value(CHOICE, text, "B", "C", "D", "E") == label
