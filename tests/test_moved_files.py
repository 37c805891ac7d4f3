"""A database file that goes away, is replaced or emptied under running servers: answers tell, and nothing is lost."""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from mcp import Client

from memory_server.call import deadline
from memory_server.errors import Unavailable
from memory_server.services.facts import FactService
from memory_server.sqlite.database import Database
from tests.conftest import Clock, Servers, Sqlite, call, damage, eventually
from tests.mcp.conftest import refusal

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name == "nt", reason="an open file cannot be moved there"),
]

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "harbour"}),
    ("memory_get", {"ids": [1]}),
    ("memory_store", {"content": "Something new", "type": "error"}),
    ("read_memory", {"key": "a.key"}),
    ("write_memory", {"key": "a.key", "value": 1}),
    ("list_memories", {}),
    ("smart_resume", {}),
    ("memory_stats", {}),
    ("retrieve_memories", {"query": "harbour"}),
    ("list_long_term_memories", {}),
    ("get_memory_stats", {}),
    ("memory_delete", {"id": 1}),
)
"""Reads and writes of every kind."""


async def store(client: Client, text: str) -> None:
    await call(client, "memory_store", content=text, type="learning")


async def texts(client: Client) -> list[str]:
    found = await call(client, "memory_get", ids=[1, 2, 3])
    return [memory["content"] for memory in found["memories"]]


def rescues(folder: Path) -> list[Path]:
    return sorted(folder.glob("memory.db.rescued-*"))


