import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InputError
from measurand.stats.winrate import Swap, mean_win_rates, swaps, win_rates

values = st.dictionaries(st.sampled_from("ABCDEF"), st.integers(0, 4).map(float) | st.none(), max_size=6)
boards = st.dictionaries(st.sampled_from(("x", "y", "z")), values, max_size=3)


def test_it_is_the_share_of_the_others_that_are_beaten():
    assert win_rates({"A": 0.9, "B": 0.7, "C": 0.5}) == {"A": 1.0, "B": 0.5, "C": 0.0}
    assert win_rates({"A": 0.9, "B": 0.7, "C": 0.5}, lower_is_better=True) == {"A": 0.0, "B": 0.5, "C": 1.0}


def test_a_tie_counts_half():
    assert win_rates({"A": 0.9, "B": 0.9, "C": 0.5}) == {"A": 0.75, "B": 0.75, "C": 0.0}
    assert win_rates({"A": 1.0, "B": 1.0}) == {"A": 0.5, "B": 0.5}


def test_a_scenario_with_one_number_says_nothing():
    assert win_rates({"A": 0.9, "B": None}) == {}
    (only, other) = mean_win_rates({"x": {"A": 0.9, "B": None}})
    assert (only.value, only.scenarios, other.missing) == (None, (), ("x",))


def test_missing_cells_are_named_and_do_not_count():
    board = {"x": {"A": 0.9, "B": 0.7, "C": 0.5}, "y": {"A": 0.1, "B": 0.7}, "speed": {"A": 3.0, "B": 1.0, "C": 2.0}}
    rates = {one.subject: one for one in mean_win_rates(board, lower_is_better={"speed"})}
    assert rates["B"].value == pytest.approx((0.5 + 1 + 1) / 3)
    assert rates["A"].value == pytest.approx((1 + 0 + 0) / 3)
    assert rates["C"].value == pytest.approx((0 + 0.5) / 2)
    assert rates["C"].missing == ("y",)
    assert [one.subject for one in mean_win_rates(board, lower_is_better={"speed"})] == ["B", "A", "C"]


def test_two_change_places_because_a_third_left():
    """B beats A in three of five scenarios, but A leads because of how each fares against C."""
    board = {f"x{n}": {"A": 0.8, "B": 0.9, "C": 0.1} for n in range(3)}
    board |= {f"y{n}": {"A": 0.9, "B": 0.1, "C": 0.5} for n in range(2)}
    first, second, _ = mean_win_rates(board)
    assert (first.subject, first.value) == ("A", pytest.approx(0.7))
    assert (second.subject, second.value) == ("B", pytest.approx(0.6))
    assert swaps(board) == (Swap("A", "B", without="C"),)
    alone = {name: {"A": row["A"], "B": row["B"]} for name, row in board.items()}
    assert mean_win_rates(alone)[0].subject == "B"
    assert swaps(alone) == ()


@given(boards)
def test_properties(board):
    for row in board.values():
        rates = win_rates(row)
        if rates:
            assert sum(rates.values()) / len(rates) == pytest.approx(0.5)
            assert all(0 <= rate <= 1 for rate in rates.values())
    for one in mean_win_rates(board):
        assert not set(one.scenarios) & set(one.missing)
        assert (one.value is None) == (one.scenarios == ())


def test_an_unknown_scenario_is_refused():
    with pytest.raises(InputError, match="no scenario 'w'"):
        mean_win_rates({"x": {}}, lower_is_better={"w"})
