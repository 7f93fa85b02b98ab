"""A training run that really is one: a tiny model learns a text, and each checkpoint is read by PyTorch."""

import json

import pytest

from measurand.cli.main import main
from tests.providers.test_transformers import byte_tokenizer, tiny, torch

pytestmark = pytest.mark.slow

SUITE = """
name = "tiny"
checkpoints = 20

[[sets]]
name = "texts"
file = "texts.jsonl"
scoring = "perplexity"
question = "text"
slices = ["domain"]
window = 64
"""
SENTENCE = "the cat sat on the mat and the dog sat on the log. "


def train(folder, log, steps=(20, 60, 120)) -> None:
    """Teach a model a sentence; write a checkpoint at some steps and the loss at each."""
    model, tokenizer = tiny().train(), byte_tokenizer()
    ids = torch.tensor([tokenizer(SENTENCE, add_special_tokens=False).input_ids])
    learning = torch.optim.AdamW(model.parameters(), lr=3e-3)
    with log.open("w") as lines:
        for step in range(1, max(steps) + 1):
            loss = model(ids, labels=ids).loss
            learning.zero_grad()
            loss.backward()
            learning.step()
            lines.write(json.dumps({"step": step, "loss": loss.item()}) + "\n")
            if step in steps:
                model.save_pretrained(folder / f"checkpoint-{step}")
                tokenizer.save_pretrained(folder / f"checkpoint-{step}")
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    model.save_pretrained(folder / "checkpoint-200")
    tokenizer.save_pretrained(folder / "checkpoint-200")
    broken = folder / "checkpoint-300"
    broken.mkdir()
    (broken / "config.json").write_text((folder / "checkpoint-20" / "config.json").read_text())
    (broken / "model.safetensors").write_bytes(b"\xff" * 100)


def test_a_real_run_is_watched(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": SENTENCE[at : at + 40], "domain": "seen"} for at in range(12)]
    rows += [{"text": f"{at} elephants fly {at * 7} miles!", "domain": "unseen"} for at in range(12)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "suite.toml").write_text(SUITE)
    train(tmp_path / "run", tmp_path / "train.jsonl")
    args = [
        "watch",
        "run",
        "--suite",
        "suite.toml",
        "--store",
        "s.db",
        "--log",
        "train.jsonl",
        "--device",
        "cpu",
        "--once",
    ]
    assert main([*args, "--quiet", "--report", "curves.html"]) == 1
    shown = capsys.readouterr().out
    assert "Not a finite number, checkpoint-200" in shown
    assert "not measured: checkpoint-300: transformers cannot run" in shown
    assert main([*args, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    seen = next(curve for curve in found["curves"] if curve.get("value") == "seen")
    values = [point["estimate"]["value"] for point in seen["points"]]
    assert values[0] > values[1] > values[2]
    assert values[3] is None
    assert seen["points"][2]["from_previous"]["difference"]["high"] < 0
    assert (tmp_path / "curves.html").stat().st_size > 10_000
