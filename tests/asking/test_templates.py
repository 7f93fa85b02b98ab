"""Templates: filled exactly, or refused with the nearest name."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.asking import fill, names
from measurand.core.errors import InputError
from tests.growth import assert_grows_gently

NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(fields=st.dictionaries(NAMES, st.text(), min_size=1), between=st.text(st.characters(exclude_characters="{}")))
def test_every_name_is_replaced_by_its_field_exactly(fields: dict[str, str], between: str) -> None:
    template = between.join(f"{{{{{name}}}}}" for name in fields)
    assert fill(template, fields) == between.join(fields.values())
    assert names(template) == tuple(fields)


def test_what_is_filled_in_is_not_read_as_a_template() -> None:
    assert fill("{{a}} {{ b }}", {"a": "{{b}} %s {0} \\1", "b": "x", "unused": "y"}) == "{{b}} %s {0} \\1 x"


def test_single_braces_are_characters() -> None:
    assert fill('{"a": {{a}}} \\frac{1}{2}', {"a": "1"}) == '{"a": 1} \\frac{1}{2}'


@pytest.mark.parametrize(
    ("template", "fields", "says"),
    [
        ("{{queston}}", {"question": "x"}, "did you mean 'question'?"),
        ("{{zzz}}", {"question": "x"}, "there are 'question'"),
        ("{{zzz}}", {}, "there are no fields"),
        ("a {{question", {"question": "x"}, "'{{question', which is no {{name}}"),
        ("{{two words}}", {}, "which is no {{name}}"),
        ("{{}}", {}, "which is no {{name}}"),
    ],
)
def test_an_unfilled_name_is_an_error(template: str, fields: dict[str, str], says: str) -> None:
    with pytest.raises(InputError) as caught:
        fill(template, fields)
    assert says in str(caught.value)


def test_a_field_must_be_text() -> None:
    with pytest.raises(InputError, match="'a' of a template is of type NoneType"):
        fill("{{a}}", {"a": None})  # type: ignore[dict-item]  # what untyped callers do


@pytest.mark.parametrize("junk", ["{", "{{", "{{ ", "{{a", "{{a }", "}}", "{{a}} "])
def test_no_template_is_slow(junk: str) -> None:
    def filled(size: int) -> None:
        with contextlib.suppress(InputError):
            fill(junk * size, {"a": "x"})

    assert_grows_gently(filled, 30_000)
