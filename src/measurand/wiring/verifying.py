"""Verify: stored outputs scored again, with a sandbox for the programs among them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from measurand.core.errors import InputError
from measurand.core.fidelity import Check, Peer, Rendering, Side, Stored
from measurand.core.outcome import Answered
from measurand.run.marking import mark, runs_programs
from measurand.study.verify import renderings, rescorings, verify
from measurand.study.verify_prompts import verify_prompts
from measurand.wiring import run_sync
from measurand.wiring.opening import no_sandbox, open_sandbox

if TYPE_CHECKING:
    from measurand.core.benchmark import Scoring
    from measurand.core.item import Item
    from measurand.core.outcome import Answer
    from measurand.core.trial import Measured, Missing

PEER_SECONDS = 600.0
"""The longest that a peer may take to render the prompts of all its tasks."""

PEERS = get_args(Peer)

Marked = Mapping[str, "Measured | Missing"]


def verify_folder(folder: str, only: Sequence[str] = (), *, run_code: bool = False) -> Iterator[Check]:
    """The lines of all rescorings whose outputs are in the folder, or of those named. Raises InputError."""
    return verify(stored_outputs(Path(folder).expanduser()), rescorings(only), run_code=run_code)


def stored_outputs(folder: Path) -> Stored:
    """A folder of stored outputs, marked by the same code as a run's."""
    return Stored(folder, lambda scoring, answers: run_sync(lambda: _mark(scoring, answers)))


async def _mark(scoring: Scoring, answers: Sequence[tuple[Item, Answer]]) -> list[Marked]:
    sandbox = open_sandbox() if runs_programs(scoring) else no_sandbox()

    async def one(item: Item, answer: Answer) -> Marked:
        marks = await mark(scoring, item.id, item, Answered(answer), sandbox.run)
        return {score.metric: score.value for score in marks.scores}

    try:
        return await asyncio.gather(*(one(item, answer) for item, answer in answers))
    finally:
        await sandbox.close()


def verify_prompts_against(folder: str, peer: str, only: Sequence[str] = ()) -> Iterator[Check]:
    """Our prompts against those of every peer that the Python interpreter `peer` has installed.

    Raises InputError where the folder is none, or where that interpreter has no peer.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        message = f"{path} is no folder; give one that holds stored outputs, whose questions are asked"
        raise InputError(message)
    return verify_prompts(path, renderings(only), lambda asked: _render(peer, asked), _versions(peer))


_ASK_VERSIONS = """
import importlib.metadata, json
print(json.dumps({one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}))
"""


def _versions(peer: str) -> dict[Peer, str]:
    """The versions of the peers that are installed, by package."""
    done = _run_peer(peer, "-c", _ASK_VERSIONS)
    installed = json.loads(done.stdout) if done.returncode == 0 else {}
    named = {name.lower().replace("_", "-"): version for name, version in installed.items()}
    found: dict[Peer, str] = {name: named[name] for name in PEERS if name in named}
    if not found:
        names = f"{', '.join(PEERS[:-1])} or {PEERS[-1]}"
        message = f"{peer or sys.executable} has no {names}; name a Python interpreter that has them: --peer PYTHON"
        raise InputError(message)
    return found


def _render(peer: str, asked: Sequence[tuple[Rendering, Side]]) -> list[list[str]]:
    """All tasks of one peer in one process; the texts are in the order asked."""
    texts: dict[int, list[str]] = {}
    for name in PEERS:
        places = [place for place, (one, _) in enumerate(asked) if one.peer == name]
        if places:
            texts |= zip(places, _render_by(name, peer, [asked[place] for place in places]), strict=True)
    return [texts[place] for place in range(len(asked))]


def _render_by(name: Peer, peer: str, asked: Sequence[tuple[Rendering, Side]]) -> list[list[str]]:
    """Rows go in and texts come out as JSON."""
    tasks = json.dumps([{"task": one.task, "shots": one.shots, "splits": side.splits} for one, side in asked])
    script = Path(__file__).with_name(f"{name.replace('-', '_')}_prompts.py")
    done = _run_peer(peer, str(script), given=tasks)
    if done.returncode:
        said = " ".join(done.stderr.strip().splitlines()[-1:])
        message = f"{name} cannot render the prompts: {said}; try another version of it"
        raise InputError(message)
    texts: list[list[str]] = json.loads(done.stdout)
    return texts


def _run_peer(peer: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run the interpreter that the user named, as trusted as the command that names it."""
    command = [peer or sys.executable, *arguments]
    try:
        return subprocess.run(  # noqa: S603
            command, input=given, capture_output=True, text=True, timeout=PEER_SECONDS, check=False
        )
    except OSError as error:
        message = (
            f"{peer} cannot be run ({error.strerror}); name a Python interpreter that has the peers: --peer PYTHON"
        )
        raise InputError(message) from error
    except subprocess.TimeoutExpired as error:
        message = f"{peer} gave no answer for {PEER_SECONDS:g} seconds; try again on a machine less busy"
        raise InputError(message) from error
