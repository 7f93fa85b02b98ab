"""A study file maps on its record one to one; every mistake is a sentence with a mend."""

from pathlib import Path

import pytest

from measurand.core.claim import AboutMethod, AboutSystem
from measurand.core.errors import InputError
from measurand.study.load import load_study
from measurand.study.records import Arm, Candidate

ROOT = Path(__file__).resolve().parents[2]
HEAD = 'name = "n"\nquestion = "q"\n'
SETS = '\n[[sets]]\nfile = "items.csv"\nquestion = "q"\n'


def load(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return load_study(path)


def test_everything_a_study_may_say(tmp_path):
    study = load(
        tmp_path,
        HEAD
        + 'subjects = ["openai:gpt", {spec = "replay:old.jsonl", name = "OLD", price = [1.0, 2.0], simulated = true}]\n'
        + 'rules = ["accuracy >= 0.8"]\npresent = "OLD"\ndecide_on = "items"\naccept_difference = ["asking.text"]\n'
        + 'slices = ["a*b"]\npublished = "boards.csv"\nsequential = true\n[claim]\ntype = "about_system"\n'
        + '[[logs]]\nfile = "log.jsonl"\n'
        + SETS
        + 'style = "quiz"\ntuned = true\n',
    )
    assert study.claim == AboutSystem()
    assert [one.label for one in study.candidates] == ["gpt", "OLD"]
    assert study.candidates[1].spec == f"replay:{tmp_path / 'old.jsonl'}", "recorded replies lie beside the study"
    assert (study.sets[0].file, study.logs[0].file) == (str(tmp_path / "items.csv"), str(tmp_path / "log.jsonl"))
    assert study.published == str(tmp_path / "boards.csv")
    assert study.sets[0].tuned


def test_a_method_study(tmp_path):
    study = load(
        tmp_path,
        HEAD
        + 'subjects = ["vllm:a1", "vllm:a2", "vllm:b1", "vllm:b2"]\n[claim]\ntype = "about_method"\nvaries = "data"\n'
        + 'held_equal = ["base"]\nbaseline = "a"\nseeds = 2\n[[arms]]\nname = "a"\nsubjects = ["a1", "a2"]\n'
        + '[[arms]]\nname = "b"\nsubjects = ["b1", "b2"]\n'
        + SETS,
    )
    assert study.claim == AboutMethod("data", ("base",), "a", 2)
    assert study.arms[1] == Arm(name="b", subjects=("b1", "b2"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('subjects = ["a:b"]\nrule = ["x"]\n', "unknown key 'rule'; did you mean 'rules'?"),
        (
            'subjects = [{spec = "a:b", prize = [1.0, 2.0]}]\n',
            "unknown key 'prize' in [[subjects]]; did you mean 'price'?",
        ),
        (
            'subjects = ["a:b"]\npresent = "bb"\n',
            "present names 'bb', which is no subject of the study; did you mean 'b'?",
        ),
        ('subjects = ["a:b"]\n[[arms]]\nname = "x"\nsubjects = ["zzz"]\n', "arm 'x' names 'zzz'"),
        ('subjects = ["a:b", "c:b"]\n', "two subjects are called 'b'; give each a name of its own"),
        ('subjects = ["a:b"]\n[[logs]]\nfil = "x"\n', "unknown key 'fil' in [[logs]]; did you mean 'file'?"),
        (
            'subjects = ["a:b"]\n[claim]\ntype = "about_mode"\n',
            "there is no claim 'about_mode'; a claim is about_model, about_system, about_method",
        ),
        ('subjects = ["a:b"]\nrules = "accuracy >= 0.8"\n', "Expected `array`"),
    ],
)
def test_mistakes_are_told(tmp_path, text, complaint):
    with pytest.raises(InputError) as caught:
        load(tmp_path, HEAD + text + SETS)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("candidate", "label"),
    [
        (Candidate(spec="openai:gpt-4o"), "gpt-4o"),
        (Candidate(spec="replay:some/where/good.jsonl"), "good"),
        (Candidate(spec="callable:app.main:answer"), "app.main:answer"),
        (Candidate(spec="openai:gpt-4o", name="today"), "today"),
    ],
)
def test_a_subject_is_called_by_its_name(candidate, label):
    assert candidate.label == label


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.toml")), ids=lambda path: path.name)
def test_the_examples_can_be_read(path):
    if path.name != "written.toml":
        assert load_study(path).candidates
