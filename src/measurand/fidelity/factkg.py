"""FactKG: no peer has it."""

from __future__ import annotations

from measurand.core.fidelity import Unmatched

PROMPTS = (
    Unmatched("factkg", "neither lm-eval nor inspect_evals nor HELM has FactKG; its authors fine-tune classifiers"),
)
