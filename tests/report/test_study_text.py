"""Findings as text: in the terminal, as Markdown, and in a model card."""

import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from measurand.core.claim import AboutModel
from measurand.core.decision import Decision, Rule
from measurand.core.errors import InputError
from measurand.core.estimate import Comparison
from measurand.core.findings import Contrast, Findings
from measurand.core.subject import Facts
from measurand.report.model_card import model_card
from measurand.report.study.glossary import WORDS
from measurand.report.study.plain import findings_markdown
from measurand.report.study.terminal import plain, terminal
from measurand.report.study.wording import (
    by_subject,
    contrasted,
    difference,
    finding,
    needs,
    opening,
    over,
    simulated,
    tie_groups,
    unknown,
    verdicts,
)
from tests.report.payloads import POISON
from tests.report.studies import CARDS, SUBJECTS, estimate, findings

QUIZ = {(one, "quiz"): 0.6 for one in SUBJECTS[:2]}
EMPTY = Findings("s", ("a",), Decision("Which?", AboutModel(), (), (), (), ()), ())


def words(text: str) -> str:
    return text.replace("\u00a0", " ")


def contrast(size, half, *, adjusted=None, **fields):
    found = estimate(size, half)
    return Contrast(
        "quiz", "accuracy", "a", "b", comparison=Comparison("a", "b", True, found, 0.01, adjusted), **fields
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (contrast(0.1, 0.05), "higher"),
        (contrast(-0.1, 0.05), "lower"),
        (contrast(0.01, 0.05), "cannot be told apart"),
        (contrast(0.05, 0.05), "cannot be told apart"),
        (contrast(0.1, 0.05, adjusted=0.2), "cannot be told apart, as so many were compared"),
        (contrast(0.1, 0.05, adjusted=0.04), "higher"),
        (Contrast("q", "m", "a", "b", refused="two protocols"), "must not be compared"),
        (Contrast("q", "m", "a", "b"), "not compared"),
    ],
)
def test_only_a_difference_beyond_its_error_is_called_one(made, said):
    assert finding(made) == said


def test_differences_are_in_points_with_signs():
    assert words(difference(estimate(0.242, 0.06))) == "+24.2 points"
    assert words(difference(estimate(-0.011, 0.06))) == "−1.1 points"
    assert words(difference(estimate(0.0, 0.06))) == "0.0 points"
    assert words(difference(estimate(-1.5, 0.06, unit="s"))) == "−1.500 s"
    assert difference(estimate(0.1, 0.0, unit="score")) == "+0.100"
    assert words(contrasted(contrast(0.1, 0.05, view="slice:language", value="hi"))) == (
        "a − b, language: hi: +10.0 points [+5.0 to +15.0], p = 0.010: higher"
    )


def test_verdicts_are_counted_for_each_subject_the_chosen_one_first():
    study = findings()
    assert [name for name, _ in by_subject(study)] == ["assistant-b", "assistant-a", "present-model"]
    assert dict(by_subject(study))["assistant-b"] == "4 pass, 1 is undecided"
    assert verdicts([]) == "no rules"
    assert needs(Rule("r", "undecided", "b", needs=1)) == "1 more item"
    assert needs(Rule("r", "undecided", "b")) == "more items cannot decide it"
    assert needs(Rule("r", "pass", "b", needs=5)) == ""


def test_what_is_not_known_is_counted_and_about_the_chosen_subject():
    told = [f"{count}{of}" for _, count, of in unknown(findings())]
    assert told == [
        "1 rule is undecided for assistant-b: worst slice of language >= 0.70.",
        "60 of 72 cells of the coverage matrix are empty, each with its reason.",
        "1 comparison is refused: measured differently.",
        "10 threats to what is said here: reasons why a number may not mean what it seems to.",
    ]
    nobody = findings()
    nobody = replace(nobody, decision=replace(nobody.decision, chosen=""))
    assert next(count for _, count, _ in unknown(nobody)) == "2 rules are undecided", "rules, not rules times subjects"
    assert list(unknown(EMPTY)) == []
    assert opening(EMPTY).startswith("There is no answer yet")
    assert simulated(EMPTY) == ""


