"""What can be wrong with a file, and that each of it is one sentence which says how to mend it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection

from measurand.core.errors import StoreError
from measurand.core.ports import CallMade
from measurand.core.run import Slot
from measurand.store import migrations, open_store
from tests.artifacts import ROOT
from tests.store.examples import SUBJECT_ID, asked, fill, items, key_of, protocol, run, trial

NOBODY = 65534


def refused(location: object, **options: object) -> str:
    """The one sentence with which a location is refused."""
    with pytest.raises(StoreError) as caught:
        open_store(location, **options)  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "database is locked" not in sentence
    return sentence


async def made(path: Path) -> Path:
    store = open_store(path)
    await fill(store, run(3), 3)
    store.close()
    return path


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def as_nobody(path: Path, *, write: bool) -> subprocess.CompletedProcess[str]:
    """Open a store as a user who may not write, and count what he can recall."""
    program = (
        "import sys; from measurand.store import open_store; from tests.store.examples import *\n"
        "from measurand.core.errors import StoreError\n"
        "store = open_store(sys.argv[2]); list(store.runs()); store.close()\n"  # he may not read our modules later
        f"import os; os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        f"try: store = open_store(sys.argv[1], read_only={not write})\n"
        "except StoreError as error: sys.exit(str(error))\n"
        "sys.stdout.write(str(len(list(store.scores(run(3).id))))); store.close()"
    )
    command = [sys.executable, "-c", program, str(path), str(path.with_name("warm.db"))]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


async def test_a_url_and_a_path_are_the_same_store(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'a b%20#?.db'}")
    await store.record(key_of(1), SUBJECT_ID, asked(1))
    store.close()
    assert (tmp_path / "a b%20#?.db").exists()
    store = open_store(tmp_path / "a b%20#?.db", read_only=True)
    assert len(store.recall([key_of(1)])) == 1
    store.close()


def test_what_is_no_path_is_refused() -> None:
    assert "not a store this release can open" in refused("postgresql://me:secret@db/evals")
    assert "secret" not in refused("postgresql+psycopg://me:secret@db/evals")
    for nothing in ("", "sqlite:///", "a\x00b"):
        assert refused(nothing).startswith("The path of the store is empty")


def test_folders_and_devices_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in refused(tmp_path)
    assert "is not a file" in refused("/dev/null")
    (tmp_path / "file").write_text("")
    assert "cannot be" in refused(tmp_path / "file" / "runs.db")


def test_what_is_missing_cannot_be_read(tmp_path: Path) -> None:
    assert "There is no store at" in refused(tmp_path / "no.db", read_only=True)
    assert not (tmp_path / "no.db").exists()


@pytest.mark.parametrize("read_only", [True, False])
def test_other_files_are_refused_and_left_alone(tmp_path: Path, *, read_only: bool) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("these are my notes\n" * 500)
    assert "is not a database; give the path of a store" in refused(text, read_only=read_only)
    assert text.read_text() == "these are my notes\n" * 500
    theirs = tmp_path / "theirs.db"
    with sqlite3.connect(theirs) as connection:
        connection.execute("CREATE TABLE schema_version (v)" if read_only else "CREATE TABLE songs (title)")
    connection.close()
    assert "another program's database" in refused(theirs, read_only=read_only)


async def test_a_damaged_store_is_said(tmp_path: Path) -> None:
    path = await made(tmp_path / "runs.db")
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    assert "is damaged" in refused(path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "runs.db").touch()
    store = open_store(tmp_path / "runs.db")
    assert store.runs() == []
    store.close()


def test_a_newer_store_is_refused_with_both_versions(tmp_path: Path) -> None:
    open_store(tmp_path / "runs.db").close()
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("UPDATE schema_version SET version = 99")
    connection.close()
    for read_only in (True, False):
        sentence = refused(tmp_path / "runs.db", read_only=read_only)
        assert "version 99" in sentence
        assert f"up to {migrations.latest()}; install the release" in sentence


async def test_an_older_store_is_migrated_in_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await made(tmp_path / "runs.db")

    def rename(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE run ADD COLUMN note TEXT")

    def fail(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE run ADD COLUMN other TEXT")
        connection.exec_driver_sql("SELECT * FROM no_such_table")

    now = migrations.latest()
    steps: tuple[Callable[[Connection], None], ...] = (*migrations.MIGRATIONS, rename, fail)
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    assert "cannot be used" in refused(path)
    assert columns(path) == (now, set())
    assert "open it once for writing" in refused(path, read_only=True)
    monkeypatch.setattr(migrations, "MIGRATIONS", steps[:-1])
    store = open_store(path)
    assert len(store.recall([key_of((n, 0)) for n in range(3)])) == 3
    store.close()
    assert columns(path) == (now + 1, {"note"})


def columns(path: Path) -> tuple[int, set[str]]:
    """The version of a store, and which of the columns of the migrations above it has."""
    connection = sqlite3.connect(path)
    (version,) = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    found = {row[1] for row in connection.execute("PRAGMA table_info(run)")}
    connection.close()
    return version, found & {"note", "other"}


async def test_a_locked_store_is_said_and_the_failure_stays(tmp_path: Path) -> None:
    path = await made(tmp_path / "runs.db")
    store = open_store(path, patience=0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "stayed locked by another program" in refused(path, patience=0.2)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"stayed locked by another program; .*\.$"):
            await store.record(key_of("new"), SUBJECT_ID, asked(1))
    with pytest.raises(StoreError, match="stayed locked"):
        await store.flush()
    assert len(store.recall([key_of((n, 0)) for n in range(3)])) == 3
    other.execute("ROLLBACK")
    other.close()
    store.close()


@pytest.mark.parametrize("location", ["runs.db", ":memory:"])
async def test_a_trial_of_another_plan_is_said_not_swallowed(location: str, tmp_path: Path) -> None:
    store, of = open_store(location if location == ":memory:" else tmp_path / location), run(3)
    store.open_run(of, protocol(3), items(3))
    wrong = msgspec.structs.replace(trial(of, Slot(1, 0)), item="example/2")

    async def hand_over() -> None:
        store.finish(Slot(1, 0), wrong, [], [])
        await store.flush()

    with pytest.raises(StoreError, match="names an item or a call it does not hold"):
        await hand_over()
    assert list(store.done(of.id)) == []
    store.close()


async def test_a_failure_nobody_was_told_of_is_raised_at_the_close(tmp_path: Path) -> None:
    store, of = open_store(tmp_path / "runs.db"), run(3)
    store.open_run(of, protocol(3), items(3))
    store.finish(Slot(0, 0), trial(of, Slot(0, 0)), [CallMade("target", key_of("never recorded"))], [])
    with pytest.raises(StoreError, match="names an item or a call it does not hold"):
        store.close()


async def test_a_store_opened_for_reading_does_not_write(tmp_path: Path) -> None:
    store = open_store(await made(tmp_path / "runs.db"), read_only=True)
    assert len(list(store.trials(run(3).id))) == 3
    with pytest.raises(StoreError, match="open for reading only"):
        await store.record(key_of(9), SUBJECT_ID, asked(1))
    with pytest.raises(StoreError, match="open for reading only"):
        store.begin_session(run(3).id, 1)
    store.close()


async def test_one_may_read_while_another_writes(tmp_path: Path) -> None:
    path = await made(tmp_path / "runs.db")
    writer, reader = open_store(path), open_store(path, read_only=True)
    half_read = reader.scores(run(3).id)
    next(half_read)
    await writer.record(key_of("later"), SUBJECT_ID, asked("later"))
    assert len(reader.recall([key_of("later")])) == 1
    assert len(list(half_read)) == 2
    writer.close()
    assert len(list(reader.done(run(3).id))) == 3
    reader.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
async def test_a_reader_without_rights_to_write_can_read(open_folder: Path) -> None:
    path = await made(open_folder / "runs.db")
    path.chmod(0o644)
    asked_for = as_nobody(path, write=False)
    assert (asked_for.returncode, asked_for.stdout, asked_for.stderr) == (0, "3", "")
    denied = as_nobody(path, write=True)
    assert denied.returncode == 1
    assert "may not be written" in denied.stderr
    assert "Traceback" not in denied.stderr
    path.chmod(0o600)
    assert "may not be read" in as_nobody(path, write=False).stderr
    path.chmod(0o666)
    assert as_nobody(path, write=True).returncode == 1
    nowhere = as_nobody(open_folder / "new.db", write=True)
    assert "cannot be opened; check that its folder exists and that you may read and write in it" in nowhere.stderr
    deep = as_nobody(open_folder / "new" / "runs.db", write=True)
    assert "Traceback" not in deep.stderr
    assert deep.returncode == 1
    store = open_store(path)  # a log beside the file, which nobody can index: he reads with the writer's index
    await store.record(key_of("open"), SUBJECT_ID, asked(1))
    beside = as_nobody(path, write=False)
    assert (beside.stdout, beside.stderr) == ("3", "")
    store.close()


def test_opening_the_fake_loads_no_database() -> None:
    program = "import sys; import measurand.store as s; s.open_store(':memory:'); sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
    program = "import sys; import measurand.store.sql_store; sys.exit('sqlalchemy.orm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
