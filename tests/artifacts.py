"""Other people's stored outputs, read where they lie; never copied into the project."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def artifact(path: str) -> Path:
    """The path of an artifact. Skips where there are none; fails there under CI=true."""
    folder = Path(os.environ.get("MEASURAND_ARTIFACTS", ROOT.parent / "shared" / "artifacts"))
    found = folder / path
    if not found.exists():
        reason = f"no artifact {path}: set MEASURAND_ARTIFACTS to the folder that holds it"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found
