"""A damaged file gives what can be read of it, and what it has lost is told."""

import random
import re
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memory_server.errors import Conflict, Unavailable
from memory_server.sqlite import bm25, salvage, vectors
from memory_server.sqlite.database import Database
from memory_server.sqlite.pages import Pages
from memory_server.sqlite.salvage import Rescued
from memory_server.storage import packaged
from memory_server.stores import clock
from memory_server.transfer.rescuing import rescue
from tests.conftest import damage, lay_empty_file, problems

PAGE = 4096

FILL = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
INSERT INTO memories (content, type, project)
SELECT 'The crane number ' || i || ' 起重机 stands at pier ' || substr(hex(zeroblob(900)), 1, 100 + i % 900),
       'observation', 'ledger'
FROM n;
INSERT INTO memories (content, type)
VALUES (replace(hex(zeroblob(2400)), '0', '长'), 'error');
INSERT INTO edges (source_id, target_id, relation) SELECT id, id + 1, 'causes' FROM memories WHERE id < 200;
INSERT INTO facts (scope, owner, key, value)
SELECT 'project', 'ledger', 'pier.' || id, '"the value ' || id || '"' FROM memories WHERE id < 90;
INSERT INTO turns (message, summary) SELECT 'what was said ' || id, 'about it ' || id FROM memories WHERE id < 60;
INSERT INTO conversations (name) VALUES ('c');
INSERT INTO short_term_memories (conversation_id, text) SELECT 1, 'user: at pier ' || id FROM memories WHERE id < 50;
"""
KINDS = ("memories", "edges", "facts", "turns", "short_term_memories", "fact_history")
COLUMNS = {
    "memories": "id, content, type, project, created_at",
    "edges": "id, source_id, target_id, relation",
    "facts": "id, key, value",
    "turns": "id, message, summary",
    "short_term_memories": "id, text",
    "fact_history": "id, key, version, value",
}


LOST_WITH = {
    "memories": ("edges",),
    "conversations": ("short_term_memories",),
}
"""Kinds whose rows may belong to a lost one of the table."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    lay_empty_file(path)
    Database(path, clock).open()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(FILL)
    return path


@pytest.fixture
def damaged(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "memory.db"))


def content(path: Path) -> dict[str, dict[int, tuple[object, ...]]]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return {
            kind: {row[0]: row for row in connection.execute(f"SELECT {COLUMNS[kind]} FROM {kind}")}
            for kind in KINDS
        }


def root_of(path: Path, name: str) -> int:
    with closing(apsw.Connection(str(path))) as connection:
        return int(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get)


def spoil(path: Path, *pages: int, text: bytes = b"") -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(text or random.Random(page).randbytes(PAGE))


def rescued(path: Path) -> tuple[Rescued, Path]:
    target = path.with_name("rescued.db")
    target.unlink(missing_ok=True)
    done = rescue(path, target, clock, lambda _done, _total: None)
    assert damage(target) == []
    with closing(Database(target, clock)) as database:
        assert problems(database) == []
    return done, target


def lost(done: Rescued, kind: str) -> set[int]:
    return {id for rows in done.lost if rows.table == kind for id in rows.ids}


@pytest.mark.parametrize("seed", range(6))
def test_six_bad_pages_of_all_give_the_rest_and_the_lost_rows_are_named(
    sound: Path, damaged: Path, seed: int
) -> None:
    pages = damaged.stat().st_size // PAGE
    spoil(damaged, *random.Random(seed).sample(range(2, pages + 1), 6), text=bytes(PAGE) if seed % 2 else b"")
    before = content(sound)
    done, target = rescued(damaged)
    after = content(target)
    for kind in KINDS:
        assert after[kind].items() <= before[kind].items()
        missing = before[kind].keys() - after[kind].keys()
        if kind != "edges":  # an edge goes with its memory
            assert missing <= lost(done, kind)
    assert len(before["memories"]) - len(after["memories"]) < 6 * 30


