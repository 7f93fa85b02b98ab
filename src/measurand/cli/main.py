"""The `measurand` command. Imports nothing heavy, so that help answers at once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from measurand.cli import arguments

GOOD, BAD_INPUT = 0, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 a failed gate, 2 bad input, 3 cannot say."""
    parser = arguments.build_parser()
    given = parser.parse_args(argv)
    if given.command is None:
        parser.print_help()
        return GOOD
    from measurand.core.errors import MeasurandError

    try:
        return _dispatch(given)
    except MeasurandError as error:
        return _complain(str(error))
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except KeyboardInterrupt:
        return _complain("interrupted; nothing that was acknowledged is lost")


def _dispatch(given: argparse.Namespace) -> int:
    from importlib import import_module

    from measurand.run.collecting import seldom

    with seldom():  # importing makes a million objects that stay
        module = import_module(f"measurand.cli.{arguments.MODULES[given.command]}")
        code: int = module.run(given)
        return code


def _complain(sentence: str) -> int:
    print(f"measurand: {sentence}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
