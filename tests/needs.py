"""What a test needs of the machine. Without it the test skips; with CI=true it fails, since .ci/run installs it."""

import importlib
import importlib.util
import os
from types import ModuleType
from typing import Any, NoReturn

import pytest


def lacking(reason: str) -> NoReturn:
    """End the test, or the collection of its module, because something is not there."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


def needed(module: str, install: str) -> Any:
    """The module. `install` is what a person types after `pip install` to have it."""
    try:
        found: ModuleType = importlib.import_module(module)
    except ImportError:
        lacking(f"needs pip install {install}")
    return found


def installed(module: str, install: str) -> None:
    """That a package is there of which only the files are read: importing it may need what it is installed without."""
    if importlib.util.find_spec(module) is None:
        lacking(f"needs pip install {install}")
