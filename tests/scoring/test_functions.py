import pytest

from measurand.core.errors import InputError
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring import from_function
from tests.scoring.asking import item


def shouts(text, item):
    return text.isupper()


def share(text, item):
    return text.count("a") / len(text)


def two(text, item):
    return {"right": text == item.gold, "length": len(text) / 10}


def strange(text, item):
    return {"nan": float("nan"), "big": 7, "word": "good", "none": None, "dict": {"x": 1}, "huge": 10**400}[text]


@pytest.mark.parametrize(
    ("function", "text", "row"), [(shouts, "AB", (1.0,)), (shouts, "Ab", (0.0,)), (share, "ab", (0.5,))]
)
def test_a_function_scores(function, text, row):
    assert from_function(function).score(item({}), Found(text)) == Measured(row)


def test_columns_make_the_row_in_their_order():
    scorer = from_function(two, columns=("length", "right"))
    assert scorer.score(item({}, "abc"), Found("abc")) == Measured((0.3, 1.0))


@pytest.mark.parametrize("text", ["nan", "big", "word", "none", "dict", "huge", "no such key"])
def test_what_is_no_score_is_missing_with_the_reason(text):
    score = from_function(strange).score(item({}), Found(text))
    assert isinstance(score, Missing)
    assert score.why == "scorer_failed"
    assert score.detail


def test_only_the_item_that_raises_is_lost():
    scorer = from_function(share)
    assert "ZeroDivisionError" in scorer.score(item({}), Absent()).detail
    assert scorer.score(item({}), Found("a")) == Measured((1.0,))


def test_identity_is_the_source():
    by_name = from_function("tests.scoring.test_functions:shouts")
    assert by_name.name == from_function(shouts).name
    assert by_name.name.startswith("shouts@sha256:")
    assert len(by_name.name.partition(":")[2]) == 12
    assert by_name.version == 0
    assert from_function(share).name.partition(":")[2] != by_name.name.partition(":")[2]


@pytest.mark.parametrize(
    "path", ["nothing", "no.such.module:f", "tests.scoring.test_functions:nothing", "json:__name__", ":f", "math:sqrt"]
)
def test_a_function_that_cannot_be_had_is_an_input_error(path):
    with pytest.raises(InputError):
        from_function(path)
