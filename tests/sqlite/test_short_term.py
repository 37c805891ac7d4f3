"""The tables of conversations and short-term memories as a person edits them with the stock program."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.message import Message
from memory_server.domain.short_term import Tier
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.services.short_term import ShortTermService
from memory_server.sqlite.database import Database
from tests.conftest import ROOT, Clock, Sqlite, damage, file_of, problems

RULE = "said_at must look like 2026-12-31T23:59:00.000Z"
TABLES = ("conversations", "short_term_memories", "short_term_keywords")


@dataclass
class Edited:
    """A file with one conversation `c` of two memories that a person edits, and a server reads."""

    path: Path
    clock: Clock
    segmenter: JiebaSegmenter
    sqlite: Sqlite
    opened: list[Database] = field(default_factory=list)

    def served(self) -> ShortTermService:
        database = Database(self.path, self.clock)
        self.opened.append(database)
        return ShortTermService(database, JiebaKeywords(self.segmenter), random.Random(7).random)

    def by_hand(self, *commands: str, fails: bool = False) -> str:
        while self.opened:
            self.opened.pop().close()
        return self.sqlite(self.path, *commands, fails=fails)

    def top(self, words: str, conversation: str = "c") -> list[str]:
        """The texts that come back for these words after the server's background work."""
        service = self.served()
        service.find_keywords()
        found = service.search([Message("user", words)], conversation, {}, caller=Caller()).memories
        return [each.memory.text for each in found if each.tier is Tier.TOP]


@pytest.fixture
def edited(tmp_path: Path, clock: Clock, segmenter: JiebaSegmenter, sqlite: Sqlite) -> Iterator[Edited]:
    edited = Edited(tmp_path / "memory.db", clock, segmenter, sqlite)
    service = edited.served()
    for text in ("the zebra escaped", "数据库的连接池满了"):
        service.add([Message("user", text)], "c", {}, Caller())
        clock.advance(hours=1)
    yield edited
    edited.by_hand()
    assert damage(edited.path) == []


def test_a_conversation_and_its_memories_inserted_by_hand_are_served(edited: Edited) -> None:
    edited.by_hand(
        "INSERT INTO conversations (name) VALUES ('手写')",
        "INSERT INTO short_term_memories (conversation_id, text, said_at) SELECT id, "
        "'user: two giraffes', '2026-03-14T09:00:00.000Z' FROM conversations WHERE name = '手写'",
        "INSERT INTO short_term_memories (conversation_id, text) VALUES (1, 'just now')",
    )
    assert edited.top("giraffe", "手写") == ["user: two giraffes"]
    assert edited.top("giraffe") == []
    assert edited.by_hand("SELECT count(*) FROM short_term_memories WHERE keyed = 0") == "0"
    assert edited.by_hand("SELECT score FROM short_term_memories WHERE text LIKE 'user: two%'") == "5.0"


def test_a_text_changed_by_hand_is_found_by_its_new_words_only(edited: Edited) -> None:
    edited.by_hand("UPDATE short_term_memories SET text = 'user: 兩隻長頸鹿' WHERE id = 1")
    assert edited.by_hand("SELECT word FROM short_term_keywords WHERE memory_id = 1") == ""
    assert edited.top("长颈鹿") == ["user: 兩隻長頸鹿"]
    assert edited.top("zebra") == []
    assert edited.top("数据库") == ["user: 数据库的连接池满了"]


def test_a_change_of_something_else_keeps_the_keywords(edited: Edited) -> None:
    edited.by_hand(
        "UPDATE short_term_memories SET text = text, score = 7, said_at = '2026-03-01T00:00:00.000Z'"
    )
    assert edited.by_hand("SELECT DISTINCT keyed FROM short_term_memories") == "1"
    assert edited.top("zebra") == ["user: the zebra escaped"]


def test_a_memory_moved_by_hand_is_found_where_it_is_now(edited: Edited) -> None:
    edited.by_hand(
        "INSERT INTO conversations (name) VALUES ('d')",
        "UPDATE short_term_memories SET conversation_id = 2 WHERE id = 1",
    )
    assert edited.top("zebra", "d") == ["user: the zebra escaped"]
    assert edited.top("zebra") == []


