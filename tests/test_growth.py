"""The measure of growth tells what is linear from what is quadratic."""

import pytest

from tests.growth import FLOOR, assert_grows_gently


def test_what_is_linear_passes() -> None:
    assert_grows_gently(lambda size: sum(range(size)), 30_000_000)


def test_what_is_quadratic_does_not() -> None:
    def pairs(size: int) -> int:
        return sum(1 for one in range(size) for _ in range(one))

    with pytest.raises(AssertionError, match="pairs size 8000"):
        assert_grows_gently(pairs, 8_000, "pairs")
    assert FLOOR < 1
