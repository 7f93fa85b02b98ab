import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.core.trial import Absent, Ambiguous, Measured, Missing
from measurand.scoring import (
    CONTAINS,
    DROP,
    EXACT,
    EXACT_STRICT,
    RUBRIC,
    SQUAD_EXACT,
    SQUAD_F1,
    TOKEN_F1,
    captured,
    exact,
    regex,
)
from measurand.scoring.normal import STEPS, normalise
from measurand.scoring.texts import f1
from tests.scoring.asking import item, points, read, value


@pytest.mark.parametrize(
    ("text", "gold", "same"),
    [
        ("The Blue Nile.", "blue nile", 1), ("(3.14)", "3.14", 1), ("3.14.", "3.14", 1), ("3.14", "314", 0), ("5", "-5", 0),
        ("−5", "-5", 1), (".5", "0.5", 1), ("1,000", "1000", 1), ("A", "A", 1), ("B", "A", 0), ("?", "!", 0), ("?", "?", 1), ("C#", "C++", 0),
        ("twenty-one", "twenty one", 1), ("Cafe\u0301", "Café", 1), ("ＡＢＣ", "abc", 1), ("Paris, France", "Paris", 0),
        ("Canada", [["US", "United States"]], 0), ("US", [["US", "United States"]], 1), ("", [], 1), ("x", [], 0), ("3", 3, 1),
    ],
)  # fmt: skip
def test_exact(text, gold, same):
    assert points(EXACT, text, gold) == (same,)


def test_strict_and_quasi_are_two_numbers():
    assert points(EXACT_STRICT, "Yes.", "yes") == (0.0,)
    assert points(EXACT, "Yes.", "yes") == (1.0,)
    assert exact(("casefold",)).name == "exact(casefold)"
    with pytest.raises(InputError, match="no normalising step 'lowr'"):
        exact(("lowr",))


@pytest.mark.parametrize(
    ("text", "gold", "points_"),
    [("Paris, France", "Paris", 0.667), ("在东京塔", "东京塔", 0.857), ("हिंदी", "हिंदी", 1), ("हिंदी", "हिंदू", 0), ("", "Lyon", 0),
     ("", "", 1), ("?", "!", 0), ("5", "-5", 0), ("x", ["y", "x z"], 0.667), ("C++", "C", 0)],
)  # fmt: skip
def test_token_f1(text, gold, points_):
    assert points(TOKEN_F1, text, gold) == (pytest.approx(points_, abs=1e-3),)


@pytest.mark.parametrize(
    ("text", "gold", "there"),
    [("It is in Paris now", "Paris", 1), ("Parisian", "Paris", 0), ("", "Paris", 0), ("x", "", 0), ("B", "A", 0), ("3.14", "3", 0), ("在东京塔", "东京", 1)],
)  # fmt: skip
def test_contains(text, gold, there):
    assert points(CONTAINS, text, gold) == (there,)


def test_squad_as_its_script():
    assert points(SQUAD_EXACT, "The 3.14", "314") == (1.0,)
    assert points(SQUAD_F1, "the big cat", "a cat") == (pytest.approx(2 / 3),)


@pytest.mark.parametrize(
    ("given", "gold", "row"),
    [
        (["Jones", "Smith"], [["Smith", "Jones"]], (1, 1)), ("37.0", ["37"], (1, 1)), ("38 yards", ["37 yards"], (0, 0)),
        (["a b", "c d"], [["c d", "x y"]], (0, 0.5)), ("the 4-yard line", ["4 yard line"], (1, 1)), ("Smith", [["Smith", "Jones"]], (0, 0.5)),
        ("12.25", ["12.25", "13"], (1, 1)),
    ],
)  # fmt: skip
def test_drop(given, gold, row):
    assert points(DROP, given, gold) == pytest.approx(row, abs=1e-3)


def test_what_cannot_be_scored():
    assert isinstance(EXACT.score(item({}, None), Absent()), Missing)
    assert isinstance(DROP.score(item({}, []), Absent()), Missing)
    assert EXACT.score(item({}, "x"), Ambiguous(("x", "y"))) == Measured((0.0,))
    assert DROP.score(item({}, "x"), Absent()) == Measured((0.0, 0.0))
    assert RUBRIC.score(item({}), Absent()).why == "needs_judge"


WORDS = st.lists(st.sampled_from(["the", "red", "fox", "3.5", "हिंदी", "東"]), max_size=8)


@given(WORDS, WORDS)
def test_f1_is_symmetric_bounded_and_one_only_for_equal_bags(one, two):
    assert f1(one, two) == f1(two, one)
    assert 0 <= f1(one, two) <= 1
    assert (f1(one, two) == 1) == (sorted(one) == sorted(two))


@given(st.text(max_size=40), st.sampled_from(sorted(STEPS)))
def test_normalising_twice_is_normalising_once(text, step):
    if step != "squad_articles":
        once = normalise(text, (step,))
        assert normalise(once, (step,)) == once or step == "punctuation"


def test_a_users_pattern_reads_and_scores():
    assert value(captured(r"total: (\d+)"), "total: 3, total: 14") == "14"
    assert value(captured(r"total: (\d+)", "first"), "total: 3, total: 14") == "3"
    assert isinstance(read(captured("x"), "y"), Absent)
    assert points(regex(r"^\w+$"), "word", None) == (1.0,)
    assert points(regex(r"^\w+$"), "two words", None) == (0.0,)


@pytest.mark.parametrize("pattern", ["(a+)+", "(a|aa)+$", "((a*)b)*", "(", "(?:x{2,})*", "(.*a){3,}"])
def test_a_dangerous_pattern_is_refused(pattern):
    with pytest.raises(InputError, match="pattern"):
        regex(pattern)


@pytest.mark.parametrize("pattern", ["(ab)+", r"[(+*]+", r"\(a+\)+", "a+b*", "(a|b)c", "(?:[0-9]{1,3},)*x"])
def test_a_tame_pattern_is_taken(pattern):
    regex(pattern)
