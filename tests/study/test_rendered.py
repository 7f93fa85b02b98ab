"""Whatever a study comes to, the page, the text and the Markdown can show it, and open with the answer."""

import html
import re
from dataclasses import replace

import pytest

from measurand.report.study.page import findings_page
from measurand.report.study.plain import findings_markdown
from measurand.report.study.terminal import plain
from measurand.study.deciding import findings
from measurand.study.evidence import Result
from measurand.study.leaderboards import Published
from measurand.study.signals import Shown, signals
from tests.study.test_deciding import arms, bank
from tests.study.world import evidence, many, result

EMPTY = Result("m", "loans", empty="no_loglikelihood", why="it asks by loglikelihood")
SHAPES = {
    "a decision": bank(),
    "no rules": bank(rules=()),
    "a method": arms(0.2),
    "a method that is refused": arms(0.2, seeds=2),
    "nothing measured": evidence([EMPTY]),
    "no rank": evidence([result("x", "s", many(40, 0.9)), result("y", "s", many(40, 0.1), score_refused=True)]),
    "all failed": evidence([result("x", "s", [None] * 30)], rules=("accuracy on s >= 0.5",)),
    "one subject": evidence([result("x", "s", many(60, 0.9))], rules=("accuracy on s >= 0.5", "p95 latency <= 3 s")),
    "four subjects": evidence(
        [result(who, "s", many(80, rate)) for who, rate in zip("abcd", (0.9, 0.8, 0.5, 0.4), strict=True)]
    ),
    "numbers from outside": replace(
        evidence([result("x", "s", many(60, 0.9))]),
        published=(Published("board", "x", 0.9, 100),),
        signals=signals([Shown("x", f"u{at}", "hindi", "accepted") for at in range(20)]),
    ),
}


def words(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize("name", SHAPES)
def test_every_form_shows_the_answer(name):
    found = findings(SHAPES[name])
    opening = words(re.split(r"[.:;(]", found.decision.answer)[0])
    for shown in (findings_page(found), plain(found), findings_markdown(found)):
        assert opening in words(shown)


@pytest.mark.parametrize("name", SHAPES)
def test_text_fits_a_terminal(name):
    assert max(map(len, plain(findings(SHAPES[name])).splitlines())) <= 100
