"""Runs a test against a candidate that lives in another jail, and reports the verdict.

Arguments and answers are passed by value. A test that looks whether its argument was changed in place
therefore sees it unchanged; no test of HumanEval does.
"""

from __future__ import annotations

import builtins
import os

from measurand.sandboxes.jail.codec import CodecError, encode
from measurand.sandboxes.jail.inside import Channel, define, execute, text_of, write_frame

TYPE_CHECKING = False  # a bare interpreter takes longer to import typing than for all else here
if TYPE_CHECKING:
    from typing import Any, NoReturn


def run(job: tuple[Any, ...], channels: list[int]) -> None:
    """Entry: examine one candidate, and leave."""
    be_silent()
    examine(job, channels)
    os._exit(0)


def examine(job: tuple[Any, ...], channels: list[int]) -> None:
    """Load the test, wait for the candidate, check it, and report.

    Returns where the test came to its own end. Wherever it did not, this leaves the process with the report.
    """
    preamble, test, entry_point, nonce = job
    incoming, outgoing, verdict = channels
    witness = Witness(Channel(incoming, outgoing), verdict, nonce)
    try:
        namespace = define("test", preamble)
        namespace[entry_point] = witness.call
        execute(test, "test", namespace)
        check = namespace["check"]
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is at fault and not the candidate
        witness.conclude("no_verdict", f"the test does not load: {_shown(error)}")
    witness.report("loaded", "")
    try:
        witness.report(*(witness.await_loading() or witness.judge(check)))
    except MemoryError:
        witness.conclude("memory", "the answer does not fit into memory")


class Witness:
    """Passes calls on to the candidate and remembers what matters for the verdict."""

    def __init__(self, channel: Channel, verdict: int, nonce: bytes) -> None:
        self._channel = channel
        self._verdict = verdict
        self._nonce = nonce
        self._answers = 0
        self._raised: Exception | None = None

    def await_loading(self) -> tuple[str, str] | None:
        """Wait until the candidate has been loaded; the verdict where loading it raised."""
        answer = self._receive()
        match answer:
            case ("loaded",):
                return None
            case ("raised", str(name), str(text)):
                return _of_raised(_exception(name, text))
        return self._conclude_broken(answer)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The candidate, as the test sees it."""
        try:
            self._channel.send((args, kwargs))
        except CodecError as error:
            self._conclude_unusable(error)
        except OSError:
            self.conclude("gone", "")
        answer = self._receive()
        self._answers += 1
        match answer:
            case ("returned", value):
                return value
            case ("raised", str(name), str(text)):
                self._raised = _exception(name, text)
                raise self._raised
        return self._conclude_broken(answer)

    def judge(self, check: Any) -> tuple[str, str]:
        """Run the test to its end, for the verdict; only its return is a pass."""
        try:
            check(self.call)
        except Exception as error:
            if error is self._raised:
                return _of_raised(error)
            if isinstance(error, MemoryError):
                raise
            if isinstance(error, AssertionError):
                return "wrong_answer", text_of(error)
            self._conclude_unusable(error)
        except BaseException as error:  # noqa: BLE001 - an exit in the test is no verdict
            self.conclude("no_verdict", f"the test ended itself: {_shown(error)}")
        return "passed", ""

    def report(self, kind: str, detail: str) -> None:
        """Write to the harness alone; the nonce never leaves this jail."""
        write_frame(self._verdict, self._nonce + encode((kind, detail)))

    def conclude(self, kind: str, detail: str) -> NoReturn:
        """Report, and leave before anything else can happen."""
        self.report(kind, detail)
        os._exit(0)

    def _receive(self) -> Any:
        try:
            return self._channel.receive()
        except EOFError:
            self.conclude("gone", "")
        except CodecError as error:
            self.conclude("exception", f"the candidate broke the protocol: {error}")

    def _conclude_broken(self, answer: Any) -> NoReturn:
        match answer:
            case ("ended", str(name)):
                self.conclude("exception", f"the candidate ended the program: {name}")
            case ("refused", str(reason)):
                self.conclude("wrong_answer", f"the answer cannot be compared: {reason}")
        self.conclude("exception", "the candidate broke the protocol")

    def _conclude_unusable(self, error: Exception) -> NoReturn:
        """An error of the test itself: the candidate's doing only if it has answered before."""
        if self._answers == 0:
            self.conclude("no_verdict", f"the test is at fault: {_shown(error)}")
        self.conclude("wrong_answer", f"the test cannot use the answer: {_shown(error)}")


def _of_raised(error: Exception) -> tuple[str, str]:
    return "memory" if isinstance(error, MemoryError) else "exception", _shown(error)


def _exception(name: str, text: str) -> Exception:
    """The built-in exception of that name; some cannot be made of a text alone."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:
            pass
    return RuntimeError(f"{name}: {text}")


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {text_of(error)}"


def be_silent() -> None:
    """Let what a test prints go nowhere."""
    nowhere = os.open("/dev/null", os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
