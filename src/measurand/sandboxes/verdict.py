"""Runs programs in jails and says how they ended."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, get_args

from measurand.core.errors import SandboxError
from measurand.core.program import Ending, FunctionTest, Result, Script
from measurand.sandboxes.clock import CPU_LIMIT, watch
from measurand.sandboxes.jail.codec import CodecError, decode
from measurand.sandboxes.jail.inside import read_frames
from measurand.sandboxes.jailed import printable
from measurand.sandboxes.room import close_all

if TYPE_CHECKING:
    from measurand.sandboxes.usage import Usage


class Confined(Protocol):
    """What runs in a jail: see Jail, whose attributes these are."""

    ended: asyncio.Future[None]
    full: asyncio.Future[None]
    cpu_seconds: float

    @property
    def begun(self) -> bool:
        """Whether the jail was built."""

    @property
    def code(self) -> int:
        """The exit code."""

    @property
    def signal(self) -> str:
        """The name of the signal that ended it; empty for none."""

    @property
    def starved(self) -> bool:
        """Whether the kernel ended it for lack of memory."""

    @property
    def usage(self) -> Usage:
        """What it uses at the moment."""

    @property
    def most_cpu_seconds(self) -> float:
        """The processor time that it may use."""

    @property
    def timed_out(self) -> bool:
        """Whether it has used more than that."""

    @property
    def stdout(self) -> str:
        """What it wrote, as printable text."""

    @property
    def stderr(self) -> str:
        """What it wrote to the other stream."""

    async def kill(self) -> None:
        """End it; must be awaited whatever happens."""


StartJail = Callable[..., Confined]
"""Starts a driver with a job and limits; the rest of its arguments are as for Jail."""

_NONCE_BYTES = 16
_LEAVING_SECONDS = 0.25
"""How long a candidate may take to leave once its test is over; it does so by itself within milliseconds."""

_ENDINGS = frozenset(get_args(Ending))


async def run_script(start: StartJail, script: Script) -> Result:
    """Run a script to its end or its limits."""
    begun = time.monotonic()
    jail = start(
        "script_driver", (script.source,), script.limits, stdin=script.stdin.encode("utf-8", "backslashreplace")
    )
    try:
        exceeded = await watch({jail.ended, jail.full}, [jail], script.limits)
    finally:
        await jail.kill()
    _demand_begun(jail)
    ending, detail = exceeded or (_ending_of(jail, "finished"), "")
    return _result(
        jail,
        begun,
        ending,
        jail.signal if ending == "killed" else detail,
        exit_code=jail.code if ending == "finished" else None,
    )


async def run_function_test(start: StartJail, program: FunctionTest) -> Result:
    """Run a candidate in one jail and its test in another, joined by two pipes, and read the test's verdict.

    The harness holds only the pipe of the verdict, which the candidate's jail has never seen.
    """
    began = time.monotonic()
    nonce = os.urandom(_NONCE_BYTES)
    jails: list[Confined] = []
    requests, answers, verdict = os.pipe(), os.pipe(), os.pipe()
    try:
        try:
            candidate = start(
                "candidate_driver",
                (program.candidate, program.entry_point),
                program.limits,
                channels=(requests[0], answers[1]),
            )
            jails.append(candidate)
            test = start(
                "test_driver",
                (program.preamble, program.test, program.entry_point, nonce),
                program.limits,
                channels=(answers[0], requests[1], verdict[1]),
            )
            jails.append(test)
        finally:
            close_all([*requests, *answers, verdict[1]])
        exceeded = await watch({test.ended, test.full, candidate.full}, jails, program.limits)
        if not exceeded:
            await asyncio.wait(
                {candidate.ended, candidate.full}, timeout=_LEAVING_SECONDS, return_when="FIRST_COMPLETED"
            )
        left = candidate.ended.done()
    finally:
        ends = await asyncio.gather(*(jail.kill() for jail in jails), return_exceptions=True)
        reports = _reports(verdict[0], nonce)
        os.close(verdict[0])
        for end in ends:
            if isinstance(end, BaseException):
                raise end
    _demand_begun(test)
    if not reports or reports[-1][0] != "no_verdict":
        _demand_begun(candidate)
    ending, detail = exceeded or _decide(candidate, test, reports, left=left)
    if exceeded and not reports:
        ending, detail = "no_verdict", f"the test was not loaded before {detail}"
    return _result(candidate, began, ending, detail)


def _decide(candidate: Confined, test: Confined, reports: list[tuple[str, str]], *, left: bool) -> tuple[Ending, str]:
    """The ending, from what the test's jail reported and how both jails ended."""
    if reports and (candidate.timed_out or test.timed_out):
        return "timeout", CPU_LIMIT
    if candidate.full.done():
        return "output_limit", ""
    kind, detail = reports[-1] if reports else ("", "")
    if kind == "gone":
        return _departure(candidate) if left else ("exception", "the candidate stopped answering")
    if kind in _ENDINGS:
        return kind, printable(detail)  # type: ignore[return-value] # it is one of the endings
    if kind != "loaded":
        return "no_verdict", f"the test's jail ended with code {test.code} before the test was loaded"
    ending = _ending_of(test, "no_verdict")
    return ending, "the test did not come to an end with the candidate's answers"


def _departure(candidate: Confined) -> tuple[Ending, str]:
    ending = _ending_of(candidate, "exception")
    if ending == "exception":
        return ending, f"the program ended itself with code {candidate.code} before it answered"
    return ending, candidate.signal


def _ending_of(jail: Confined, otherwise: Ending) -> Ending:
    if jail.full.done():
        return "output_limit"
    if jail.timed_out:
        return "timeout"
    if jail.starved:
        return "memory"
    if jail.signal == "SIGKILL" and jail.cpu_seconds > jail.most_cpu_seconds / 2:
        return "timeout"  # by the kernel's own limit, which counts by sampling and so may strike early
    return "killed" if jail.signal else otherwise


def _reports(fd: int, nonce: bytes) -> list[tuple[str, str]]:
    """What the test's jail has written; all of it is there when the jail has ended."""
    os.set_blocking(fd, False)
    try:
        data = os.read(fd, 1 << 16)
    except BlockingIOError:
        return []
    reports = []
    for frame in read_frames(data):
        if not frame.startswith(nonce):
            break
        try:
            match decode(frame[len(nonce) :]):
                case (str(kind), str(detail)):
                    reports.append((kind, detail))
        except CodecError:
            break
    return reports


def _demand_begun(jail: Confined) -> None:
    if not jail.begun:
        why = (jail.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise SandboxError(
            f"a jail could not be built ({why[:300]}), so nothing was run; try again or see `measurand doctor`"
        )


def _result(jail: Confined, began: float, ending: Ending, detail: str, *, exit_code: int | None = None) -> Result:
    return Result(
        ending=ending,
        exit_code=exit_code,
        stdout=jail.stdout,
        stderr=jail.stderr,
        detail=detail,
        cpu_seconds=jail.cpu_seconds,
        wall_seconds=time.monotonic() - began,
    )
