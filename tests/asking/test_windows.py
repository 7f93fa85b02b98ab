"""Windows score every token once, in order, whatever their length and stride."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.asking.reading import reading
from measurand.asking.windows import windows
from measurand.core.errors import InputError
from measurand.core.item import Document, Item, Question
from measurand.core.request import Rolling


@given(n=st.integers(0, 200), window=st.integers(1, 50), data=st.data())
def test_every_token_is_scored_once_in_order_with_as_much_context_as_fits(n, window, data):
    stride = data.draw(st.integers(1, window))
    ids = list(range(n + 1))
    made = windows(ids, window, stride)
    assert [one for part in made for one in part.ids[part.start :]] == ids[1:]
    for part in made:
        assert len(part.ids) - 1 <= window
        assert list(part.ids) == list(range(part.ids[0], part.ids[0] + len(part.ids)))
        assert len(part.ids) - 1 == min(window, part.ids[-1])
        assert part.start >= 1


@given(n=st.integers(1, 120), window=st.integers(1, 30), data=st.data())
def test_the_strides_are_those_of_the_hugging_face_documentation(n, window, data):
    """The loop of the page on perplexity, whose first token is our prefix."""
    stride = data.draw(st.integers(1, window))
    expected = []
    done = 0
    for begin in range(0, n, stride):
        end = min(begin + window, n)
        expected.append((tuple(range(begin, end + 1)), end - done))
        done = end
        if end == n:
            break
    found = [(part.ids, len(part.ids) - part.start) for part in windows(range(n + 1), window, stride)]
    if (n - window) % stride == 0 or n <= window:
        assert found == expected
    assert [scored for _, scored in found] == [scored for _, scored in expected]


def test_disjoint_windows_as_lm_eval_reads_them():
    made = windows([0, *range(1, 11)], 4, 4)
    assert [(part.ids[:-1], part.ids[part.start :]) for part in made] == [
        ((0, 1, 2, 3), (1, 2, 3, 4)),
        ((4, 5, 6, 7), (5, 6, 7, 8)),
        ((6, 7, 8, 9), (9, 10)),
    ]


@pytest.mark.parametrize(("window", "stride"), [(4, 0), (4, 5), (0, 0)])
def test_sizes_that_skip_tokens_are_refused(window, stride):
    with pytest.raises(InputError, match="stride"):
        windows([0, 1, 2], window, stride)


def test_the_window_and_the_stride_are_named_in_the_protocol():
    item = Item("1", Document("text"))
    assert reading(8).requests(item, ()) == (Rolling("text", 8, 8),)
    assert reading(8, 2).requests(item, ()) == (Rolling("text", 8, 2),)
    assert "8 tokens, a stride of 2" in reading(8, 2).name
    assert "disjoint" in reading(8).name
    with pytest.raises(InputError, match="stride of 9"):
        reading(8, 9)
    with pytest.raises(InputError, match="no document"):
        reading().requests(Item("1", Question("q")), ())
