"""Arrow streams, plain pickles, index columns without a name, and rows that know their folder."""

import io
import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from measurand.core.errors import DataError
from measurand.core.source import File
from measurand.data import open_data, parse
from measurand.data.formats import parse_many


def stream(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def test_an_arrow_stream_is_read_as_datasets_saves_it() -> None:
    table = pa.table({"question": ["q"], "choices": [["NA", "null"]], "answer": [1]})
    assert parse(stream(table), "data.arrow").rows == [{"question": "q", "choices": ["NA", "null"], "answer": 1}]
    with pytest.raises(DataError, match=r"data\.arrow is not a readable Arrow stream"):
        parse(b"no arrow", "data.arrow")


def test_a_pickle_of_plain_values_is_read() -> None:
    claims = {"A claim.": {"Label": [True], "types": ["num1"], "Entity_set": ["X"]}}
    row = {"__key__": "A claim.", "Label": [True], "types": ["num1"], "Entity_set": ["X"]}
    assert parse(pickle.dumps(claims), "test.pickle").rows == [row]
    assert parse(pickle.dumps([{"a": 1}]), "test.pickle").rows == [{"a": 1}]


class Calls:
    """What a hostile pickle holds: something that is called when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.mark,))


def test_a_pickle_that_would_call_something_is_refused_and_calls_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "called"
    with pytest.raises(DataError, match="it asks for"):
        parse(pickle.dumps({"a": {"b": Calls(mark)}}), "test.pickle")
    assert not mark.exists()


@pytest.mark.parametrize("data", [b"", b"junk", pickle.dumps(5), pickle.dumps({"a": 5}), pickle.dumps([{"a": {1, 2}}])])
def test_pickles_that_hold_no_table_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match=r"test\.pickle"):
        parse(data, "test.pickle")


def test_a_first_column_of_row_numbers_may_lack_its_name() -> None:
    assert parse(b",q,a\n0,x,1\n1,y,2\n", "t.csv").rows[1] == {"__index__": "1", "q": "y", "a": "2"}
    for text in (b",q\nzero,x\n", b"q,\nx,0\n"):
        with pytest.raises(DataError, match="has no name"):
            parse(text, "t.csv")


def test_rows_of_several_folders_carry_their_folder(tmp_path: Path) -> None:
    files = [(f"who/what@0123: {name}/test.jsonl", b'{"q": 1}\n') for name in ("sw", "ur")]
    assert [row["__folder__"] for row in parse_many(files).rows] == ["sw", "ur"]
    assert parse_many([(f"a/{name}.jsonl", b'{"q": 1}\n') for name in "xy"]).rows == [{"q": 1}] * 2
    (tmp_path / "data.jsonl").write_text('{"q": 1}\n')
    assert open_data({"b": str(tmp_path)}).rows("b:test", File("none.jsonl")).rows == [{"q": 1}]
