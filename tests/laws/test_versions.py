"""A version moves when behaviour does (law 16): the outputs of every reader and scorer on the corpora are pinned."""

import hashlib
import json
from pathlib import Path

import msgspec

from measurand.core.benchmark import Reader, Scorer
from measurand.core.trial import Found
from measurand.scoring.catalogue import READERS, SCORERS
from tests.scoring.asking import CORPUS, answer, item, rows

PINS = Path(__file__).parent / "versions.json"


ROWS = [(path.stem, row) for path in sorted(CORPUS.glob("*.jsonl")) for row in rows(path.stem)]
"""Every labelled reply; each reader reads all of them, whatever they were written for."""


def digest_of(values: list[object]) -> str:
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()[:16]


def of_reader(reader: Reader) -> str:
    return digest_of([reader.read(item(row), answer(row)) for _, row in ROWS])


def of_scorer(scorer: Scorer) -> str:
    return digest_of([scorer.score(item(row, row.get("want")), Found(row.get("text", ""))) for _, row in ROWS])


def current() -> dict[str, str]:
    pins = {f"reader {one.name}@{one.version}": of_reader(one) for one in READERS}
    return pins | {f"scorer {one.name}@{one.version}": of_scorer(one) for one in SCORERS}


def test_no_behaviour_moves_without_its_version():
    assert current() == json.loads(PINS.read_text()), "raise the version, then `python -m tests.laws.pin`"


def test_names_and_versions_are_unique():
    assert len({(one.name, one.version) for one in READERS}) == len(READERS)
    assert len({(one.name, one.version) for one in SCORERS}) == len(SCORERS)


def test_the_corpora_are_not_empty():
    assert len(ROWS) > 200
