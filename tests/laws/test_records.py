"""Records are frozen, strict, pickle, round-trip as canonical JSON, and have identities that never move (law 15)."""

import copy
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core import request
from measurand.core.errors import InvalidRecordError
from measurand.core.identity import canonical, canonical_json, decode, identity
from measurand.core.record import Record
from tests.laws.examples import EXAMPLES
from tests.laws.tree import modules

PINS = Path(__file__).parent / "identity.json"


def every_record() -> set[type[Record]]:
    for module in modules():
        if module.room in {"core", "study", "run"}:
            importlib.import_module(f"measurand.{module.name}")

    def below(kind: type[Record]) -> set[type[Record]]:
        return {kind}.union(*(below(sub) for sub in kind.__subclasses__()))

    return {kind for kind in below(Record) if kind is not Record and kind.__module__.startswith("measurand.core")}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
def test_round_trips(example: Record):
    assert pickle.loads(pickle.dumps(example)) == example
    assert decode(canonical(example), type(example)) == example


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
def test_identity_survives_the_journey(example: Record):
    """Decoding makes new objects of every value; an explicit default is the default."""
    assert identity(decode(canonical(example), type(example))) == identity(example)
    required = {
        field.name: getattr(example, field.name)
        for field in msgspec.structs.fields(example)
        if field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    }
    bare = type(example)(**required)
    spelled_out = type(example)(**{name: copy.deepcopy(getattr(bare, name)) for name in bare.__struct_fields__})
    assert identity(spelled_out) == identity(bare)


def test_an_explicit_default_is_the_default():
    zero = float("0.0")
    assert identity(request.Decode(temperature=zero, max_tokens=512)) == identity(request.Decode(max_tokens=512))
    assert identity(request.Complete("p", request.Decode())) == identity(request.Complete("p"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
def test_strict_and_frozen(example: Record):
    field = next(iter(type(example).__struct_fields__), None)
    if field is not None:
        with pytest.raises(AttributeError):
            setattr(example, field, None)
    plain = msgspec.to_builtins(example) | {"no_such_field": 1}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain, type(example))


def test_every_record_has_an_example():
    public = {kind for kind in every_record() if not kind.__name__.startswith("_")}
    assert public == {type(example) for example in EXAMPLES}


def test_identities_are_pinned():
    pins = json.loads(PINS.read_text())
    now = {type(example).__name__: identity(example) for example in EXAMPLES}
    assert now == pins, "an identity moved: every store ever written would miss"


def test_identity_is_the_same_in_another_process():
    code = (
        "import json; from tests.laws.examples import EXAMPLES; from measurand.core.identity import identity;"
        "print(json.dumps({type(e).__name__: identity(e) for e in EXAMPLES}))"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root, env={"PYTHONHASHSEED": "7"}
    )
    assert json.loads(done.stdout) == json.loads(PINS.read_text())


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), json_values, max_size=6))
def test_key_order_does_not_matter(value: dict):
    backwards = dict(reversed(value.items()))
    assert canonical_json(value) == canonical_json(backwards)
    assert json.loads(canonical_json(value)) == value


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), "\ud800", {"a": [float("nan")]}])
def test_unstable_values_are_refused(bad: object):
    with pytest.raises(InvalidRecordError):
        canonical_json(bad)