def remove(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


# Gone


@pytest.mark.parametrize("go", [remove, move, remove_folder])
async def test_every_answer_tells_that_the_file_is_gone_and_where_its_content_is(
    server: Servers, sqlite: Sqlite, go: Callable[[Path], None]
) -> None:
    (server.folder / "folder").mkdir()
    server.db = server.folder / "folder" / "memory.db"
    async with server() as client:
        await store(client, "The harbour opens at noon")
        go(server.db)
        told = {await refusal(client, tool, **arguments) for tool, arguments in CALLS}
        (rescued,) = rescues(server.db.parent)
        assert told == {
            f"The database {server.db} was moved or deleted while it was open. "
            f"All that it held is saved in {rescued}. Nothing was written. Tell the user. To go on, the user must "
            f"move the file back to {server.db}, or start memory-server with --db and the path of the file."
        }
        assert not server.db.exists()
        assert len((await client.list_tools()).tools) > 20
    assert not server.db.exists()
    assert sqlite(rescued, "SELECT content FROM memories") == "The harbour opens at noon"
    assert damage(rescued) == []
    assert (rescued.stat().st_mode & 0o077) == 0


async def test_a_file_that_is_moved_back_is_used_again(server: Servers) -> None:
    async with server() as client:
        await store(client, "first")
        move(server.db)
        await refusal(client, "memory_get", ids=[1])
        server.db.with_name("elsewhere.db").rename(server.db)
        await store(client, "A second one")
        assert await texts(client) == ["first", "A second one"]
    assert damage(server.db) == []


async def test_a_rescue_that_is_moved_to_the_place_of_the_file_is_used(server: Servers) -> None:
    async with server() as client:
        await store(client, "first")
        remove(server.db)
        await refusal(client, "memory_get", ids=[1])
        (rescued,) = rescues(server.folder)
        rescued.rename(server.db)
        assert await texts(client) == ["first"]
        await store(client, "A second one")
        assert await texts(client) == ["first", "A second one"]


async def test_two_servers_on_one_file_both_tell_and_both_go_on(server: Servers) -> None:
    async with server(name="one") as one, server(name="two") as two:
        await store(one, "first")
        await store(two, "A second one")
        move(server.db)
        for client in (one, two, one, two):
            assert "was moved or deleted" in await refusal(client, "memory_search", query="first")
            assert "was moved or deleted" in await refusal(
                client, "memory_store", content="lost", type="error"
            )
        assert not server.db.exists()
        for rescued in rescues(server.folder):
            assert damage(rescued) == []
        server.db.with_name("elsewhere.db").rename(server.db)
        await store(one, "third of all")
        assert await texts(two) == ["first", "A second one", "third of all"]
    assert damage(server.db) == []


async def test_a_server_that_starts_while_the_file_is_away_makes_a_new_one_and_the_other_uses_it_after_telling(
    server: Servers,
) -> None:
    async with server(name="one") as one:
        await store(one, "first")
        move(server.db)
        async with server(name="two") as two:
            await store(two, "fresh")
            first = await refusal(one, "memory_get", ids=[1])
            assert first.endswith(
                "The file that is there now was checked: it is sound and is used from now on. Nothing was written. "
                "Then call again."
            )
            assert "All that it held is saved in" in first
            assert await texts(one) == ["fresh"]


def test_a_moved_file_is_rescued_as_it_is_while_the_new_one_is_being_written(
    tmp_path: Path, clock: Clock
) -> None:
    """Both files have one name of a journal: SQLite would roll back that of the new file into the moved one."""

    path = tmp_path / "memory.db"
    database, other = Database(path, clock), Database(path, clock)
    with database.write() as tx:
        tx.execute("CREATE TABLE kept AS SELECT hex(zeroblob(100000)) AS text")
    move(path)
    with other.write() as tx:
        tx.execute("CREATE TABLE kept AS SELECT hex(zeroblob(1000000)) AS text")
    other.close()
    with closing(apsw.Connection(str(path))) as writer:
        writer.pragma("cache_size", 1)
        writer.execute("BEGIN IMMEDIATE; UPDATE kept SET text = replace(text, '0', '1')")
        assert path.with_name("memory.db-journal").read_bytes()[0], "the journal is flushed before the commit"
        with (
            deadline.within(0.1),  # what is there now cannot be looked at before the commit
            pytest.raises(Unavailable, match=r"Another file has taken the place .* is saved in"),
            database.read(),
        ):
            pass
        writer.execute("COMMIT")
    database.close()
    (rescued,) = rescues(tmp_path)
    for whole, text in (
        (rescued, "0" * 200_000),
        (path.with_name("elsewhere.db"), "0" * 200_000),
        (path, "1" * 2_000_000),
    ):
        assert damage(whole) == []
        with closing(apsw.Connection(str(whole))) as connection:
            assert connection.execute("SELECT text FROM kept").get == text


# Replaced


async def test_another_memory_file_in_its_place_is_used_after_one_answer_has_told(
    server: Servers, sqlite: Sqlite
) -> None:
    async with server() as client:
        await store(client, "first")
        place, server.db = server.db, server.folder / "other.db"
        async with server() as other:
            await store(other, "synchronised")
        server.db.replace(place)
        told = await refusal(client, "memory_search", query="first")
        (rescued,) = rescues(server.folder)
        assert told == (
            f"Another file has taken the place of the database {place} while it was open. "
            f"All that it held is saved in {rescued}. "
            "The file that is there now was checked: it is sound and is used from now on. Nothing was written. "
            "Then call again."
        )
        assert await texts(client) == ["synchronised"]
        await store(client, "A second one")
    assert sqlite(place, "SELECT content FROM memories ORDER BY id").splitlines() == [
        "synchronised",
        "A second one",
    ]
    assert sqlite(rescued, "SELECT content FROM memories") == "first"
    assert damage(place) == []


def foreign(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE songs (title); INSERT INTO songs VALUES ('Yesterday')")
    connection.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"Dear Ada, " * 2000)


def broken(path: Path) -> None:
    """The header of SQLite, and nothing behind it that fits."""
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 8176)


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (foreign, " is a SQLite database of another program. Nothing was changed."),
        (garbage, "is not a SQLite database. It was left as it is."),
        (broken, "The file that is there now cannot be used:"),
    ],
)
async def test_what_is_no_memory_file_is_told_in_every_answer_and_left_as_it_is(
    server: Servers, sqlite: Sqlite, write: Callable[[Path], None], why: str
) -> None:
    async with server() as client:
        await store(client, "first")
        shutil.copy(server.db, server.folder / "kept.db")
        new = server.folder / "new"
        write(new)
        content = new.read_bytes()
        new.replace(server.db)
        told = {await refusal(client, tool, **arguments) for tool, arguments in CALLS}
        (rescued,) = rescues(server.folder)
        assert len(told) == 1
        (text,) = told
        assert text.startswith(f"Another file has taken the place of the database {server.db}")
        assert f"All that it held is saved in {rescued}." in text
        assert why in text
        assert server.db.read_bytes() == content
        (server.folder / "kept.db").replace(server.db)
        assert await texts(client) == ["first"]
    assert sqlite(rescued, "SELECT content FROM memories") == "first"


