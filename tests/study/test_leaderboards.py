"""Published numbers read with doubt: every doubt both ways."""

import pytest

from measurand.core.errors import DataError, InputError
from measurand.study.leaderboards import Published, as_estimate, check, read_published

TODAY = "2026-06-01"


def row(board, model, score, **more):
    return Published(board, model, score, **({"n": 1000, "date": "2026-01-01", "code": "link", "protocol": "p"} | more))


CLEAN = [row("one", "x-1", 0.9), row("one", "y-1", 0.5), row("two", "x-1", 0.8), row("two", "y-1", 0.4)]

DOUBTS = {
    "boards_disagree": [row("one", "x-1", 0.9), row("one", "y-1", 0.5), row("two", "x-1", 0.4), row("two", "y-1", 0.8)],
    "ranks_within_noise": [row("one", "x-1", 0.72, n=198), row("one", "y-1", 0.70, n=198)],
    "jump_without_support": [
        row("one", "x-1", 0.5, date="2025-09-01"),
        row("one", "x-2", 0.8),
        row("two", "x-1", 0.5, date="2025-09-01"),
        row("two", "x-2", 0.505),
    ],
    "missing_results": [*CLEAN, row("one", "z-1", 0.1)],
    "survivorship": [
        *CLEAN,
        row("three", "y-1", 0.1),
        row("three", "x-1", 0.2),
        row("four", "y-1", 0.1),
        row("four", "z", 0.9),
    ],
    "no_code": [*CLEAN, row("one", "z-1", 0.1, code="")],
    "imported_without_protocol": [*CLEAN, row("one", "z-1", 0.1, protocol="")],
    "protocols_differ": [*CLEAN, row("one", "z-1", 0.1, protocol="other")],
    "no_error_known": [*CLEAN, row("one", "z-1", 0.1, n=None)],
    "stale": [*CLEAN, row("one", "z-1", 0.1, date="2024-01-01")],
    "undated": [*CLEAN, row("one", "z-1", 0.1, date="")],
}


@pytest.mark.parametrize("name", DOUBTS)
def test_a_doubt_is_raised_where_it_is(name):
    raised = {one.name: one for one in check(DOUBTS[name], TODAY)}
    assert raised[name].evidence
    assert raised[name].remedy


def test_a_clean_table_raises_none():
    assert check(CLEAN, TODAY) == ()


def test_a_jump_that_other_boards_support_is_none():
    supported = [*DOUBTS["jump_without_support"][:3], row("two", "x-2", 0.7)]
    assert "jump_without_support" not in {one.name for one in check(supported, TODAY)}


def test_three_points_at_gpqa_size_are_within_noise():
    """Diamond has 198 questions: three points between two models say nothing."""
    (threat,) = [
        one
        for one in check([row("gpqa", "a", 0.60, n=198), row("gpqa", "b", 0.57, n=198)], TODAY)
        if one.name == "ranks_within_noise"
    ]
    assert "3.0 points apart" in threat.evidence


def test_percentages_and_shares_are_read_alike(tmp_path):
    path = tmp_path / "boards.csv"
    path.write_text(
        "board,model,score,n,date\none,x,72.5%,198,2026-01-01\none,y,0.9,198,2026-01-01\ntwo,x,0.725,198,\n"
    )
    rows = read_published(path)
    assert [one.score for one in rows] == pytest.approx([0.725, 0.009, 0.725]), "within one board all are percentages"
    assert as_estimate(rows[0]).low < 0.725 < as_estimate(rows[0]).high
    assert as_estimate(Published("b", "m", 0.5)).low is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("model,score\nx,1\n", "no column 'board'"),
        ("board,model,score\na,x,high\n", "line 2"),
        ("board,model,score,date\na,x,0.5,yesterday\n", "line 2"),
        ("board,model,score\na,x,120\n", "0 to 100"),
        ("board,model,score\na,,0.5\n", "needs a board, a model"),
    ],
)
def test_bad_tables_are_told(tmp_path, text, complaint):
    path = tmp_path / "boards.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_published(path)


def test_a_search_is_a_board_of_its_own_and_said_to_stand_among_single_passes():
    rows = [row("arc", "x-1", 0.50), row("arc", "y-1", 0.30), row("arc", "x-1", 0.505, passes="search")]
    raised = {one.name: one for one in check(rows, TODAY)}
    assert raised["passes_differ"].evidence == (
        "arc lists numbers of 2 kinds side by side: x-1 by single pass and x-1 by search"
    )
    assert "ranks_within_noise" not in raised, "50 and 50.5 are of two kinds, so they are no neighbours"
    assert "missing_results" not in raised


def test_the_kind_of_passes_is_read_and_must_be_known(tmp_path):
    path = tmp_path / "boards.csv"
    path.write_text("board,model,score,passes\narc,x,75.7,search\narc,y,30,\n", encoding="utf-8")
    assert [one.passes for one in read_published(path)] == ["search", "single pass"]
    path.write_text("board,model,score,passes\narc,x,75.7,tree\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 2: there is no kind of passes 'tree'; there are single pass, majority"):
        read_published(path)
