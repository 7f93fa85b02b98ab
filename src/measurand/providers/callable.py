"""A user's own system, reached through a Python function."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import difflib
import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measurand.core.call import Reply
from measurand.core.errors import CallError, CallFailedError, InputError
from measurand.core.ports import Abilities
from measurand.core.request import Request
from measurand.core.subject import System
from measurand.providers.fingerprint import fingerprint
from measurand.providers.plain import messages_of, one_line, only_text, reply_of
from measurand.providers.secrets import redact

_MEND = "name its parameter `messages`, and it is given the whole conversation"


class CallableProvider:
    """Asks a Python function, given as it is, as `module:function`, or as `path/to/file.py:function`.

    The function takes the user's text, or, where its one parameter is called `messages` or annotated as a list, the
    conversation as a list of {"role": …, "content": …}. It returns the answer's text, or {"text": …} with `usage`,
    `finish` and `reasoning` where known, or a Reply. An `async` function runs in the event loop; any other runs in a
    thread for each call, at most `concurrency` at once, and must be safe for that (or set `concurrency` to 1).
    After `timeout` seconds a call counts as failed; Python cannot stop a thread, so the function may run on.

    Raises InputError for what cannot be imported or called.
    """

    def __init__(
        self, function: Callable[..., Any] | str, *, name: str = "", timeout: float = 600.0, concurrency: int = 8
    ) -> None:
        self._function = _imported(function) if isinstance(function, str) else function
        if not callable(self._function):
            what = function if isinstance(function, str) else type(function).__name__
            raise InputError(f"{what} cannot be called: give a function from text to text")
        self._name = name or (function if isinstance(function, str) else _name_of(self._function))
        self._takes_messages = _takes_messages(self._function, self._name)
        self._is_async = inspect.iscoroutinefunction(self._function) or inspect.iscoroutinefunction(
            getattr(self._function, "__call__", None)  # noqa: B004 (its kind is asked for, not whether it is there)
        )
        self._timeout = timeout
        self._concurrency = None if self._is_async else concurrency
        self._subject = System(name=self._name, version=fingerprint(self._function))

    @property
    def subject(self) -> System:
        """Who answers: the function's name, and as version the hash of its source or `unversioned`."""
        return self._subject

    def describe(self) -> Abilities:
        """Chat for a function of messages; raw text too for a function of text."""
        # Not local: nobody knows whom the function asks in its turn.
        return Abilities(can=("chat",) if self._takes_messages else ("chat", "complete"), concurrency=self._concurrency)

    async def start(self) -> None:
        """Nothing needs to be opened."""

    async def close(self) -> None:
        """Nothing needs to be closed."""

    async def reply(self, request: Request) -> Reply:
        """Call the function. Raises CallError; an exception of the function is named in one sentence."""
        given = messages_of(request, self._name) if self._takes_messages else only_text(request, self._name, _MEND)
        task = asyncio.current_task()
        try:
            async with asyncio.timeout(self._timeout) as clock:
                value = self._function(given) if self._is_async else await _in_thread(self._function, given)
                if inspect.isawaitable(value):
                    value = await value
        except CallError:
            raise
        except asyncio.CancelledError as error:
            if task is not None and task.cancelling():
                raise
            raise self._failed(f"raised {one_line(error)}") from error
        except (Exception, SystemExit) as error:  # a port raises CallError and nothing else
            if isinstance(error, TimeoutError) and clock.expired():
                raise self._failed(f"gave no answer within {self._timeout:g} s", where="timeout") from error
            raise self._failed(f"raised {one_line(error)}") from error
        return reply_of(value, self._name)

    def _failed(self, what: str, where: str = "system") -> CallFailedError:
        return CallFailedError(redact(f"{self._name} {what}"), where=where)


async def _in_thread(function: Callable[..., Any], given: Any) -> Any:
    """Call in a daemon thread of its own: one that never returns holds up neither the others nor the exit."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, error))

    def body() -> None:
        value: Any = None
        problem: BaseException | None = None
        try:
            value = context.run(function, given)
        except BaseException as error:  # noqa: BLE001 (carried over to the event loop and raised there)
            problem = error
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            loop.call_soon_threadsafe(settle, value, problem)

    threading.Thread(target=body, name="measurand-callable", daemon=True).start()
    value, problem = await done
    if problem is not None:
        raise problem
    return value


def _imported(spec: str) -> Any:
    """What `module:function` or `file.py:function` names. Raises InputError."""
    module_name, colon, attribute = spec.rpartition(":")
    if not colon or not module_name or not attribute:
        raise InputError(f"'{spec}' names no function: write module:function or path/to/file.py:function")
    try:
        module = _file(Path(module_name)) if module_name.endswith(".py") else _module(module_name)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{module_name} cannot be imported ({redact(one_line(error))}): correct it and start again"
        ) from error
    found = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, [name for name in dir(found) if not name.startswith("_")], n=1)
            hint = f"did you mean {near[0]}?" if near else "check the name after the colon"
            raise InputError(f"{module_name} has no {attribute}: {hint}")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    """Import by name, with the working directory first, as `python -m` does it."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


def _file(path: Path) -> Any:
    """Import a file, with its own folder first, as `python file.py` does it."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"_user_{path.stem}"  # a file called json.py must not become everybody's json
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__qualname__", type(function).__name__))


def _takes_messages(function: Callable[..., Any], name: str) -> bool:
    """Whether the function wants the conversation. Raises InputError where it does not take just one thing."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # built into the interpreter: it does not say
        return False
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.VAR_POSITIONAL}
    ]
    needed = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
    ]
    if not positional or len(needed) > 1 or (needed and needed[0] is not positional[0]):
        raise InputError(
            f"{name} takes {len(needed)} arguments: it must take one, the text (or the list `messages`); "
            "bind the others with functools.partial"
        )
    first = positional[0]
    annotation = first.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return first.name == "messages" or written.rpartition(".")[2].lower().startswith(("list", "sequence"))
