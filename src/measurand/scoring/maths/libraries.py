"""sympy and math-verify as two more signals, each in a child process that is limited in time and memory.

Both run other people's parsers on what a model wrote, and both can take for ever or fill the memory.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec

from measurand.core.errors import InputError
from measurand.scoring.maths.expressions import LONGEST

SECONDS = 5.0
"""How long one comparison may take; after that the two count as not equal."""
_STARTING = 60.0
"""How long the child may take to load the libraries."""


class _Child:
    """A process that compares pairs, started when first asked and again after it was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def ask(self, question: Mapping[str, str]) -> bool:
        """Whether the two are equal. A child that dies or takes too long says no, and is replaced."""
        with self._lock:
            process = self._process or self._started()
            assert process.stdin is not None  # noqa: S101  it was asked for
            try:
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
                line = self._line(process, SECONDS)
            except OSError:
                line = b""
            if not line:
                self.stop()
                return False
            return line.strip() == b"1"

    def _started(self) -> subprocess.Popen[bytes]:
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "measurand.scoring.maths.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=kept,
            start_new_session=True,
        )
        if not self._line(process, _STARTING):
            self.stop()
            raise InputError(
                "the child process that compares answers did not start; see that math-verify can be imported"
            )
        return process

    @staticmethod
    def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The child's next line; empty where none comes in time."""
        assert process.stdout is not None  # noqa: S101  it was asked for
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            return process.stdout.readline() if waiting.select(seconds) else b""

    def stop(self) -> None:
        """End the child, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


_CHILD = _Child()


def _ask(by: str, gold: str, given: str) -> bool:
    if max(len(gold), len(given)) > LONGEST:
        return False
    if find_spec("math_verify") is None or find_spec("sympy") is None:
        raise InputError("this signal needs sympy and math-verify: pip install 'measurand[maths]'")
    return _CHILD.ask({"by": by, "gold": gold, "given": given})


def sympy_equal(gold: str, given: str) -> bool:
    """Whether sympy simplifies the difference of the two to zero.

    Raises:
        InputError: the libraries are not installed.
    """
    return _ask("sympy", gold, given)


def math_verify_equal(gold: str, given: str) -> bool:
    """Whether math-verify takes the two for equal.

    Raises:
        InputError: the libraries are not installed.
    """
    return _ask("math_verify", gold, given)
