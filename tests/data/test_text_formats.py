"""JSON Lines, JSON, CSV and TSV: every value as it stands, every fault with its place."""

import csv
import gzip
import io
import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import DataError
from measurand.data import parse

# Everything UTF-8 can hold but NUL, which is refused.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
CELL = st.text(st.characters(codec="utf-8", exclude_characters='\0\r\t\n"'), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ROWS = st.lists(st.dictionaries(TEXT, JSON, max_size=4), min_size=1, max_size=5)


@given(rows=ROWS, ascii_only=st.booleans(), crlf=st.booleans(), mark=st.booleans())
def test_jsonl_gives_back_what_was_written(
    *, rows: list[dict[str, Any]], ascii_only: bool, crlf: bool, mark: bool
) -> None:
    end = "\r\n" if crlf else "\n"
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + end for row in rows)
    table = parse(text.encode("utf-8-sig" if mark else "utf-8"), "x.jsonl")
    assert table.rows == rows
    assert table.places == [f"line {number}" for number in range(1, len(rows) + 1)]


@given(rows=ROWS, indent=st.sampled_from([None, 2]))
def test_json_gives_back_what_was_written(rows: list[dict[str, Any]], indent: int | None) -> None:
    assert parse(json.dumps(rows, indent=indent, ensure_ascii=False).encode(), "x.json").rows == rows


@given(
    names=st.lists(CELL.filter(bool), min_size=2, max_size=4, unique=True),
    body=st.data(),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_csv_gives_back_what_was_written(
    names: list[str], body: st.DataObject, end: str, quoting: Literal[0, 1]
) -> None:
    # Outside quotes a lone \r is no character of a field but a fault of the line's end.
    cell = TEXT if quoting == csv.QUOTE_ALL else TEXT.map(lambda text: text.replace("\r", ""))
    rows = body.draw(st.lists(st.lists(cell, min_size=len(names), max_size=len(names)), min_size=1, max_size=5))
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end, quoting=quoting).writerows([names, *rows])
    table = parse(out.getvalue().encode(), "x.csv")
    assert [list(row.values()) for row in table.rows] == rows
    assert list(table.rows[0]) == names


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=5))
def test_a_tsv_without_quoting_gives_back_what_was_written(rows: list[list[str]]) -> None:
    text = "a\tb\n" + "".join("\t".join(row) + "\n" for row in rows)
    assert [[row["a"], row["b"]] for row in parse(text.encode(), "x.tsv").rows] == rows


@pytest.mark.parametrize("word", ["NA", "N/A", "null", "None", "nan", "NaN", "", "007", "1e5", "TRUE", " x ", "#N/A"])
def test_words_that_others_take_for_missing_stay_words(word: str) -> None:
    assert parse(f"q,a\nz,{word}\n".encode(), "x.csv").rows == [{"q": "z", "a": word}]


def test_line_separators_of_unicode_end_no_line() -> None:
    odd = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    assert parse(json.dumps({"q": odd}, ensure_ascii=False).encode(), "x.jsonl").rows == [{"q": odd}]
    assert parse(f"q,a\n{odd},1\n".encode(), "x.csv").rows == [{"q": odd, "a": "1"}]
    assert parse(f"q\ta\n{odd}\t1\n".encode(), "x.tsv").rows == [{"q": odd, "a": "1"}]


def test_quoted_newlines_and_the_line_of_the_row_after_them() -> None:
    table = parse(b'q,a\n"one\ntwo, ""three""\r\n",1\nlast,2\n', "x.csv")
    assert table.rows[0]["q"] == 'one\ntwo, "three"\r\n'
    assert table.places == ["line 2", "line 5"]


def test_fields_may_be_huge_and_the_csv_module_keeps_its_limit() -> None:
    limit = csv.field_size_limit()
    assert len(parse(f"q,a\n{'x' * 1_000_000},1\n".encode(), "x.csv").rows[0]["q"]) == 1_000_000
    assert csv.field_size_limit() == limit