def test_what_the_word_index_knows_is_lost_for_certain(sound: Path, damaged: Path) -> None:
    with closing(apsw.Connection(str(damaged))) as connection:
        connection.execute("DELETE FROM memories WHERE id IN (100, 101)")
        before = {id for (id,) in connection.execute("SELECT id FROM memories")}
    data = damaged.read_bytes()
    row = re.search(rb"The crane number 105 [^\0]+?observation", data)  # the word index has the text too
    assert row
    spoil(damaged, row.start() // PAGE + 1)
    done, target = rescued(damaged)
    (rows,) = [rows for rows in done.lost if rows.table == "memories"]
    assert rows.certain
    assert 105 in rows.ids
    assert set(rows.ids) == before - content(target)["memories"].keys()
    assert {100, 101}.isdisjoint(rows.ids)


@pytest.mark.parametrize("name", ["memories", "facts", "edges"])
def test_pages_to_which_nothing_leads_any_more_are_taken_by_their_rows(
    sound: Path, damaged: Path, name: str
) -> None:
    spoil(damaged, root_of(sound, name))
    done, target = rescued(damaged)
    assert content(target) == content(sound)
    assert done.lost == ()


@pytest.mark.parametrize("bytes_", [100, PAGE])
def test_a_destroyed_beginning_loses_nothing_else(sound: Path, damaged: Path, bytes_: int) -> None:
    with damaged.open("r+b") as file:
        file.write(random.Random(1).randbytes(bytes_))
    _, target = rescued(damaged)
    assert content(target)["memories"] == content(sound)["memories"]
    assert content(target)["facts"] == content(sound)["facts"]


def test_of_a_file_that_was_cut_off_the_beginning_is_rescued(sound: Path, damaged: Path) -> None:
    data = damaged.read_bytes()
    damaged.write_bytes(data[: len(data) * 4 // 5 + 100])
    before = content(sound)
    done, target = rescued(damaged)
    after = content(target)
    assert after["memories"].items() <= before["memories"].items()
    assert before["memories"].keys() - after["memories"].keys() <= lost(done, "memories")
    assert after["memories"]


@pytest.mark.parametrize("share", [0.7, 0.75, 0.8, 0.9, 0.99])
def test_of_a_file_cut_anywhere_each_memory_on_a_page_that_is_left_is_rescued(
    sound: Path, damaged: Path, share: float
) -> None:
    data = damaged.read_bytes()[: int(damaged.stat().st_size * share) // PAGE * PAGE]
    damaged.write_bytes(data)
    left = {row.id for row in Pages.of(data).rows(root_of(sound, "memories"), [])}
    assert left
    _, target = rescued(damaged)
    assert content(target)["memories"].keys() == left


def test_a_file_of_ours_whose_rows_are_cut_off_is_not_called_foreign(damaged: Path) -> None:
    damaged.write_bytes(damaged.read_bytes()[: 50 * PAGE])
    with pytest.raises(Unavailable, match=r"Too much of .* is missing: none of its rows can be read"):
        rescued(damaged)


def test_the_root_page_of_any_table_may_be_lost(sound: Path, damaged: Path) -> None:
    before, data = content(sound), damaged.read_bytes()
    for table in salvage.KEPT:
        damaged.write_bytes(data)
        spoil(damaged, root_of(sound, table))
        _, target = rescued(damaged)
        after = content(target)
        for kind in KINDS:
            if kind not in LOST_WITH.get(table, ()):
                assert after[kind] == before[kind], (table, kind)


def test_memories_keep_a_project_whose_own_row_is_lost(sound: Path, damaged: Path) -> None:
    spoil(damaged, root_of(sound, "projects"))
    done, target = rescued(damaged)
    assert content(target) == content(sound)
    with closing(apsw.Connection(str(target))) as connection:
        assert connection.execute("SELECT id, name FROM projects").fetchall() == [(2, "ledger")]
    (rows,) = done.lost
    assert (rows.table, rows.ids, rows.certain) == ("projects", (1,), False)


def test_what_cannot_be_copied_leaves_nothing_and_says_nothing_of_copy(
    sound: Path, damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvage, "_name_projects", lambda _draft: None)
    spoil(damaged, root_of(sound, "projects"))
    with pytest.raises(Conflict) as refusal:
        rescued(damaged)
    assert "unfinished" not in str(refusal.value)
    assert refusal.value.problem.hints == ()
    assert not damaged.with_name("rescued.db.unfinished").exists()


def test_where_the_list_of_ids_is_lost_the_tables_that_may_have_lost_rows_are_named(damaged: Path) -> None:
    sequence, data = root_of(damaged, "sqlite_sequence"), damaged.read_bytes()
    damaged.write_bytes(data[: len(data) * 4 // 5])
    spoil(damaged, sequence)
    done, _ = rescued(damaged)
    assert {rows.table for rows in done.lost if not rows.ids} == {"edges", "fact_history"}


def test_what_was_deleted_is_not_brought_back_and_no_id_is_given_again(sound: Path, damaged: Path) -> None:
    with closing(apsw.Connection(str(damaged))) as connection:
        connection.pragma("secure_delete", False)
        connection.execute("DELETE FROM memories WHERE id > 120")
    spoil(damaged, root_of(damaged, "memories"))
    _, target = rescued(damaged)
    after = content(target)
    assert max(after["memories"]) <= 120
    with closing(apsw.Connection(str(target))) as connection:
        assert connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memories'").get == 401


def test_a_transaction_of_a_killed_program_is_undone(sound: Path, damaged: Path) -> None:
    connection = apsw.Connection(str(damaged))
    connection.pragma("cache_size", 1)
    connection.execute("BEGIN; UPDATE memories SET content = 'half of it'")
    copy = damaged.with_name("copy.db")
    for ending in ("", "-journal"):
        shutil.copy(f"{damaged}{ending}", f"{copy}{ending}")
    connection.close()
    _, target = rescued(copy)
    assert content(target)["memories"] == content(sound)["memories"]


@pytest.mark.parametrize("before", [-1, 1])
def test_a_file_of_an_older_version_is_rescued_too(tmp_path: Path, before: int) -> None:
    path = tmp_path / "old.db"
    migrations = packaged.load(packaged.folder())
    with closing(apsw.Connection(str(path))) as connection:
        vectors.install(connection)
        bm25.install(connection)
        for migration in migrations[:before]:
            connection.execute(migration.path.read_text(encoding="utf-8"))
            connection.pragma("user_version", migration.version)
        connection.execute(
            "INSERT INTO memories (content, type) VALUES ('The harbour opens at noon', 'decision')"
        )
    _, target = rescued(path)
    assert [row[1] for row in content(target)["memories"].values()] == ["The harbour opens at noon"]


def test_a_file_that_is_no_database_of_ours_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("notes " * 10_000)
    with pytest.raises(Unavailable, match="Nothing of this program can be read"):
        rescue(path, tmp_path / "new.db", clock, lambda _done, _total: None)
    assert not (tmp_path / "new.db").exists()
