import pytest

from measurand.core.claim import AboutMethod, AboutModel, AboutSystem
from measurand.core.estimate import Estimate
from measurand.report.wording import about, bounds, caveat, claim, interval, number, visible
from measurand.run.summary import summarise
from tests.report.runs import plain, rich


def estimate(**fields):
    return Estimate(
        **{
            "metric": "accuracy",
            "value": 0.5,
            "low": 0.25,
            "high": 0.75,
            "level": 0.95,
            "method": "Wilson",
            "n_items": 4,
            "n_trials": 4,
        }
        | fields
    )


def words(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_numbers_in_words():
    assert words(number(estimate())) == "50.0 %"
    assert words(number(estimate(value=1.2345, unit="bits/byte"))) == "1.234 bits/byte"
    assert words(number(estimate(value=7.0, unit="score"))) == "7.000"
    assert number(estimate(value=None)) == "no number"
    assert words(interval(estimate())) == "25.0 to 75.0"
    assert interval(estimate(low=None)) == ""
    assert words(bounds(estimate(n_missing=2, bounds=(0.3, 0.6)))) == "30.0 to 60.0"
    assert bounds(estimate(n_missing=2)) == "anywhere"
    assert bounds(estimate()) == ""


def test_the_claim_says_number_error_protocol_and_reach():
    store, run = plain([1.0] * 30 + [0.0] * 10 + [None])
    summary = summarise(store, run)
    assert words(claim(summary)) == (
        f"SmolLM2-135M answers 75.0 % [59.8 to 85.8] of the items of gsm8k correctly, measured under protocol "
        f"{run.protocol[:8]} on 40 of 41 items."
    )
    assert words(caveat(summary)) == "1 trial is missing; whatever they were, the number lies in 73.2 to 75.6 %."


def test_a_claim_without_a_number_claims_nothing():
    summary = summarise(*plain([None, None]))
    assert claim(summary).startswith("Nothing can be said yet of SmolLM2-135M on gsm8k under protocol ")


def test_claims_by_kind():
    assert "model" in about(AboutModel())
    assert "system" in about(AboutSystem())
    assert "against SFT, with 3 seeds" in about(AboutMethod("the loss", (), "SFT", 3))


def test_nothing_is_missing_nothing_is_added():
    assert caveat(summarise(*plain([1.0, 0.0]))) == ""
    assert "missing" in caveat(summarise(*rich()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a␀b"),
        ("\x1b[31m", "␛[31m"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x7f", "␡"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("line\nwith\ttab", "line\nwith\ttab"),
        ("क्\u200dष 👩\u200d💻 עברית", "क्\u200dष 👩\u200d💻 עברית"),
    ],
)
def test_what_hides_is_shown_and_scripts_are_left_alone(text, shown):
    assert visible(text) == shown
