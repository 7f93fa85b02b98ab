"""Two mixtures of data: perplexity runs of two models compared domain by domain, opening with the claim."""

import pytest

from measurand.cli.main import main
from measurand.core.claim import AboutMethod
from measurand.study.records import PrivateSet
from measurand.wiring import Options, evaluate
from measurand.wiring.comparing import compare
from tests.watching.training import Checkpointed, noise, suite_files

CLAIM = AboutMethod("data", ("base", "compute", "hyperparameters"), "half-web", 1)


@pytest.fixture
def mixtures(tmp_path):
    """Two runs: one predicts code better and the web as well as the other."""
    suite_files(tmp_path, texts=80)
    texts = PrivateSet(
        file=str(tmp_path / "texts.jsonl"), name="texts", scoring="perplexity", question="text", slices=("domain",)
    )

    def run(name: str, seed: int, code: float):
        def bits(text: str) -> float:
            return (code if text.startswith("def") else 1.5) + noise(text, seed, 0.05)

        return evaluate(texts, Checkpointed(name, name, bits, 1.0), options=Options(store=str(tmp_path / "store.db")))

    return run("more-code <b>", 1, 1.2), run("half-web", 2, 1.5)


def test_the_comparison_says_where_the_mixtures_differ(mixtures):
    made = compare(*mixtures, claim=CLAIM)
    found = made.findings()
    decision = found.decision
    assert decision.question == "What does data change, with base, compute and hyperparameters held equal?"
    assert decision.claim == CLAIM
    assert "more-code <b> is better on texts as a whole" in decision.answer
    assert "adjusted for 2 slices: more-code <b> is better on code; web cannot be told apart" in decision.answer
    assert [cause.split(",")[0] for cause in decision.causes] == ["On domain code"]
    by_slice = {one.value: one.comparison for one in found.contrasts if one.value}
    assert by_slice["code"].difference.value == pytest.approx(-0.3, abs=0.05)
    assert by_slice["code"].adjusted_p >= by_slice["code"].p
    assert {threat.name for threat in decision.threats} == {"one_seed", "held_equal_as_declared"}


def test_a_claim_that_leaves_a_variable_open_is_refused(mixtures):
    made = compare(*mixtures, claim=AboutMethod("data", ("base",), "half-web", 1))
    assert "compute and hyperparameters are not" in made.whole.refused
    assert "may not be compared" in made.findings().decision.answer


def test_without_a_claim_it_is_a_comparison_of_models(mixtures):
    decision = compare(*mixtures).findings().decision
    assert decision.question == "Which is better on texts: more-code <b> or half-web?"
    assert "more-code <b> is ahead on texts" in decision.answer


def test_the_command_writes_the_page(mixtures, tmp_path, capsys):
    a, b = (one.run.id for one in mixtures)
    store = ["--store", str(tmp_path / "store.db")]
    held = ["--varies", "data", "--held-equal", "base,compute,hyperparameters"]
    page = tmp_path / "mix.html"
    assert main(["compare", a, b, *held, "--report", str(page), *store]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "everything is fixed but data, against half-web, with one seed. Held equal, as declared: base" in shown
    text = page.read_text()
    assert "more-code <b>" not in text
    assert "more-code &lt;b&gt;" in text
    assert "What does data change, with base, compute and hyperparameters held equal?" in text
    assert "Held equal, as declared: base, compute, hyperparameters." in text
    assert text.index("What does data change") < text.index("more-code") < text.index('id="differences"')
    assert "domain: code" in text
    assert main(["compare", a, b, "--held-equal", "base", *store]) == 2
    assert "goes with --varies" in capsys.readouterr().err
