"""From parsed flags to the options of an evaluation."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from measurand.core.benchmark import Subset
from measurand.core.errors import InputError
from measurand.core.subject import Facts, Price
from measurand.run.limits import RunLimits
from measurand.study.records import PrivateSet
from measurand.wiring import Options, SubjectOptions

DATA_SUFFIXES = {".jsonl", ".json", ".csv", ".tsv", ".parquet", ".xlsx", ".txt"}


def options_from(given: argparse.Namespace) -> Options:
    """The options that the flags of `run` and `plan` stand for."""
    return Options(
        subset=_subset(given),
        samples=_positive("--samples", given.samples),
        max_output=_positive("--max-output", given.max_output),
        shot_orders=_positive("--shot-orders", given.shot_orders),
        data=data_overrides(given.data),
        occasion=given.occasion,
        store=given.store,
        limits=limits_from(given),
        subject=subject_options(given),
        no_isolation=given.no_isolation,
    )


def private_set(given: argparse.Namespace) -> PrivateSet:
    """The private set that a data file and its column flags stand for."""
    if not given.question and not given.conversation and given.scoring != "perplexity":
        raise InputError(f"{given.what} is a data file; name its question column with --question COLUMN")
    return PrivateSet(
        file=given.what,
        question=given.question,
        conversation=given.conversation,
        answer=given.answer,
        options=given.options,
        rubric=given.rubric,
        scoring="rubric" if given.rubric and not given.answer else given.scoring,
        slices=tuple(part.strip() for part in given.slices.split(",") if part.strip()),
        id=given.id,
        language=given.language,
        prompt=given.prompt,
        system=given.system,
        local_only=given.local_only,
        window=_positive("--window", given.window) or 1,
        stride=_positive("--stride", given.stride) or 0,
    )


def is_data_file(what: str) -> bool:
    """Whether a name is that of a data file rather than of a benchmark or a study."""
    path = Path(what.removesuffix(".gz"))
    return path.suffix.lower() in DATA_SUFFIXES


def data_overrides(pairs: list[str]) -> dict[str, str]:
    """`NAME=PATH` flags as a mapping."""
    overrides = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not equals or not name or not path:
            raise InputError(f"--data {pair}: write NAME=PATH, as in --data gsm8k=test.jsonl")
        overrides[name] = path
    return overrides


def limits_from(given: argparse.Namespace) -> RunLimits:
    """The limits that the flags stand for."""
    return RunLimits(
        concurrency=_positive("--concurrency", given.concurrency) or 1,
        max_tries=_positive("--max-tries", given.max_tries) or 1,
        call_seconds=given.timeout,
        max_cost=given.max_cost,
        max_tokens=given.max_tokens,
        max_seconds=given.max_time,
    )


def subject_options(given: argparse.Namespace) -> SubjectOptions:
    """What reaching the subject takes."""
    return SubjectOptions(
        base_url=given.base_url,
        key_env=given.key_env,
        api_version=given.api_version,
        stream=given.stream,
        call_seconds=given.timeout,
        facts=_facts(given.price),
        allowed_endpoints=tuple(given.allow_endpoint),
        device=given.device,
        dtype=given.dtype,
        passes=given.passes,
    )


def _facts(price: str) -> Facts | None:
    if not price:
        return None
    try:
        into, out = (float(part) for part in price.split(","))
    except ValueError as error:
        raise InputError(f"--price {price}: write two numbers, IN,OUT, in US dollars for a million tokens") from error
    return Facts(dated=datetime.now(UTC).date().isoformat(), price=Price(into, out))


def _subset(given: argparse.Namespace) -> Subset | None:
    if given.subset is None:
        if given.stratify:
            raise InputError("--stratify needs --subset N, the size of the sample")
        return None
    return Subset(_positive("--subset", given.subset) or 1, given.seed, given.stratify)


def _positive(flag: str, value: int | None) -> int | None:
    if value is not None and value < 1:
        raise InputError(f"{flag} is {value}; it must be at least 1")
    return value
