"""Data sets of the Hugging Face hub, at a pinned commit: from the cache where they are whole, else fetched."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from measurand.core.errors import DataError, NotLicensedError
from measurand.core.source import Hub

_COMMIT = re.compile(r"[0-9a-f]{40}")
_GLOB = frozenset("*?[")
_log = logging.getLogger(__name__)


def hub_files(source: Hub, *, offline: bool) -> list[tuple[str, Path]]:
    """The files of a source as (name, path), in sorted order.

    A commit never changes, so a whole copy in the cache is used without asking anybody. Otherwise the files are
    fetched from HF_ENDPOINT with the token of HF_TOKEN, if there is one; no token is taken from elsewhere.
    Raises DataError that says how to get at the files.
    """
    if not _COMMIT.fullmatch(source.revision):
        message = f"{source.repo} is to be read at {source.revision!r}, which can move; give a commit of 40 hex digits"
        raise DataError(message)
    try:
        import huggingface_hub  # noqa: F401  slow to import, and an extra
    except ImportError as error:
        message = f'{source.repo} is on the Hugging Face hub; to read it: pip install "measurand[data]"'
        raise DataError(message) from error
    found = _cached(source)
    if found is not None:
        _log.info("%s@%s is read from the local cache", source.repo, source.revision[:8])
        return found
    if offline or _told_offline():
        message = (
            f"{source.repo} is not whole in the local cache and reading is offline; run once with a network, "
            "or give a local copy of it"
        )
        raise DataError(message)
    return _fetched(source)


def matching(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The names that any pattern matches, sorted. A * matches / too, as the hub's own patterns do."""
    return sorted({name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)})


def _cached(source: Hub) -> list[tuple[str, Path]] | None:
    """The files as the cache has them, or None where one is missing or it is not known which there are."""
    from huggingface_hub import get_cached_repo_tree, try_to_load_from_cache
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    names: Sequence[str] = source.files
    if any(_GLOB & set(pattern) for pattern in source.files):
        try:
            tree = get_cached_repo_tree(source.repo, repo_type="dataset", revision=source.revision)
        except CachedRepoTreeNotFoundError:
            return None
        names = matching([file.path for file in tree], source.files)
    found: list[tuple[str, Path]] = []
    for name in sorted(names):
        path = try_to_load_from_cache(source.repo, name, repo_type="dataset", revision=source.revision)
        if not isinstance(path, str):
            return None
        found.append((name, Path(path)))
    return found or None


def _fetched(source: Hub) -> list[tuple[str, Path]]:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        snapshot_download(
            source.repo,
            repo_type="dataset",
            revision=source.revision,
            allow_patterns=list(source.files),
            endpoint=os.environ.get("HF_ENDPOINT") or None,
            token=os.environ.get("HF_TOKEN") or False,
            tqdm_class=_silent(),
        )
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise _failure(source, error) from error
    found = _cached(source)
    if found is None:
        message = f"{source.repo}@{source.revision[:8]} has no file {', '.join(source.files)}; mend the source's files"
        raise DataError(message)
    return found


def _failure(source: Hub, error: Exception) -> DataError:
    """A failed download in a sentence. Never the error's own text: it can hold addresses and tokens."""
    from huggingface_hub import errors

    cause = error.__cause__ if isinstance(error, errors.LocalEntryNotFoundError) and error.__cause__ else error
    response = getattr(cause, "response", None)
    status = getattr(response, "status_code", None)
    if isinstance(cause, errors.GatedRepoError) or (source.gated and status in {401, 403}):
        return NotLicensedError(
            f"{source.repo} is gated: ask for access on its page on the Hugging Face hub, "
            "then set HF_TOKEN to a token of the account that was let in"
        )
    return DataError(_why(source, cause, status))


def _why(source: Hub, cause: BaseException, status: int | None) -> str:
    from huggingface_hub import errors

    if isinstance(cause, errors.RevisionNotFoundError):
        return f"{source.repo} has no commit {source.revision}; mend the pin"
    if isinstance(cause, errors.RepositoryNotFoundError | errors.HFValidationError) or status in {401, 403, 404}:
        return f"there is no data set {source.repo}, or it is private; mend its name, or set HF_TOKEN"
    if status is not None:
        return f"the Hugging Face hub answered {status} for {source.repo}; try later, or give a local copy"
    return (
        f"{source.repo} could not be fetched ({type(cause).__name__}); mend the network or HF_ENDPOINT, "
        "or give a local copy"
    )


def _told_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def _silent() -> Any:
    """A progress bar that shows none: only the command line draws."""
    from huggingface_hub.utils.tqdm import tqdm

    bar: Any = tqdm  # the library does not type it

    class Silent(bar):  # type: ignore[misc]  # its base is untyped
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **(options | {"disable": True}))

    return Silent