def test_a_tsv_is_read_with_quotes_only_where_that_is_even() -> None:
    quoted = b'q\ta\n"tab\there and\na line"\t1\n'
    assert parse(quoted, "x.tsv").rows == [{"q": "tab\there and\na line", "a": "1"}]
    literal = b'q\ta\n"Yes," she said.\t1\n"No\t2\nsaid" he\t3\n'
    assert [row["q"] for row in parse(literal, "x.tsv").rows] == ['"Yes," she said.', '"No', 'said" he']


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b'{"q":1}\n[1,2]\n', "x.jsonl", "x.jsonl: line 2 is a list, not an object"),
        (b'{"q":1}\n\n{"q":\n', "x.jsonl", "x.jsonl: line 3 is not valid JSON"),
        (b'{"q":1,"q":2}\n', "x.jsonl", "line 1 has the duplicate key 'q'"),
        (b'{"q":{"a":1,"a":1}}\n', "x.jsonl", "line 1 has the duplicate key 'a'"),
        (b'{"q":NaN}\n', "x.jsonl", "line 1 holds NaN"),
        (b'{"q":-Infinity}\n', "x.jsonl", "line 1 holds -Infinity"),
        (b'{"q":1e999}\n', "x.jsonl", "line 1 holds 1e999"),
        (b'{"q":"\\ud83d"}\n', "x.jsonl", "line 1 holds half of a surrogate pair"),
        (b'{"\\uD83D":1}\n', "x.jsonl", "line 1 holds half of a surrogate pair"),
        (b'{"q":' + b"9" * 5000 + b"}\n", "x.jsonl", "line 1 holds a number too long"),
        (b'{"q":' + b"[" * 100_000 + b"}\n", "x.jsonl", "line 1 is nested too deeply"),
        (b'{"q":"a"}', "x.json", "x.json: expected a list of objects, found an object"),
        (b'"a"', "x.json", "expected a list of objects, found a string"),
        (b'[{"q":1},\n{"q" 2}]', "x.json", "not valid JSON (Expecting ':' delimiter at line 2"),
        (b'[{"q":1}, null]', "x.json", "x.json: element 2 is null, not an object"),
        (b'[{"q":\n"\\ud83d"}]', "x.json", "half of a surrogate pair (near line 2)"),
        (b"q,a\n1\n", "x.csv", "x.csv: line 2 has 1 fields where the header has 2"),
        (b'q,a\n"1\n2",3\n4,5,6\n', "x.csv", "x.csv: line 4 has 3 fields"),
        (b"q\ta\n1\t2\t3\n", "x.tsv", "x.tsv: line 2 has 3 fields"),
        (b"q,a,q\n1,2,3\n", "x.csv", "line 1: column 3 has the name of column 1, 'q'"),
        (b"q,,a\n1,2,3\n", "x.csv", "line 1: column 2 has no name"),
        (b'q,a\n"1,2\n', "x.csv", "line 2 cannot be split into fields"),
        (b"q,a\r1,2\r", "x.csv", "line 1 cannot be split into fields"),
        (b'q,a\n"1" x,2\n', "x.csv", "line 2 cannot be split into fields"),
        (b'{"q":1}\n{"q":"\0"}', "x.jsonl", "line 2 holds a NUL byte"),
        (b"q,a\ncaf\xe9,1\n", "x.csv", "line 2 is not UTF-8 (byte 0xe9 at byte 4 of the line)"),
        ("q,a\n1,2\n".encode("utf-16"), "x.csv", "x.csv is UTF-16"),
        ("q,a\n1,2\n".encode("utf-32"), "x.csv", "x.csv is UTF-32"),
        (b"", "x.jsonl", "x.jsonl has no samples"),
        (b"\xef\xbb\xbf\r\n\n", "x.jsonl", "no samples"),
        (b"[]", "x.json", "no samples"),
        (b"", "x.json", "no samples"),
        (b"", "x.csv", "no samples"),
        (b"q,a\n", "x.csv", "no samples"),
        (b"x", "x.doc", "x.doc has no known ending"),
        (b"PK", "x.jsonl.gz", "x.jsonl.gz is not a whole gzip file"),
        (gzip.compress(b'{"q":1}\n' * 999)[:-9], "x.jsonl.gz", "not a whole gzip file"),
    ],
)
def test_faults_are_named_with_file_and_place(data: bytes, name: str, says: str) -> None:
    with pytest.raises(DataError) as caught:
        parse(data, name)
    assert says in str(caught.value)
    assert str(caught.value).startswith(name)


def test_an_object_with_one_list_of_objects_holds_its_rows() -> None:
    read = parse(b'{"version": 1, "tags": ["x"], "data": [{"q": 1}, {"q": 2}]}', "x.json")
    assert read.rows == [{"q": 1}, {"q": 2}]
    assert read.places == ["element 1", "element 2"]
    for two in (b'{"train": [{"q": 1}], "test": [{"q": 2}]}', b'{"tags": ["x"]}'):
        with pytest.raises(DataError, match=r"x\.json: expected a list of objects, found an object"):
            parse(two, "x.json")


def test_gzip_by_name() -> None:
    assert parse(gzip.compress(b'{"q":1}\n'), "x.JSONL.GZ").rows == [{"q": 1}]


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory() -> None:
    bomb = gzip.compress(b" " * (80 * 2**20))
    with pytest.raises(DataError, match="grows to more than"):
        parse(bomb, "x.csv.gz")


@given(
    data=st.binary(max_size=300), name=st.sampled_from(["x.jsonl", "x.json", "x.csv", "x.tsv", "x.csv.gz", "x.xlsx"])
)
def test_no_bytes_raise_anything_but_data_errors(data: bytes, name: str) -> None:
    try:
        table = parse(data, name)
    except DataError:
        return
    assert table.rows
    assert len(table.rows) == len(table.places)
