"""The one file that names store, data, provider and sandbox classes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from measurand.core.errors import InputError
from measurand.core.ports import Provider
from measurand.core.record import Record
from measurand.core.subject import Facts, Passes

if TYPE_CHECKING:
    from measurand.core.ports import Data, Sandbox, Store
    from measurand.core.tokens import Seam

DEFAULT_STORE = Path(".measurand") / "measurand.db"
VENDORS = ("anthropic", "google")
LOCAL = ("llamacpp", "transformers", "callable", "command", "replay")


class SubjectOptions(Record, frozen=True):
    """What reaching a subject takes beyond its name. `facts` (a price, a cut-off) are shown, never hashed.

    `device` and `dtype` are for models that PyTorch runs. `passes` declares that one answer rests on several.
    """

    base_url: str = ""
    key_env: str = ""
    api_version: str = ""
    stream: bool = False
    call_seconds: float = 600.0
    facts: Facts | None = None
    allowed_endpoints: tuple[str, ...] = ()
    device: str = ""
    dtype: str = ""
    passes: Passes = "single pass"


def open_store(location: str = "", *, read_only: bool = False) -> Store:
    """Open the store at a path or URL, or at MEASURAND_STORE, or at the default place."""
    from measurand import store

    return store.open_store(location or os.environ.get("MEASURAND_STORE") or DEFAULT_STORE, read_only=read_only)


def open_data(overrides: Mapping[str, str]) -> Data:
    """The data sets of this machine and of the hub, with local copies standing in where named."""
    from measurand import data

    return data.open_data(overrides)


def open_sandbox(no_isolation: str = "") -> Sandbox:
    """The best isolation this machine offers, found by trying.

    `no_isolation` is the sentence that accepts none for this one run. Raises InputError for any other.
    """
    from measurand import sandboxes

    found = sandboxes.find_sandbox()
    return sandboxes.accept_none(no_isolation, found) if no_isolation else found


def no_sandbox() -> Sandbox:
    """A sandbox that runs nothing, for benchmarks that need none."""
    from measurand.sandboxes.refuse import NoSandbox

    return NoSandbox("this benchmark runs no programs")


def open_subject(subject: str | Provider | Callable[..., object], options: SubjectOptions) -> Provider:
    """A provider from its specification `KIND:NAME`, or from a Python function, or as it is."""
    if isinstance(subject, str):
        kind, colon, name = subject.partition(":")
        if not colon or not name:
            raise InputError(f"'{subject}' names no subject; write KIND:NAME, with one of {', '.join(_kinds())}")
        return _open_kind(kind, name, options)
    if isinstance(subject, Provider):
        return subject
    from measurand.providers.callable import CallableProvider

    return CallableProvider(subject)


def _kinds() -> tuple[str, ...]:
    from measurand.providers.openai_compatible import PRESETS

    return ("openai_compatible", *PRESETS, *VENDORS, *LOCAL)


def _open_kind(kind: str, name: str, options: SubjectOptions) -> Provider:
    if kind in LOCAL and not (kind == "llamacpp" and options.base_url):
        return _open_local(kind, name, options)
    if kind in VENDORS:
        return _open_vendor(kind, name, options)
    return _open_openai(kind, name, options)


def _open_openai(kind: str, name: str, options: SubjectOptions) -> Provider:
    from measurand.providers.connecting import HttpOptions, Timeouts
    from measurand.providers.openai_compatible import PRESETS, OpenAICompatible, OpenAIOptions

    if kind not in PRESETS and kind != "openai_compatible":
        raise InputError(f"there is no kind of subject '{kind}'; there are {', '.join(_kinds())}")
    if kind in {"openai_compatible", "azure"} and not options.base_url:
        raise InputError(f"{kind}:{name} needs the address of its endpoint: --base-url URL")
    azure = kind == "azure"
    return OpenAICompatible(
        OpenAIOptions(
            model=name,
            preset="openai" if kind == "openai_compatible" else kind,
            base_url=options.base_url,
            key_env=options.key_env,
            deployment=name if azure else "",
            api_version=options.api_version,
            stream=options.stream,
            prompt_logprobs=kind == "vllm",
            http=HttpOptions(timeouts=Timeouts(total=options.call_seconds)),
        )
    )


def _open_vendor(kind: str, name: str, options: SubjectOptions) -> Provider:
    from measurand.providers.connecting import HttpOptions, Timeouts

    http = HttpOptions(timeouts=Timeouts(total=options.call_seconds))
    if kind == "anthropic":
        from measurand.providers import anthropic

        base = options.base_url or anthropic.BASE_URL
        return anthropic.Anthropic(
            anthropic.AnthropicOptions(model=name, base_url=base, key_env=options.key_env, http=http)
        )
    from measurand.providers import google

    base = options.base_url or google.BASE_URL
    return google.Google(google.GoogleOptions(model=name, base_url=base, key_env=options.key_env, http=http))


def _open_local(kind: str, name: str, options: SubjectOptions) -> Provider:
    if kind == "llamacpp":
        from measurand.providers.llamacpp import LlamaCpp

        return LlamaCpp(name, seconds=options.call_seconds)
    if kind == "transformers":
        return _open_transformers(name, options)
    if kind == "replay":
        from measurand.providers.replay import Replay

        return Replay(name)
    if kind == "command":
        from measurand.providers.command import CommandProvider

        return CommandProvider(name, timeout=options.call_seconds)
    from measurand.providers.callable import CallableProvider

    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # a user's own module lies where the command is given
    return CallableProvider(name, timeout=options.call_seconds)


def _open_transformers(name: str, options: SubjectOptions) -> Provider:
    from measurand.providers.transformers import Transformers
    from measurand.providers.transformers_files import TransformersOptions

    defaults = TransformersOptions()
    chosen = msgspec.structs.replace(
        defaults, device=options.device or defaults.device, dtype=options.dtype or defaults.dtype
    )
    return Transformers(name, open_seam(), chosen)


def open_seam() -> Seam:
    """The pure functions that a provider with a tokenizer of its own joins, cuts and stops texts by."""
    from measurand.asking import seam, windows
    from measurand.core.tokens import Seam
    from measurand.scoring.reasoning import is_stopped

    return Seam(seam.begin, seam.join, seam.fit, windows.windows, is_stopped)
