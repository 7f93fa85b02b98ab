"""Other people's stored outputs, read where they lie; never copied into the project."""

import os
from pathlib import Path

from tests.needs import lacking

ROOT = Path(__file__).resolve().parent.parent


def artifact(path: str) -> Path:
    """The path of an artifact. Skips where there are none; fails there under CI=true."""
    folder = Path(os.environ.get("MEASURAND_ARTIFACTS", ROOT.parent / "shared" / "artifacts"))
    found = folder / path
    if not found.exists():
        lacking(f"no artifact {path}: set MEASURAND_ARTIFACTS to the folder that holds it")
    return found
