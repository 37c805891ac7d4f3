"""The files of the benchmark are files of the product, the same every time, and are made once."""

from pathlib import Path

import apsw
import pytest
from scale import files, texts

from memory_server.embedding.hashing import HashingEmbedder
from tests.conftest import damage

SIZE = 120


def _rows(path: Path) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(
            """
            SELECT m.id, m.content, m.project, m.created_at, e.vector, b.bits
            FROM memories AS m
            JOIN embeddings AS e ON e.memory_id = m.id
            JOIN embedding_bits AS b ON b.memory_id = m.id
            ORDER BY m.id
            """
        ).fetchall()
    finally:
        connection.close()


def test_two_files_hold_the_same(tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        files.fill(tmp_path / name, SIZE, HashingEmbedder())
    rows = _rows(tmp_path / "a.db")
    assert rows == _rows(tmp_path / "b.db")
    assert [row[1] for row in rows] == [text.content for text in texts.first(SIZE)]
    assert damage(tmp_path / "a.db") == []


def test_nothing_waits_for_its_embedding_and_facts_are_there(tmp_path: Path) -> None:
    files.fill(tmp_path / "a.db", SIZE, HashingEmbedder())
    connection = apsw.Connection(str(tmp_path / "a.db"))
    waiting = "SELECT (SELECT count(*) FROM embedding_queue) + (SELECT count(*) FROM fact_embedding_queue)"
    assert connection.execute(waiting).get == 0
    keys = {key for (key,) in connection.execute("SELECT key FROM facts")}
    connection.close()
    assert keys == {files.existing_key(number, SIZE) for number in range(10)}
    assert len(keys) == 3


def test_a_file_is_made_once_and_its_copies_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with files.copied(SIZE, HashingEmbedder()) as copy:
        (kept,) = files.cache().glob(f"{SIZE}-*.db")
        made = kept.stat().st_mtime_ns
        copy.write_bytes(b"what is measured may change its copy")
    with files.copied(SIZE, HashingEmbedder()) as again:
        assert len(_rows(again)) == SIZE
    assert kept.stat().st_mtime_ns == made
    assert list(files.cache().glob("temporary-*")) == []
