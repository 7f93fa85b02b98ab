"""`completion`: a completion script for a shell."""

from __future__ import annotations

import argparse

from measurand.cli.arguments import build_parser
from measurand.core.errors import InputError


def run(given: argparse.Namespace) -> int:
    """Print the script; `eval "$(measurand completion bash)"` switches it on."""
    try:
        import shtab
    except ImportError as error:
        raise InputError('completion needs the extra: pip install "measurand[completion]"') from error
    print(shtab.complete(build_parser(), shell=given.shell))
    return 0
