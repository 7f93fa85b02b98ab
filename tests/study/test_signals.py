"""What users did with replies, as numbers by cohort."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurand.core.errors import DataError, InputError
from measurand.study.records import ProductionLog
from measurand.study.signals import POWER_USERS, Shown, edit_distance, power_users, read_log, signals


def distance(a: str, b: str) -> int:
    """Levenshtein by its definition."""
    rows = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, rows[0] = rows[0], i
        for j, y in enumerate(b, 1):
            last, rows[j] = rows[j], min(rows[j] + 1, rows[j - 1] + 1, last + (x != y))
    return rows[-1]


@settings(max_examples=200, deadline=None)
@given(st.text("ab₹क्", max_size=12), st.text("ab₹क्", max_size=12))
def test_edit_distance_is_levenshtein_over_the_longer_text(a, b):
    assert edit_distance(a, b) == pytest.approx(distance(a, b) / max(len(a), len(b), 1))


def log(tmp_path, rows, name="log.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return ProductionLog(file=str(path))


def numbers(found, cohort="everybody"):
    return {one.estimate.metric: one.estimate for one in found if one.cohort == cohort}


def test_a_log_becomes_numbers_by_cohort(tmp_path):
    rows = [
        {"user": f"u{at}", "cohort": "hindi" if at % 2 else "english", "action": action}
        for at, action in enumerate(["accepted"] * 60 + ["edit"] * 20 + ["abandoned"] * 20)
    ]
    found = signals(read_log(log(tmp_path, rows)))
    whole = numbers(found)
    assert (whole["acceptance"].value, whole["edited"].value, whole["abandonment"].value) == (0.8, 0.2, 0.2)
    assert whole["acceptance"].low < 0.8 < whole["acceptance"].high
    assert {one.cohort for one in found} == {"everybody", "hindi", "english"}
    assert numbers(found, "hindi")["acceptance"].n_items == 50


def test_users_are_clusters(tmp_path):
    """One person's hundred replies are not a hundred opinions."""
    torn = [{"user": f"u{u}", "action": "accepted" if u % 2 else "abandoned"} for u in range(20) for _ in range(20)]
    alone = [{"user": f"v{at}", "action": row["action"]} for at, row in enumerate(torn)]
    by_user, by_reply = (numbers(signals(read_log(log(tmp_path, rows))))["acceptance"] for rows in (torn, alone))
    assert by_user.value == by_reply.value == 0.5
    assert by_user.n_clusters == 20
    assert by_user.high - by_user.low > 3 * (by_reply.high - by_reply.low)


def test_power_users_are_told_apart():
    lines = [Shown("m", "heavy", "", "accepted") for _ in range(300)]
    lines += [Shown("m", f"u{at}", "", "abandoned") for at in range(20) for _ in range(3)]
    assert power_users(lines) == {"heavy"}
    found = signals(lines)
    assert numbers(found)["acceptance"].value > 0.8
    assert numbers(found, POWER_USERS)["acceptance"].value == 1.0
    assert numbers(found, "other users")["acceptance"].value == 0.0
    assert power_users([Shown("m", f"u{at}", "", "accepted") for at in range(50)]) == frozenset(), "all alike"
    assert power_users([Shown("m", "", "", "accepted")] * 9) == frozenset(), "nobody is named"


def test_csv_texts_and_yes_or_no(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("variant,accepted,reply,sent\nA,yes,hello,hello\nA,yes,hello,hallo\nA,no,hello,\nB,true,x,x\n")
    found = signals(read_log(ProductionLog(file=str(path), subject="variant")))
    mine = {one.estimate.metric: one.estimate for one in found if one.subject == "A"}
    assert mine["acceptance"].value == pytest.approx(2 / 3)
    assert mine["edited"].value == pytest.approx(1 / 3)
    assert mine["edit_distance"].value == pytest.approx(0.1)
    assert {one.subject for one in found} == {"A", "B"}


def test_thumbs_are_counted_among_thumbs_only(tmp_path):
    rows = [{"action": action} for action in ["up"] * 3 + ["down"] + ["accepted"] * 6]
    whole = numbers(signals(read_log(log(tmp_path, rows))))
    assert whole["thumbs_up"].value == 0.75
    assert whole["acceptance"].n_items == 6


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([{"action": "smiled"}], "line 1: the action 'smiled'"),
        ([{"what": 1}], "name the column"),
        ([{"accepted": "maybe"}], "accepted is 'maybe'"),
        ([], "holds no line"),
    ],
)
def test_bad_logs_are_told_with_their_line(tmp_path, rows, complaint):
    with pytest.raises(InputError, match=complaint):
        signals(read_log(log(tmp_path, rows)))


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"action": "up"}\n{"action": ')
    with pytest.raises(DataError, match="line 2"):
        read_log(ProductionLog(file=str(path)))
    with pytest.raises(InputError, match="no column 'who'"):
        path.write_text('{"action": "up"}')
        read_log(ProductionLog(file=str(path), user="who"))
