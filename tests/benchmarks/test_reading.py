"""WikiText-2 and Paloma: whole articles, words counted where the canonical code counts them, sources as slices."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from measurand.benchmarks import paloma, wikitext
from measurand.core.errors import DataError
from measurand.core.item import Document
from measurand.core.request import Rolling
from measurand.data import open_data
from measurand.run.prepare import prepare

LINES = [
    "",
    " = Robert <unk> = \n",
    "",
    ' He said , " It is 1 @,@ 000 km ( not 1 @.@ 5 ) away " ; it \'s well @-@ known . \n',
    " = = Career = = \n",
    " In 2006 , he sang . \n",
    " = = = Late = = = \n",
    " = A = \n",
    " Another article , about one letter . \n",
]


def test_lines_become_whole_articles() -> None:
    pages = wikitext.pages([{"text": line} for line in LINES])
    assert [page.split("\n")[0] for page in pages] == [" = Robert <unk> = ", " = A = "]
    assert "".join(pages) == "".join(LINES)
    assert wikitext.pages([{"page": page} for page in pages]) == pages
    with pytest.raises(DataError, match="row 1 has neither"):
        wikitext.pages([{"title": "x"}])


def test_articles_are_read_as_people_write_and_measured_as_they_were() -> None:
    (item, other) = wikitext.to_items("test", [{"text": line} for line in LINES])
    assert isinstance(item.input, Document)
    assert 'He said, "It is 1,000 km (not 1.5) away"; it\'s well-known.\n' in item.input.text
    assert "== Career ==\n" in item.input.text
    assert "=== Late ===\n" in item.input.text
    page = wikitext.pages([{"text": line} for line in LINES])[0]
    assert item.gold == {"words": len(page.split()) + 2, "bytes": len(page.encode())}  # the empty ends count there
    assert other.id == "wikitext/test/1"


def test_wikitext_is_prepared_from_the_hub_s_form(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": LINES}), tmp_path / "test.parquet")
    for benchmark, stride in ((wikitext.BENCHMARK, 1024), (wikitext.VARIANTS["strided"], 512)):
        prepared = prepare(benchmark, open_data({"wikitext": str(tmp_path / "test.parquet")}))
        assert len(prepared.items) == 2
        (request,) = prepared.requests(prepared.items[0])
        assert isinstance(request, Rolling)
        assert (request.window, request.stride) == (1024, stride)
        assert f"{1024:,}" in prepared.protocol.asking.name


def test_paloma_keeps_its_sources_and_domains(tmp_path: Path) -> None:
    rows = [
        {"text": "one", "source": "c4", "subdomain": "a.org", "id": "1"},
        {"text": "two", "source": "c4", "subdomain": "b.org", "id": "2"},
        {"text": "", "source": "c4", "subdomain": "b.org", "id": "3"},
        {"text": "three", "source": "ptb", "id": "4"},
    ]
    file = tmp_path / "test.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    prepared = prepare(paloma.BENCHMARK, open_data({"paloma": str(file)}))
    assert [item.slices for item in prepared.items] == [
        {"source": "c4", "domain": "c4/a.org"},
        {"source": "c4", "domain": "c4/b.org"},
        {"source": "ptb", "domain": "ptb/ptb"},
    ]
    assert prepared.protocol.aggregation.macro == ("source",)
    with pytest.raises(DataError, match="row 1 has no text or no source"):
        paloma.to_items("test", [{"text": "x"}])