def test_a_renamed_conversation_keeps_its_memories(edited: Edited) -> None:
    edited.by_hand("UPDATE conversations SET name = '新名' WHERE name = 'c'")
    assert edited.top("zebra", "新名") == ["user: the zebra escaped"]
    assert edited.top("zebra") == []


@pytest.mark.parametrize(
    "command",
    [
        "INSERT OR REPLACE INTO conversations (name) VALUES ('c')",
        "INSERT OR IGNORE INTO conversations (name) VALUES ('c')",
        "UPDATE OR REPLACE conversations SET name = 'c' WHERE name = 'd'",
        "PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF; REPLACE INTO conversations (name) VALUES ('c')",
    ],
)
def test_a_conversation_replaced_by_hand_keeps_its_memories(edited: Edited, command: str) -> None:
    edited.by_hand("INSERT INTO conversations (name) VALUES ('d')", command)
    assert edited.top("zebra") == ["user: the zebra escaped"]
    assert edited.by_hand("SELECT DISTINCT conversation FROM readable_short_term_memories") == "c"


def test_memories_copied_with_all_columns_of_another_file_get_keywords(
    edited: Edited, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    edited.by_hand(f"VACUUM INTO '{other}'", "DELETE FROM short_term_memories")
    edited.by_hand(
        f"ATTACH '{other}' AS other",
        "INSERT INTO short_term_memories SELECT * FROM other.short_term_memories",
    )
    assert edited.top("zebra") == ["user: the zebra escaped"]


def test_a_note_written_by_hand_is_found_by_the_words_before_its_colon(edited: Edited) -> None:
    edited.by_hand("UPDATE short_term_memories SET text = 'The giraffe of the zoo: fed at nine' WHERE id = 1")
    assert edited.top("giraffe") == ["The giraffe of the zoo: fed at nine"]


def test_a_memory_replaced_by_hand_is_found_by_its_new_words_only(edited: Edited) -> None:
    edited.by_hand(
        "INSERT OR REPLACE INTO short_term_memories (id, conversation_id, text, said_at)"
        " VALUES (1, 1, 'user: a giraffe', '2026-03-14T09:00:00.000Z')"
    )
    assert edited.top("giraffe") == ["user: a giraffe"]
    assert edited.top("zebra") == []


def test_a_deleted_memory_takes_its_keywords_and_a_conversation_all_its_rows(edited: Edited) -> None:
    edited.by_hand("DELETE FROM short_term_memories WHERE id = 1")
    assert edited.by_hand("SELECT DISTINCT memory_id FROM short_term_keywords") == "2"
    edited.by_hand("DELETE FROM conversations WHERE name = 'c'")
    for table in TABLES:
        assert edited.by_hand(f"SELECT count(*) FROM {table}") == "0"
    assert edited.served().add([Message("user", "again")], "c", {}, Caller()).id == 3


@pytest.mark.parametrize(
    "said",
    [
        "'2026-03-14'",
        "'2026-03-14 09:26:53'",
        "'2026-03-14T09:26:53Z'",
        "'2026-03-14T09:26:53.000'",
        "'2026-03-14T17:26:53.000+08:00'",
        "'2026-13-01T00:00:00.000Z'",
        "'2026-02-30T00:00:00.000Z'",
        "'2026-03-13T24:00:00.000Z'",
        "'yesterday'",
        "''",
        "1710408413000",
    ],
)
def test_a_moment_written_in_another_way_is_refused_with_the_right_one(edited: Edited, said: str) -> None:
    assert RULE in edited.by_hand(f"UPDATE short_term_memories SET said_at = {said}", fails=True)
    assert RULE in edited.by_hand(
        f"INSERT INTO short_term_memories (conversation_id, text, said_at) VALUES (1, 'x', {said})",
        fails=True,
    )


@pytest.mark.parametrize(
    "command",
    [
        "UPDATE short_term_memories SET said_at = NULL",
        "UPDATE short_term_memories SET score = 101",
        "UPDATE short_term_memories SET score = -1",
        "UPDATE short_term_memories SET text = ''",
        "UPDATE short_term_memories SET keyed = 2",
        "UPDATE short_term_memories SET id = id + 10",
        "UPDATE short_term_memories SET conversation_id = 99",
        "INSERT INTO short_term_memories (conversation_id, text) VALUES (99, 'x')",
        "UPDATE short_term_keywords SET weight = 9e999",
        "UPDATE conversations SET id = id + 10",
        "UPDATE conversations SET name = ''",
        f"UPDATE conversations SET name = '{'k' * 201}'",
        "UPDATE conversations SET removed = -1",
        "INSERT INTO conversations (name) VALUES ('c')",
    ],
)
def test_what_no_row_may_hold_is_refused(edited: Edited, command: str) -> None:
    before = edited.by_hand(".dump")
    edited.by_hand(command, fails=True)
    assert edited.by_hand(".dump") == before


def test_the_readable_view_names_the_conversation_and_the_heaviest_words_first(edited: Edited) -> None:
    edited.by_hand("UPDATE short_term_memories SET score = 5 WHERE id = 2")
    assert edited.by_hand("SELECT * FROM readable_short_term_memories WHERE id = 2") == (
        "2|c|2026-03-14 10:26|5.0|user: 数据库的连接池满了|连接池 数据库 据库 满 连接 数据"
    )


def test_a_dump_restores_into_an_equal_file(edited: Edited, tmp_path: Path) -> None:
    script, copy = tmp_path / "dump.sql", tmp_path / "copy.db"
    script.write_text(edited.by_hand(".dump"), encoding="utf-8")
    edited.sqlite(copy, f".read {script}")
    for table in (*TABLES, "readable_short_term_memories"):
        assert edited.sqlite(copy, f"SELECT * FROM {table}") == edited.by_hand(f"SELECT * FROM {table}")


def test_a_file_of_the_version_before_gets_the_tables(tmp_path: Path, clock: Clock) -> None:
    before = tmp_path / "migrations"
    before.mkdir()
    for path in sorted((ROOT / "migrations").glob("*.sql")):
        if path.name < "0004":
            (before / path.name).write_bytes(path.read_bytes())
    path = tmp_path / "memory.db"
    old = Database(path, clock, before)
    with old.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('kept', 'decision')")
    old.close()
    database = Database(path, clock)
    with database.read() as tx:
        assert tx.rows("SELECT content FROM memories") == [("kept",)]
        for table in TABLES:
            assert tx.value(f"SELECT count(*) FROM {table}") == 0
    database.close()
    assert damage(path) == []


def test_a_text_changed_while_its_keywords_are_found_keeps_none_of_them(
    edited: Edited, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited.by_hand("UPDATE short_term_memories SET text = 'user: giraffe' WHERE id = 1")
    service = edited.served()
    found = service.extractor.extract

    def slow(extractor: object, text: str) -> object:
        with file_of(service.database).write() as tx:
            tx.execute("UPDATE short_term_memories SET text = 'user: lion' WHERE id = 1")
        return found(text)

    with monkeypatch.context() as patch:
        patch.setattr(JiebaKeywords, "extract", slow)
        service.find_keywords()
    assert edited.top("giraffe") == []
    assert edited.top("lions") == ["user: lion"]


@pytest.mark.parametrize("bytes_of_text", ["x'636166e9'", "x'7a656272610041'"])
def test_a_text_that_is_no_text_does_not_keep_others_from_their_keywords(
    edited: Edited, bytes_of_text: str
) -> None:
    edited.by_hand(
        f"INSERT INTO short_term_memories (conversation_id, text) VALUES (1, CAST({bytes_of_text} AS TEXT))",
        "INSERT INTO short_term_memories (conversation_id, text, said_at)"
        " VALUES (1, 'user: a giraffe', '2026-03-14T09:00:00.000Z')",
    )
    assert edited.top("giraffe") == ["user: a giraffe"]
    assert (
        problems(file_of(edited.served().database))
        == ["row 3 of short_term_memories: text is not UTF-8"][: "e9" in bytes_of_text]
    )


@pytest.mark.parametrize("said", ["0000-05-05T00:00:00.000Z", "-001-05-05T00:00:00.000Z"])
def test_a_moment_before_all_years_is_refused(edited: Edited, said: str) -> None:
    assert RULE in edited.by_hand(
        f"UPDATE short_term_memories SET said_at = '{said}' WHERE id = 2", fails=True
    )
    assert edited.top("zebra") == ["user: the zebra escaped"]