async def test_a_file_that_is_emptied_is_not_filled_anew_and_each_answer_says_what_to_do(
    server: Servers,
) -> None:
    async with server() as client:
        await store(client, "first")
        shutil.copy(server.db, server.folder / "memory.db.backup")
        os.truncate(server.db, 0)
        told = {await refusal(client, tool, **arguments) for tool, arguments in CALLS}
        assert told == {
            f"The database {server.db} was emptied by another program while it was open. "
            "The file that is there now cannot be used: it has 0 bytes. Beside it lie: memory.db.backup. "
            "Nothing was written. Tell the user: copy the file away, then restore a backup. Without one, "
            "`memory-server rescue FILE` saves what can still be read."
        }
        assert server.db.stat().st_size == 0
        shutil.copyfile(server.folder / "memory.db.backup", server.db)
        assert await texts(client) == ["first"]


# Noticed by the background work first


async def test_an_answer_tells_also_when_the_background_work_noticed_it_first(server: Servers) -> None:
    """The work looks every two seconds, and a user may be away for hours."""
    async with server() as client:
        await store(client, "first")
        place, server.db = server.db, server.folder / "other.db"
        async with server() as other:
            await store(other, "synchronised")
        server.db.replace(place)

        async def noticed() -> bool:
            return bool(rescues(server.folder))

        await eventually(noticed, "the background work notices")
        assert "Another file has taken the place" in await refusal(client, "memory_search", query="first")
        assert await texts(client) == ["synchronised"]


def test_a_call_hears_once_of_what_the_background_work_noticed(tmp_path: Path, clock: Clock) -> None:
    database, other = Database(tmp_path / "memory.db", clock), Database(tmp_path / "other.db", clock)
    database.open()
    other.open()
    other.close()
    (tmp_path / "other.db").replace(tmp_path / "memory.db")
    with pytest.raises(Unavailable):
        FactService(database).remove_expired()
    FactService(database).remove_expired()
    with deadline.within(20):
        with pytest.raises(Unavailable, match="Another file has taken the place"), database.read():
            pass
        with database.read() as tx:
            assert tx.value("SELECT count(*) FROM memories") == 0
    database.close()


def test_a_call_hears_of_a_file_that_came_after_the_background_work_had_missed_the_old_one(
    tmp_path: Path, clock: Clock
) -> None:
    """As a sync client does: it deletes first, then writes."""
    database, other = Database(tmp_path / "memory.db", clock), Database(tmp_path / "other.db", clock)
    database.open()
    other.open()
    other.close()
    (tmp_path / "memory.db").unlink()
    with pytest.raises(Unavailable):
        FactService(database).remove_expired()
    (tmp_path / "other.db").replace(tmp_path / "memory.db")
    FactService(database).remove_expired()
    with deadline.within(20):
        with (
            pytest.raises(
                Unavailable,
                match=r"moved or deleted.*saved in.*is sound and is used from now on\. Nothing was written\.$",
            ),
            database.write(),
        ):
            pass
        with database.read() as tx:
            assert tx.value("SELECT count(*) FROM memories") == 0
    database.close()
