"""The child that asks sympy and math-verify: one pair as JSON a line in, 1 or 0 out. Limited in memory."""

from __future__ import annotations

import json
import resource
import sys

MEMORY = 2 << 30
"""Bytes of address space."""


def by_math_verify(gold: str, given: str) -> bool:
    """Its own parser and its own comparison, as in its README; its timeouts are off, for the parent keeps time."""
    from math_verify import parse, verify

    one, other = (parse(f"${text}$", parsing_timeout=None) for text in (gold, given))
    return bool(verify(one, other, timeout_seconds=None))


def by_sympy(gold: str, given: str) -> bool:
    """Whether the difference simplifies to zero; what is read is what math-verify's LaTeX parser makes of it."""
    import sympy
    from latex2sympy2_extended import latex2sympy

    one, other = latex2sympy(gold), latex2sympy(given)
    if isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr):
        return bool(sympy.simplify(one - other) == 0)
    return bool(one == other)


def answer(line: str) -> bool:
    """The verdict on one pair; whatever a library raises is a no."""
    question = json.loads(line)
    compare = {"sympy": by_sympy, "math_verify": by_math_verify}[question["by"]]
    try:
        return compare(question["gold"], question["given"])
    except (Exception, MemoryError, RecursionError):  # noqa: BLE001  # parsers of other people, on any text
        return False


def main() -> None:
    """Load the libraries, say so, and answer until the input ends."""
    import latex2sympy2_extended  # noqa: F401
    import math_verify  # noqa: F401

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(f"{int(answer(line))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
