"""Systems of our own that the command line evaluates."""

import os
from pathlib import Path


def adds(text: str) -> str:
    """Adds the two numbers of a question like "2 + 3", but cannot count above 15."""
    a, b = (int(part) for part in text.split("+"))
    return str(a + b if a + b < 15 else 0)


def breaks(_text: str) -> str:
    raise ConnectionError("the backend is down")


def writes_code(_text: str) -> str:
    """Answers every programming problem alike, and leaves a trace where it has been asked."""
    if "WROTE_CODE" in os.environ:
        Path(os.environ["WROTE_CODE"]).write_text("yes")
    return "    return 1\n"
