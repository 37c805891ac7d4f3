"""A database file that goes away, is replaced or emptied while it is open: nothing is lost, and everybody is told."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from memory_server.errors import Mend, Unavailable
from memory_server.sqlite.database import Database
from tests.conftest import Clock, Sqlite, damage

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be moved there")

INSERT = "INSERT INTO memories (content, type) VALUES (?, 'error')"
AT = "20260314T092653Z"


def keep(database: Database, text: str) -> None:
    with database.write() as tx:
        tx.execute(INSERT, (text,))


def texts(database: Database) -> list[str]:
    with database.read() as tx:
        return [text for (text,) in tx.rows("SELECT content FROM memories ORDER BY id")]


@pytest.fixture
def database(tmp_path: Path, clock: Clock) -> Database:
    """A file with one memory."""
    database = Database(tmp_path / "memory.db", clock)
    keep(database, "first")
    return database


def refusal(database: Database, write: bool) -> Unavailable:
    use = partial(keep, database, "second") if write else partial(texts, database)
    with pytest.raises(Unavailable) as error:
        use()
    return error.value


@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_a_file_that_is_deleted_is_rescued_and_no_empty_one_takes_its_place(
    database: Database, write: bool, sqlite: Sqlite
) -> None:
    assert database.path is not None
    database.path.unlink()
    rescued = database.path.with_name(f"memory.db.rescued-{AT}")
    for _ in range(3):
        error = refusal(database, write)
        assert str(error) == (
            f"The database {database.path} was moved or deleted while it was open. "
            f"All that it held is saved in {rescued}. Nothing was written."
        )
        assert error.problem.hints[0].mend is Mend.PUT_FILE_BACK
    assert not database.path.exists()
    assert [path.name for path in database.path.parent.iterdir()] == [rescued.name]
    assert sqlite(rescued, "SELECT content FROM memories") == "first"
    assert damage(rescued) == []


def test_a_file_that_is_moved_and_put_back_is_used_again(database: Database, tmp_path: Path) -> None:
    assert database.path is not None
    database.path.rename(tmp_path / "elsewhere.db")
    refusal(database, write=True)
    (tmp_path / "elsewhere.db").rename(database.path)
    keep(database, "second")
    assert texts(database) == ["first", "second"]


def test_a_folder_that_is_deleted_with_the_file_is_made_again_for_the_rescue(
    tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    database = Database(tmp_path / "folder" / "memory.db", clock)
    keep(database, "first")
    shutil.rmtree(tmp_path / "folder")
    refusal(database, write=False)
    assert sqlite(tmp_path / "folder" / f"memory.db.rescued-{AT}", "SELECT content FROM memories") == "first"


def test_another_file_in_its_place_is_checked_and_used_and_the_old_content_rescued(
    database: Database, tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    assert database.path is not None
    other = Database(tmp_path / "other.db", clock)
    keep(other, "synchronised")
    other.close()
    (tmp_path / "other.db").replace(database.path)
    error = refusal(database, write=True)
    rescued = tmp_path / f"memory.db.rescued-{AT}"
    assert str(error) == (
        f"Another file has taken the place of the database {database.path} while it was open. "
        f"All that it held is saved in {rescued}. "
        "The file that is there now was checked: it is sound and is used from now on. Nothing was written."
    )
    keep(database, "second")
    assert texts(database) == ["synchronised", "second"]
    assert sqlite(rescued, "SELECT content FROM memories") == "first"


@pytest.mark.parametrize("content", [b"not a database at all", b"SQLite format 3\0" + bytes(5000)])
def test_a_broken_file_in_its_place_is_refused_until_it_is_mended(
    database: Database, tmp_path: Path, content: bytes
) -> None:
    assert database.path is not None
    shutil.copy(database.path, tmp_path / "backup.db")
    (tmp_path / "broken.db").write_bytes(content)
    (tmp_path / "broken.db").replace(database.path)
    assert "The file that is there now cannot be used" in str(refusal(database, write=False))
    refusal(database, write=True)
    assert database.path.read_bytes() == content
    (tmp_path / "backup.db").replace(database.path)
    assert texts(database) == ["first"]


def test_a_file_that_is_emptied_is_not_filled_anew(database: Database, tmp_path: Path) -> None:
    assert database.path is not None
    shutil.copy(database.path, tmp_path / "memory.db.backup")
    os.truncate(database.path, 0)
    for write in (False, True):
        error = refusal(database, write)
        assert str(error) == (
            f"The database {database.path} was emptied by another program while it was open. "
            "The file that is there now cannot be used: it has 0 bytes. Beside it lie: memory.db.backup. "
            "Nothing was written."
        )
        assert error.problem.hints[0].mend is Mend.RESTORE
    assert database.path.stat().st_size == 0
    shutil.copyfile(tmp_path / "memory.db.backup", database.path)
    assert texts(database) == ["first"]


def test_a_database_that_was_never_open_is_made(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "memory.db").touch()
    database = Database(tmp_path / "memory.db", clock)
    keep(database, "first")
    assert texts(database) == ["first"]
