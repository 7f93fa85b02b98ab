"""A gate's result for machines and people, whatever the names in it hold."""

import xml.etree.ElementTree as ET

import pytest

from measurand.core.decision import Gate, Rule
from measurand.report.gate import headline, junit, markdown, terms
from tests.report.payloads import PAYLOADS

CHECKS = (Rule("a", "pass", "good"), Rule("b", "fail", "worse on q1"), Rule("c", "undecided", "close", needs=1200))


def made(checks=CHECKS, **more):
    return Gate("items", "subject", "ab" * 8, "cd" * 32, checks, **more)


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        (("pass", "pass"), "pass"),
        (("pass", "undecided"), "undecided"),
        (("undecided", "fail"), "fail"),
        ((), "undecided"),
    ],
)
def test_one_fail_fails_and_doubt_is_no_pass(verdicts, verdict):
    assert made(tuple(Rule("r", one, "b") for one in verdicts)).verdict == verdict


def test_the_terms_are_stated():
    assert headline(made()) == "The gate fails: subject on items"
    told = terms(made(baseline="ef" * 8, margin=0.02, false_alarm=0.025))
    assert (
        told
        == "run abababab, protocol cdcdcdcd, baseline run efefefef; margin 2 points, at most 2.5 % of changes within it fail"
    )
    assert "margin" not in terms(made())


def test_junit_counts_fails_and_doubts_apart():
    suite = ET.fromstring(junit(made()).partition("\n")[2])
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    assert "about 1,200 further items would decide" in suite.find("testcase/error").get("message")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_names_break_neither(payload):
    gate = made((Rule(payload, "fail", payload + "\x00\x0b|\n<b>"),))
    gate = Gate(payload, payload, gate.run, gate.protocol, gate.checks)
    ET.fromstring(junit(gate).partition("\n")[2])
    rows = [line for line in markdown(gate).splitlines() if line.startswith("| ❌")]
    assert len(rows) == 1
    assert "<b>" not in rows[0]
    assert "<script" not in markdown(gate)
