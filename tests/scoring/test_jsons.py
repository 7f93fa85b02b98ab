import builtins
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.core.trial import Absent, Found, Measured
from measurand.scoring import JSON_EQUAL, JSON_VALUE, json_schema
from measurand.scoring.jsons import same_json
from tests.scoring.asking import item, points, read, value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, st.sampled_from(["{}", "```json\n{}\n```", "Here you are:\n{}\nDone."]))
def test_a_value_is_read_back(given_value, frame):
    text = frame.replace("{}", json.dumps(given_value, ensure_ascii=False))
    if frame == "{}" or isinstance(given_value, dict | list):
        assert same_json(value(JSON_VALUE, text), given_value) or "<" in text or "◁" in text


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": {"x": 1}, "sco',
        '[1, [2], "thr',
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": 1e999}',
        "[" * 5000,
        "[" * 500 + "]" * 500,
        '{"a":' * 5000,
    ],
)
def test_a_value_that_was_cut_off_or_is_none_gives_nothing(text):
    assert isinstance(read(JSON_VALUE, text), Absent)


def test_equality_is_that_of_json():
    assert points(JSON_EQUAL, {"a": 1, "b": [True]}, {"b": [True], "a": 1.0}) == (1.0,)
    assert points(JSON_EQUAL, [1], [True]) == (0.0,)
    assert points(JSON_EQUAL, [1, 2], [2, 1]) == (0.0,)
    assert JSON_EQUAL.score(item({}, None), Absent()) == Measured((0.0,))


def test_a_schema_is_checked():
    scorer = json_schema({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}})
    assert points(scorer, {"a": 1}, None) == (1.0,)
    assert points(scorer, {"a": "1"}, None) == (0.0,)
    assert scorer.score(item({}), Absent()) == Measured((0.0,))
    assert scorer.name != json_schema({"type": "object"}).name
    unknown = json_schema({"$ref": "http://localhost:1/none.json"})
    assert unknown.score(item({}), Found(1)).why == "scorer_failed"
    with pytest.raises(InputError, match="schema is not valid"):
        json_schema({"type": "objekt"})


def test_a_missing_extra_is_said(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "jsonschema":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"measurand\[schema\]"):
        json_schema({})
