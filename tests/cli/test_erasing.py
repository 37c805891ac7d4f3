"""What a command erased is in no byte of the file, of a backup or of a copy at the moment it returns."""

import subprocess
from pathlib import Path

import pytest

from memory_server.call import deadline
from memory_server.cli.main import main
from tests.cli.conftest import Terminal
from tests.conftest import Holder, Servers, Sqlite, call, damage

pytestmark = pytest.mark.anyio

MARK = "qzforgetmeq"
"""Stands in every text of the thing that is purged; nothing else has it."""

STAYS = "The harbour opens at noon"


def traces(folder: Path) -> list[str]:
    """The files of a folder whose bytes hold the mark. Another program reads them."""
    return [
        path.name
        for path in sorted(folder.glob("*.db*"))
        if MARK.encode() in subprocess.run(["cat", path], capture_output=True, check=True).stdout
    ]


async def fill(server: Servers, ledger: Path, handle: str) -> None:
    """One marked thing of the kind that the handle names, with earlier texts, and one memory that stays."""
    async with server(cwd=ledger) as client:
        await call(client, "memory_store", content=STAYS, type="learning")
        match handle:
            case "m2":
                stored = {"content": f"{MARK} 兰花 are white", "type": "learning", "tags": [MARK]}
                await call(client, "memory_store", **stored)
                await call(client, "memory_update", id=2, content=f"Orchids are blue, said {MARK}")
                await call(client, "graph_connect", sourceId=1, targetId=2, relation="solves")
            case "t1":
                await call(client, "register_memory", message=f"We spoke of {MARK}", summary=f"On {MARK}")
            case "s1":
                said = [{"role": "user", "content": f"{MARK} escaped"}]
                await call(client, "add_short_term_memory", messages=said, conversation_id=f"talk of {MARK}")
            case "w:zoo":
                stored = {"name": "zoo", "prompt": MARK, "trigger": f"match_keys(messages, ['{MARK}'])"}
                await call(client, "add_long_term_memory", **stored)
            case _:
                for value in (f"{MARK} one", f"{MARK} two"):
                    await call(client, "write_memory", key=f"{MARK}.key", value=value)


@pytest.mark.parametrize("hidden", [False, True], ids=["at once", "deleted before"])
@pytest.mark.parametrize("handle", ["m2", "t1", "s1", "w:zoo", f"f:{MARK}.key"])
async def test_what_is_purged_is_gone_when_the_command_returns(
    server: Servers, terminal: Terminal, ledger: Path, tmp_path: Path, handle: str, hidden: bool
) -> None:
    await fill(server, ledger, handle)
    copy = server.db.with_name("memory.db.before-0027")
    copy.write_bytes(server.db.read_bytes())
    assert traces(tmp_path) == ["memory.db", copy.name]
    if hidden:
        terminal("forget", handle)
    assert terminal("forget", handle, "--purge", "--yes").out.endswith(f"{handle} erased for good.\n")
    assert traces(tmp_path) == []
    terminal("backup", str(tmp_path / "backup.db"))
    assert traces(tmp_path) == []
    assert [row[-1] for row in terminal("list").rows] == [STAYS]
    assert terminal("doctor", "--json").json["report"]["deleted"] == "all overwritten"
    assert damage(server.db) == []


@pytest.mark.parametrize("command", ["backup", "compact"])
def test_what_was_deleted_by_hand_is_erased_before_a_backup_and_a_compaction(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite, command: str
) -> None:
    db = terminal.servers.db
    terminal("fact", "current.task", f"move {MARK}")
    terminal("add", f"{MARK} opens at noon")
    sqlite(db, *(f"DELETE FROM {table}" for table in ("facts", "fact_history", "memories")), "VACUUM")
    assert traces(tmp_path) == ["memory.db"], "the word indexes keep what they held"
    assert "`memory-server compact`" in terminal("doctor", "--json").json["report"]["deleted"]
    terminal(command, *([str(tmp_path / "copy.db")] if command == "backup" else []))
    assert traces(tmp_path) == []
    assert damage(db) == []


def test_a_backup_is_written_and_tells_what_it_holds_where_the_bytes_cannot_be_overwritten(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite, capsys: pytest.CaptureFixture[str]
) -> None:
    db, target = terminal.servers.db, tmp_path / "copy.db"
    terminal("add", f"{MARK} opens at noon")
    sqlite(db, "DELETE FROM memories")
    with Holder(db, "SELECT count(*) FROM memories"), deadline.within(0.5):
        assert main(["backup", str(target), "--db", str(db)]) == 0
    assert "are left in the database and in this backup: Another process" in capsys.readouterr().err
    assert traces(tmp_path) == ["copy.db", "memory.db"]


def test_a_purge_that_purged_nothing_does_not_wait_to_overwrite(
    terminal: Terminal, sqlite: Sqlite, capsys: pytest.CaptureFixture[str]
) -> None:
    db = terminal.servers.db
    terminal("add", f"{MARK} opens at noon")
    terminal("add", STAYS)
    sqlite(db, "DELETE FROM memories WHERE id = 1")
    with Holder(db, "SELECT count(*) FROM memories"), deadline.within(0.5):
        assert main(["forget", "2", "--purge", "--yes", "--db", str(db)]) == 1
    assert "what was purged" not in capsys.readouterr().err


@pytest.mark.parametrize("handle", ["m2", "t1", "s1", "w:zoo", f"f:{MARK}.key"])
async def test_a_purge_names_the_backups_that_have_the_thing_and_no_others(
    server: Servers, terminal: Terminal, ledger: Path, tmp_path: Path, handle: str
) -> None:
    folder = server.db.parent / "backups"
    terminal("add", STAYS, "--type", "learning")
    terminal("backup", f"{folder}/")
    (early,) = folder.iterdir()
    early = early.rename(folder / "memory-daily-20260314.db")
    terminal("--db", str(tmp_path / "other" / "memory.db"), "add", STAYS, "--type", "learning")
    await fill(server, ledger, handle)
    for name in ("memory-daily-20260315.db", "mine.db"):
        terminal("backup", str(folder / name))
    terminal("backup")
    terminal("forget", handle)
    terminal("backup", str(folder / "of the trash.db"))
    (folder / "notes.txt").write_text(MARK)
    held = traces(folder)
    assert (len(held), early.name in held) == (4, False)

    assert "; none of the daily" not in terminal("doctor").out
    purged = terminal("forget", handle, "--purge", "--yes")
    assert purged.err.splitlines()[-5:] == [
        "These files may still hold it. Delete them if it must be gone everywhere:",
        *(str(folder / name) for name in held),
    ]
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".db") == sorted(
        [early.name, *held]
    )
