"""The rules of LawBench, on texts of our own: what counts, what does not, and what is left out."""

from typing import Any

import pytest

from measurand.core.item import Item, Question
from measurand.core.trial import Absent, Found, Measured, Missing
from measurand.scoring.lawbench import LAWBENCH_ANSWERED, LAWBENCH_SCORE, LONGEST, TASKS, _longest_common
from tests.growth import assert_grows_gently

GOLDS = {
    "1-1": "答案:借款人应当按期还款。", "1-2": "正确答案：B。", "2-2": "争议焦点类别：违约。", "2-3": "类别:准予离婚、支付抚养费。",
    "2-4": "公司法", "2-5": "回答:4000元", "2-6": "受害人:王某;地点:北京", "2-7": "法院已经宣判。", "2-8": "[正确答案]E<eoa>",
    "2-9": "买入;卖出", "2-10": "买;卖", "3-1": "法条:刑法第264条、12条", "3-2": "根据第五条，应当赔偿。", "3-3": "罪名:盗窃;抢劫",
    "3-4": "刑期:12个月", "3-5": "刑期:6个月", "3-6": "正确答案:C。", "3-7": "上文涉及到的犯罪金额:8500.0元。", "3-8": "可以起诉。",
}  # fmt: skip


def marks(task: str, reply: str, gold: str = "") -> tuple[float | None, float | None]:
    item = Item("x", Question("q"), gold={"task": task, "answer": gold or GOLDS[task]})
    values = [
        scorer.score(item, Found(reply) if reply else Absent("empty")) for scorer in (LAWBENCH_SCORE, LAWBENCH_ANSWERED)
    ]
    score, answered = (value.row[0] if isinstance(value, Measured) else None for value in values)
    return score, answered


@pytest.mark.parametrize(
    ("task", "reply", "score", "answered"),
    [
        ("1-2", "[正确答案]B<eoa>", 1, 1),
        ("1-2", "B，而不是A", 0, 1),
        ("1-2", "不知道", 0, 0),
        ("2-2", "[争议焦点]违约", 1, 1),
        ("2-2", "违约或者合同解除", 0, 1),
        ("2-3", "准予离婚", 2 / 3, 1),
        ("2-5", "4000元。", 1, None),
        ("2-5", "", 0, None),
        ("2-6", "受害人:王某\n地点：北京 海淀", 1, None),
        ("2-6", "受害人:无\n地点：北京 海淀", 2 / 3, None),
        ("2-9", "买入、卖出", 1, 1),
        ("2-10", "买;卖", 1, None),
        ("2-10", "卖;买", 0, None),
        ("3-1", "[法条]刑法第二百六十四条、刑法第12条<eoa>", 1, 1),
        ("3-1", "刑法第264条、刑法第12条第二款", 2 / 3, 1),  # from the first 第 on all is taken for the paragraph's
        ("3-1", "刑法第264条", 2 / 3, 1),
        ("3-1", "无罪", 0, 0),
        ("3-3", "盗窃、侮辱尸体", 0.4, 1),
        ("3-4", "十二个月", 1, 1),
        ("3-4", "[刑期]1年<eoa>", 1, 1),
        ("3-4", "无罪", 0, 0),
        ("3-7", "共计8500元", 1, 1),
        ("3-7", "8,500元", 0, 1),
        ("3-8", "可以起诉。", 1, None),
        ("3-8", "", 0, None),
    ],
)
def test_rules_of_the_tasks(task: str, reply: str, score: float, answered: float | None) -> None:
    given, found = marks(task, reply)
    assert given == pytest.approx(score, abs=1e-6)
    assert found == answered


@pytest.mark.parametrize("task", sorted(set(TASKS) - {"1-1", "2-1", "2-5", "2-6"}))
def test_the_reference_earns_everything_where_its_form_is_the_replys(task: str) -> None:
    assert marks(task, GOLDS[task])[0] == pytest.approx(1, abs=1e-6)


def test_what_is_left_out_has_its_reason() -> None:
    for task, gold, why in (
        ("2-2", "争议焦点类别：赔偿。", "赔偿"),
        ("3-4", "刑期:死刑", "death"),
        ("3-5", "刑期:无期", "life"),
    ):
        value = LAWBENCH_SCORE.score(Item("x", Question("q"), gold={"task": task, "answer": gold}), Found("违约 1年"))
        assert isinstance(value, Missing)
        assert value.why == "not_applicable"
        assert why in value.detail


def test_the_task_that_needs_ltp_is_missing_and_not_zero() -> None:
    value = LAWBENCH_SCORE.score(Item("x", Question("q"), gold={"task": "2-1", "answer": "句子"}), Found("句子"))
    assert isinstance(value, Missing)
    assert (value.why, "ltp" in value.detail) == ("scorer_failed", True)


@pytest.mark.parametrize(
    "gold", [None, "x", {"task": "4-1", "answer": "x"}, {"task": "3-4", "answer": "x"}, {"task": "1-2", "answer": ""}]
)
def test_golds_of_another_form_are_missing(gold: Any) -> None:
    assert isinstance(LAWBENCH_SCORE.score(Item("x", Question("q"), gold=gold), Found("12个月")), Missing)


@pytest.mark.parametrize(
    "junk", ["9", " ", "A", "\n", "第", "条", "个月", "时间:", "一", "。", "亿", "、", ";"], ids=ascii
)
def test_long_junk_is_scored_in_time(junk: str) -> None:
    text = (junk * LONGEST)[:LONGEST]  # of what is longer, the rest is not read
    for task in sorted(GOLDS.keys() & TASKS):

        def mark(size: int, task: str = task) -> None:
            marks(task, text[:size])

        assert_grows_gently(mark, LONGEST, task)
        assert marks(task, text * 12) == marks(task, text)


def test_the_longest_common_subsequence_by_bits_is_that_of_the_table() -> None:
    def table(one: str, other: str) -> int:
        row = [0] * (len(one) + 1)
        for b in other:
            last = 0
            for place, a in enumerate(one, 1):
                last, row[place] = row[place], last + 1 if a == b else max(row[place], row[place - 1])
        return row[-1]

    for one, other in (
        ("", ""),
        ("abc", "abc"),
        ("abcbdab", "bdcaba"),
        ("aaa", "aa"),
        ("xay", "zbz"),
        ("ab" * 40, "ba" * 33),
    ):
        assert _longest_common(one, other) == table(one, other)
