from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.core.trial import Absent, Ambiguous, Found, Measured, Missing
from measurand.scoring import (
    GSM8K_COT_STRICT,
    GSM8K_STRICT,
    LAST_NUMBER,
    LM_EVAL_FLEXIBLE,
    NUMBER,
    marked_number,
    numeric,
)
from measurand.scoring.number_words import value_of
from measurand.scoring.numerals import DECIMAL_COMMA, parse
from tests.artifacts import artifact
from tests.scoring.asking import item, points, read, value


@pytest.mark.parametrize(
    ("text", "language", "want"),
    [
        ("It is 1.234 in all.", "de", "1234"),
        ("It is 1.234 in all.", "en", "1.234"),
        ("It is 1,234 in all.", "fr", "1,234"),
        ("It is 1,234 in all.", "en", "1234"),
        ("It is 1,234,567.", "fr", "1234567"),
        ("It is 12 345,67.", "fr", "12345,67"),
        ("It is 0,5.", "en", "0,5"),
        ("It is 1'250.", "", "1250"),
        ("It is 1\u202f250.", "", "1250"),
        ("It is \\$1{,}250.", "", "1250"),
        ("It is ₹2.5 lakh.", "", "250000"),
        ("ye ५ लाख hai", "hi", "500000"),
        ("$4B", "", "4000000000"),
        ("4B", "", "4"),
        ("2½", "", "5/2"),
        ("US$7", "", "7"),
        ("minus 7", "", "-7"),
        ("one hundred and five", "", "105"),
    ],
)
def test_notations(text, language, want):
    assert value(NUMBER, text, language=language) == want


@pytest.mark.parametrize("text", ["3,5", "between 5-10", "3:30", "Answer: 5 or 6"])
def test_several_numbers_are_ambiguous(text):
    assert isinstance(read(NUMBER, text), Ambiguous)


@pytest.mark.parametrize(
    "text", ["5 % 0", "2^10", "9**9**9", "3 + 4", "1/0", "1e99999999", "GPT-4", "H2O", "12.05.1990", "Step 2: think"]
)
def test_what_is_not_a_number_gives_nothing(text):
    assert isinstance(read(NUMBER, text), Absent)


def test_a_list_numbers_its_members():
    assert value(LAST_NUMBER, "It is 8.\n1. Check it\n2. Be sure") == "8"


def test_a_run_on_question_is_cut_off_and_the_last_marker_wins():
    assert value(NUMBER, "#### 5 was theirs.\n#### 11\n\nQuestion: and 12?\n#### 13") == "11"
    assert value(marked_number("A:"), "A: 3\nA: 4") == "4"
    assert value(marked_number("A:"), "3") is None


def test_the_strict_readers_are_those_of_the_papers():
    assert value(GSM8K_STRICT, "#### 1,250\n#### 7") == "1250"
    assert value(GSM8K_STRICT, "The answer is 5") is None
    assert value(GSM8K_COT_STRICT, "The answer is 25") == "25"
    assert value(GSM8K_COT_STRICT, "the answer is 25") is None
    assert value(LM_EVAL_FLEXIBLE, "so $29.00. or 3") == "3"
    assert value(LM_EVAL_FLEXIBLE, "the total is $29.00.") == "29.00"


@pytest.mark.parametrize(
    ("given", "gold", "language", "right"),
    [
        ("29.00", "29", "", 1),
        ("-3", "#### -3", "", 1),
        ("3", "#### -3", "", 0),
        ("150", "15", "", 0),
        ("9007199254740993", 9007199254740992, "", 0),
        ("9007199254740993", "9007199254740993", "", 1),
        ("3,5", "3.5", "fr", 1),
        ("3,5", "3,5", "fr", 1),
        ("3,5", 3.5, "fr", 1),
        ("3/4", "0.75", "", 1),
        ("1/3", "0.3333", "", 0),
        ("1e3", 1000, "", 1),
        ("8", [7, "8"], "", 1),
        ("10.4", {"value": 10, "tolerance": 0.5}, "", 1),
        ("10.6", {"value": 10, "tolerance": 0.5}, "", 0),
        ("103", {"value": "100", "relative": "0.03"}, "", 1),
        ("-103", {"value": "-100", "relative": "0.02"}, "", 0),
        ("not one", 3, "", 0),
    ],
)
def test_numbers_are_compared_by_value(given, gold, language, right):
    assert points(numeric(), given, gold, language=language) == (right,)


def test_tolerances_and_percent():
    assert points(numeric(relative=0.01), "1/3", "0.3333") == (1.0,)
    assert points(numeric(absolute="0.1"), "2.1", 2) == (1.0,)
    assert points(numeric(absolute="0.1"), "2.11", 2) == (0.0,)
    assert points(numeric(percent=True), "50", "0.5") == (1.0,)
    assert points(numeric(), "50", "0.5") == (0.0,)
    assert numeric(relative=0.01).name == "numeric(relative=0.01)"


@pytest.mark.parametrize("bad", [-1, "x", True, float("nan"), None])
def test_a_bad_tolerance_is_refused(bad):
    with pytest.raises(InputError, match="relative tolerance"):
        numeric(relative=bad)


@pytest.mark.parametrize("gold", [None, "none", True, {"value": None}, [], {"value": 3, "tolerance": -1}, float("inf")])
def test_a_gold_that_is_no_number_is_missing_not_wrong(gold):
    assert isinstance(numeric().score(item({}, gold), Found("3")), Missing)


def test_nothing_found_is_wrong():
    for finding in (Absent("no number"), Ambiguous(("3", "4"))):
        assert numeric().score(item({}, 3), finding) == Measured((0.0,))
    assert numeric().score(item({}, 0), Absent()) == Measured((0.0,))


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=3)


@given(NUMBERS, st.sampled_from(["", "en", "hi"]))
def test_every_number_is_read_back(number: Decimal, language):
    for written in (f"{number:f}", f"{number:,f}"):
        text = f"It comes to {written}."
        found = parse(value(NUMBER, text, language=language), language)
        assert found is not None
        assert found.top == number


@given(NUMBERS, st.sampled_from(sorted(DECIMAL_COMMA)))
def test_every_number_is_read_back_where_the_comma_is_decimal(number: Decimal, language):
    swapped = f"{number:,f}".translate(str.maketrans(",.", ".,"))
    found = parse(value(NUMBER, f"= {swapped}", language=language), language)
    assert found is not None
    assert found.top == number


def test_number_words():
    assert value_of("twenty-one") == 21
    assert value_of("two thousand and six") == 2006
    assert value_of("minus three million four hundred thousand") == -3_400_000
    assert value_of("two three") is None
    assert value_of("thousand million") is None
    assert value(NUMBER, "The answer is one of them") is None
    assert value(NUMBER, "The answer is twelve apples.") == "12"


def test_openai_solutions_of_gsm8k_are_judged_as_they_judged_them():
    """1,319 problems, four models: the counts of right answers and all 5,276 flags (see the artifact's PROVENANCE)."""
    import json

    right = dict.fromkeys(("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"), 0)
    reader, scorer = marked_number("A:"), numeric()
    flags = 0
    for line in artifact("gsm8k/example_model_solutions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        gold = item({}, row["ground_truth"].rpartition("A:")[2].strip())
        for column in right:
            score = scorer.score(gold, read(reader, row[column]["solution"]))
            assert isinstance(score, Measured)
            right[column] += int(score.row[0])
            flags += bool(score.row[0]) == row[column]["is_correct"]
    assert list(right.values()) == [286, 515, 458, 742]
    assert flags == 5276
