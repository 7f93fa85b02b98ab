import pytest

from measurand.scoring import CHOICE, apply_stops, final_text
from tests.scoring.asking import read, value


@pytest.mark.parametrize(
    ("raw", "final"),
    [
        ("no tags", "no tags"),
        (" kept as it is ", " kept as it is "),
        ("<think>A? No.</think>The answer is C.", "The answer is C."),
        ("<think>a</think>\n\nB\n", "B"),
        ("A looks good</think>B", "B"),
        ("<think></think>B", "B"),
        ("<think>a<think>b</think>c</think>D", "D"),
        ("<thinking>a<reflection>b</reflection>c</thinking>D", "D"),
        ("<THINK>a</Think>B", "B"),
        ("[THINK]a[/THINK]B", "B"),
        ("◁think▷a◁/think▷B", "B"),
        ("<think time=3>a</think>B", "B"),
        ("Use the `<think>` tag: B", "Use the `<think>` tag: B"),
        ("<thinks>B", "<thinks>B"),
        ("<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>", "B"),
    ],
)
def test_what_is_left(raw, final):
    assert final_text(raw).text == final
    assert final_text(raw).complete


@pytest.mark.parametrize(
    "raw",
    ["<think>maybe B", "Answer: B\n<think>hm, B", "<think>a<think>b</think>B", "<thinking>a<reflection>b</reflection>B",
     "<|channel|>analysis<|message|>B"],
)  # fmt: skip
def test_unended_reasoning_gives_no_answer(raw):
    assert final_text(raw).text == ""
    assert not final_text(raw).complete
    assert value(CHOICE, raw, "x", "y") is None


def test_reasoning_is_kept_apart():
    assert final_text("<think>one</think>x<think>two</think>y").reasoning == "one\ntwo"
    assert final_text("<think>one").reasoning == "one"


def test_tags_are_a_choice():
    assert final_text("<scratch>a</scratch>B", ["scratch"]).text == "B"
    assert final_text("<think>a</think>B", ["[REASON]"]).text == "<think>a</think>B"
    assert final_text("<think>a</think>B", []).text == "<think>a</think>B"


def test_spans_refer_to_the_reply():
    raw = "<think>A</think>\n The answer is B."
    finding = read(CHOICE, raw, "x", "y")
    assert raw[slice(*finding.span)] == "B"


def test_stops_fire_after_reasoning_is_out():
    final = final_text("<think>1\n\n2</think>\n\nAnswer: 9\n\nQuestion: next")
    assert apply_stops(final.text, ["Question", "\n\n"]) == "Answer: 9"