def test_names_of_views_and_groups():
    assert over("pooled", "") == "all items"
    assert over("macro:language", "") == "unweighted mean over language"
    assert over("macro:family>language", "") == "unweighted mean over family, then over language"
    assert over("slice:language*kind", "hi * emi") == "language*kind: hi * emi"
    assert tie_groups(findings().rankings[1]) == ["assistant-b", "assistant-a = present-model"]


def test_the_terminal_says_all_of_it_in_eighty_columns():
    text = plain(findings())
    assert max(map(len, text.splitlines())) <= 80
    parts = (
        "Ship assistant-b",
        "SIMULATED",
        "How sure",
        "Not known",
        "Rules",
        "Numbers",
        "Who can be",
        "Differences",
        "Threats",
        "What would change",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "? undecided" in text
    assert "(160" in text
    assert "no rank" in text
    assert text.count("→") == 10
    assert plain(EMPTY).splitlines() == ["Which?", "There is no answer yet: the rules do not single out a subject."]


def test_the_terminal_obeys_nothing_from_outside():
    target = io.StringIO()
    Console(file=target, force_terminal=True, width=100, color_system="truecolor").print(
        terminal(findings(SUBJECTS[:2], QUIZ, POISON))
    )
    assert "\x1b]8;" not in target.getvalue()
    assert "\x1b[31mred\x1b" not in target.getvalue()
    assert "\u202e" not in target.getvalue()
    assert "[bold red]" in target.getvalue()


def test_markdown_has_its_parts_and_no_markup_from_outside():
    text = findings_markdown(findings(SUBJECTS[:2], QUIZ, POISON))
    lines = text.splitlines()
    assert next(line for line in lines if line.startswith("#")).startswith("# Which assistant")
    assert {line for line in lines if line.startswith("## ")} >= {"## Rules", "## Numbers", "## Coverage", "## Threats"}
    assert all(re.fullmatch(r"# Which.*|## [A-Z].*", line) for line in lines if line.startswith("#"))
    assert "](https" not in text
    assert "<script" not in text.replace("\\<", "")
    tables = [line for line in lines if line.startswith("|")]
    widths = {line.count("|") - line.count("\\|") for line in tables}
    assert widths == {6, 10}
    assert findings_markdown(EMPTY).startswith("# Which?\n\n**There is no answer yet")


def test_the_model_card_names_protocols_and_what_is_not_known_of_contamination():
    study = findings()
    text = model_card(study, "assistant-b", CARDS)
    for summary in study.summaries:
        assert summary.run.protocol[:8] in text
    assert "SIMULATED" in text
    assert "No test for contamination was made" in text
    assert (
        "released 2021-03-01, and the subject's cut-off is not stated; the subject may have been trained on it" in text
    )
    assert "no day of release is stated" in text
    assert "hinglish is 15.8 points below" in text
    assert "weights it serves" not in text, "that threat is about another subject"
    with pytest.raises(InputError, match="its subjects are assistant-a, assistant-b, present-model"):
        model_card(study, "nobody")


@pytest.mark.parametrize(
    ("cutoff", "said"),
    [("2021", "may have been trained"), ("2020-12", "only by another way"), ("2024-06-01", "may have been trained")],
)
def test_a_cut_off_is_weighed_against_the_release(cutoff, said):
    study = findings(("m",), {("m", "public_quiz"): 0.5})
    summary = study.summaries[0]
    known = replace(summary, run=replace(summary.run, facts=Facts("2026-01-01", cutoff=cutoff)))
    assert said in model_card(replace(study, summaries=(known,), simulated=()), "m", CARDS)


def test_the_glossary_has_every_word_of_the_page():
    glossary = (Path(__file__).resolve().parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    bold = " ".join(re.findall(r"\*\*(.+?)\*\*", glossary)).lower()
    assert [word for word in WORDS if word not in bold] == []
