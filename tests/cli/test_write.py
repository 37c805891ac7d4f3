"""add, forget, undo, log: what a person changes, and who did what."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import HARBOUR, ORCHID, Terminal, fill
from tests.conftest import Servers, Sqlite, call, damage

pytestmark = pytest.mark.anyio


def contents(terminal: Terminal) -> list[str]:
    return [row[-1] for row in terminal("list").rows]


def test_add_stores_as_the_tool_does(terminal: Terminal, sqlite: Sqlite) -> None:
    added = terminal("add", HARBOUR, "--tag", "sea", "--type", "learning", "--importance", "7")
    assert added.out == "m1 stored in ledger.\n"
    assert (
        sqlite(
            terminal.servers.db, "SELECT content, type, project, tags, importance, created_by FROM memories"
        )
        == f'{HARBOUR}|learning|ledger|["sea"]|7|terminal'
    )
    assert "Merged into m1" in terminal("add", "The harbour opens at noon.", "--type", "learning").out
    assert terminal("add", "-", "--project", "", given="of\nthe user\n").out == "m2 stored.\n"
    assert (
        sqlite(terminal.servers.db, "SELECT content, project FROM memories WHERE id = 2") == "of\nthe user|"
    )
    assert terminal("add", "one", "two", "--supersedes", "m1", "--occurred", "2024-05-06").code == 0
    assert sqlite(terminal.servers.db, "SELECT occurred_at FROM memories WHERE id = 3").startswith(
        "2024-05-06"
    )
    assert terminal("show", "1", "--json").json["things"][0]["memory"]["superseded_by"] == 3


def test_one_memory_supersedes_several_or_none(terminal: Terminal, sqlite: Sqlite) -> None:
    terminal("add", HARBOUR)
    terminal("add", ORCHID)
    both = ("--supersedes", "1", "--supersedes", "m2")
    assert "No memory 9" in terminal("add", "Both are gone", *both, "--supersedes", "9", code=1).err
    assert sqlite(terminal.servers.db, "SELECT count(*) FROM edges") == "0"
    assert terminal("add", "--supersedes", "2", "7", "quays", "opened").out == "m3 stored in ledger.\n"
    terminal("add", "Neither harbour nor orchid is there now", *both, "--supersedes", "1")
    edges = "SELECT relation, target_id FROM edges WHERE source_id = 4 ORDER BY target_id"
    assert sqlite(terminal.servers.db, edges) == "supersedes|1\nsupersedes|2"


def test_an_edit_that_changes_nothing_says_so(terminal: Terminal) -> None:
    terminal("add", HARBOUR, "--tag", "sea")
    same = ("edit", "1", "--text", HARBOUR, "--tag", "sea", "--project", "ledger")
    assert terminal(*same).out == "m1 is unchanged.\n"
    assert terminal("log", "--json").json["changes"][0]["action"] == "stored"
    assert "m1 changed" in terminal(*same, "--importance", "9").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((" ",), "no visible character"),
        (("x", "--importance", "11"), "importance"),
        (("x", "--type", "idea"), "idea"),
        (("x", "--supersedes", "t1"), "t1 is not a memory"),
        (("x", "--supersedes", "2", "4"), "Write --supersedes 2 --supersedes 4."),
        (("--tag", "a", "x", "--supersedes=m2", "m4", "5"), "--supersedes m2 --supersedes m4 --supersedes 5"),
        (("x", "--tag", "t" * 51), "tag"),
    ],
)
def test_what_the_tool_would_refuse_is_refused(
    terminal: Terminal, arguments: tuple[str, ...], message: str
) -> None:
    assert message in terminal("add", *arguments, code=2).err


def test_a_secret_is_refused_unless_it_is_allowed(terminal: Terminal) -> None:
    secret = "ghp_" + "x7Kq9mZ2" * 5
    assert "--allow-secrets" in terminal("add", f"the token is {secret}", code=1).err
    terminal("add", f"the token is {secret}", "--allow-secrets")


async def test_what_is_forgotten_comes_back(server: Servers, terminal: Terminal, ledger: Path) -> None:
    await fill(server, ledger)
    things = ("1", "t1", "s1", "f:current.task", "w:zoo")
    dry = terminal("forget", *things, "--dry-run")
    assert [row[0] for row in dry.rows[:-1]] == ["m1", "t1", "s1", "f:current.task", "w:zoo"]
    assert HARBOUR in contents(terminal)
    gone = terminal("forget", *things)
    assert len(gone.out.splitlines()) == 5
    for again in (
        ["show", "1"],
        ["forget", "1"],
        ["edit", "1", "--text", "x"],
        ["connect", "2", "solves", "1"],
    ):
        told = "m1 is deleted. `memory-server undo d1` restores it."
        assert told in terminal(*again, code=1).err
    assert "t1 is deleted. `memory-server undo d2` restores it." in terminal("show", "t1", code=1).err
    assert "No memory 41" in terminal("show", "41", code=1).err
    assert HARBOUR not in contents(terminal)
    changes = terminal("log", "--undoable", "--json").json["changes"]
    assert {each["handle"] for each in changes} == {"f:project/current.task", "w:zoo", "s1", "t1", "m1"}
    assert {each["by"] for each in changes[:5]} == {"terminal"}
    undone = terminal("undo", "--last", "5", "--yes")
    assert undone.err == "Undid 5 changes.\n"
    assert HARBOUR in contents(terminal)
    terminal("show", *things)
    assert [edge["relation"] for edge in terminal("show", "1", "--json").json["things"][0]["edges"]] == [
        "solves"
    ]
    assert damage(server.db) == []


async def test_what_is_missing_does_not_keep_the_others(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    done = terminal("forget", "1", "41", "2", code=1)
    assert done.out == "m1 deleted.\nm2 deleted.\n"
    assert "No memory 41." in done.err
    assert terminal("undo", "--last", "1", "--yes").out
    answer = terminal("forget", "2", "41", "--json", code=1).json
    assert (answer["ids"], answer["missing"], answer["done"]) == (["m2"], ["m41"], True)
    refused = terminal("forget", "41", "--json", code=1).json
    assert refused["error"].startswith("No memory 41. `memory-server list`")


async def test_purging_asks_and_never_without_a_terminal(
    server: Servers, terminal: Terminal, ledger: Path, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    terminal("edit", "1", "--text", "The harbour opens at one")
    refused = terminal("forget", "1", "--purge", code=2)
    assert "--yes" in refused.err
    assert len(contents(terminal)) == 3
    terminal("forget", "1", "--purge", "--yes")
    assert "There is no change c1" in terminal("undo", "c1", code=1).err
    assert "There is no change d1" in terminal("undo", "d1", code=1).err
    for table in ("memories", "trash", "changes", "memory_history"):
        assert sqlite(server.db, f"SELECT count(*) FROM {table} WHERE CAST({table}.id AS TEXT) = '1'") == "0"


async def test_edits_and_merges_of_an_assistant_are_undone(
    server: Servers, terminal: Terminal, ledger: Path, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    async with server(cwd=ledger, name="Cursor") as client:
        await call(
            client, "memory_update", id=1, content="The harbour opens at one", importance=9, tags=["x"]
        )
        merged = await call(client, "memory_store", content=ORCHID + "。", type="decision", tags=["flower"])
        assert merged["consolidated"]
        await call(client, "memory_update", id=1, type="error")
        await call(client, "write_memory", key="editor", value="emacs", scope="global")
        await call(client, "update_long_term_memory", name="zoo", prompt="Open the gate.")
        listed = terminal("log", "--by", "cursor").rows
        assert [(row[0], row[3], row[4]) for row in listed] == [
            ("c4", "edited", "w:zoo"), ("h3", "edited", "f:global/editor"), ("c3", "edited type", "m1"),
            ("c2", "merged", "m2"), ("c1", "edited text, tags, importance", "m1"),
        ]  # fmt: skip
        later = terminal("undo", "c1", code=1).err
        assert "c3" in later
        assert "c3..c7" in later
        assert "is not the number of a change" in terminal("undo", "z1", code=2).err
        dry = terminal("undo", "c1..c4", "h3", "--dry-run")
        assert [row[0] for row in dry.rows] == ["c4", "h3", "c3", "c2", "c1"]
        terminal("undo", "c1..c4", "h3")
        first, second = (await call(client, "memory_get", ids=[1, 2]))["memories"]
        assert (first["content"], first["type"], first["importance"], first["tags"]) == (
            HARBOUR,
            "learning",
            5,
            ["sea"],
        )
        assert (second["content"], second["importance"], second["tags"]) == (ORCHID, 8, [])
        assert second.get("earlier", []) == []
        (parted,) = (await call(client, "memory_get", ids=[4]))["memories"]
        assert (parted["content"], parted["tags"], parted["created_by"]) == (
            ORCHID + "。",
            ["flower"],
            "Cursor",
        )
        assert (await call(client, "read_memory", key="editor"))["memory"]["value"] == {"name": "vim"}
        assert (await call(client, "get_memory_context", name="zoo"))["prompt"] == "Close the gate."
    assert sqlite(server.db, "SELECT count(*) FROM changes") == "0"
    assert damage(server.db) == []


async def test_all_or_none_is_undone(server: Servers, terminal: Terminal, ledger: Path) -> None:
    await fill(server, ledger)
    terminal("forget", "1", "2")
    assert terminal("undo", "d1", "d7", code=1).err.startswith("memory-server: There is no change d7")
    assert len(contents(terminal)) == 1
    assert "There is no terminal to ask on" in terminal("undo", code=2).err
    terminal("undo", "--yes")
    assert ORCHID in contents(terminal)
    assert HARBOUR not in contents(terminal)
    terminal("undo", "--since", "1h", "--by", "terminal", "--yes")
    assert len(contents(terminal)) == 3
    assert "`memory-server forget w:zoo` deletes it" in terminal("undo", "--yes", code=1).err


async def test_a_project_that_was_renamed_since_is_found_again(
    server: Servers, terminal: Terminal, ledger: Path, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    terminal("edit", "3", "--project", "ledger")
    assert "and move: memories" in terminal("projects", "join", "shop", "ledger", "--dry-run").out
    terminal("projects", "rename", "shop", "store")
    terminal("undo", "c1")
    assert sqlite(server.db, "SELECT project FROM memories WHERE id = 3") == "store"


async def test_a_change_that_is_deleted_comes_back_with_its_memory(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    terminal("edit", "1", "--text", "The harbour opens at one")
    terminal("forget", "1")
    assert [row[0] for row in terminal("log").rows][:2] == ["d1", "c1"]
    assert "has been changed again since: d1. Nothing" in terminal("undo", "c1", code=1).err
    terminal("undo", "d1")
    terminal("undo", "c1")
    assert HARBOUR in contents(terminal)


def test_undoing_all_since_a_moment_gives_the_text_that_was_stored_and_not_the_edit_of_it(
    terminal: Terminal, sqlite: Sqlite
) -> None:
    terminal("add", HARBOUR)
    terminal("edit", "1", "--text", "The harbour never opens")
    terminal("forget", "1")
    for action in (("fact", "port", "5433"), ("forget", "f:port"), ("fact", "port", "5434")):
        terminal(*action)
    assert "`port` was written again after h2" in terminal("undo", "h2", code=1).err
    assert terminal("undo", "--since", "1d", "--yes").err == "Undid 3 changes.\n"
    assert contents(terminal) == [HARBOUR]
    assert terminal("fact", "port").out == "5433\n"
    assert terminal("undo", "--since", "1d", "--yes", "--by", "nobody").out == "There is nothing to undo.\n"


def test_what_cannot_come_back_because_a_hand_has_taken_its_id_stays_in_the_trash(
    terminal: Terminal, sqlite: Sqlite
) -> None:
    db = terminal.servers.db
    terminal("add", HARBOUR)
    terminal("forget", "1")
    sqlite(db, "INSERT INTO memories (id, content, type) VALUES (1, 'by hand', 'error')")
    refused = terminal("undo", "d1", code=1).err
    assert "A row of the table memories has taken the place of d1" in refused
    assert sqlite(db, "SELECT content FROM memories") == "by hand"
    sqlite(db, "DELETE FROM memories")
    terminal("undo", "d1")
    assert contents(terminal) == [HARBOUR]


def test_an_edit_says_what_it_changed(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", "The quay is closed in May")
    terminal("edit", "1", "--text", "The harbour opens at one")
    terminal("edit", "1", "--tag", "sea", "--importance", "8")
    assert [row[3] for row in terminal("log").rows][:2] == ["edited tags, importance", "edited text"]
    shown = terminal("show", "1").out
    assert "edited tags, importance by terminal  (undo c2)" in shown
    assert "edited text by terminal  (undo c1)" in shown
    changes = terminal("log", "--json").json["changes"]
    assert [change.get("fields") for change in changes] == [["tags", "importance"], ["text"], None, None]
    terminal("undo", "c2")
    assert terminal("log").rows[0][3] == "edited text"


def test_who_sees_a_part_is_told_that_there_is_more(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", "The quay is closed in May")
    for command in ("log", "list"):
        part = terminal(command, "--limit", "1")
        assert len(part.rows) == 1
        assert part.err == "There are more: --limit 5 shows more of them.\n"
        assert terminal(command, "--limit", "2").err == ""


def test_the_log_tells_who_did_what(terminal: Terminal, sqlite: Sqlite) -> None:
    terminal("add", HARBOUR)
    sqlite(terminal.servers.db, "INSERT INTO memories (content, type) VALUES ('by hand', 'error')")
    terminal("fact", "port", "5433")
    terminal("fact", "port", "5434")
    assert [row[2:] for row in terminal("log").rows] == [
        ["terminal", "edited", "f:project/port", "5434"],
        ["terminal", "stored", "f:project/port", "5433"],
        ["hand", "stored", "m2", "by hand"],
        ["terminal", "stored", "m1", HARBOUR],
    ]
    assert [row[4] for row in terminal("log", "--by", "hand").rows] == ["m2"]
    assert [row[4] for row in terminal("log", "--project", "").rows] == ["m2"]
    terminal("undo", "h2")
    assert terminal("fact", "port").out == "5433\n"


def test_lines_of_an_imported_text_stay_apart_where_a_session_starts_and_in_a_recall(
    terminal: Terminal,
) -> None:
    (terminal.folder / "notes.txt").write_text("我每天早上喝美式\n组里周会改到周四\n", encoding="utf-8")
    terminal("import", "notes.txt")
    event = {
        "session_id": "s",
        "cwd": str(terminal.folder),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    said = "我每天早上喝美式；组里周会改到周四"
    assert said in terminal("hook", "SessionStart", given=json.dumps(event)).out
    assert said in terminal("recall", "周会改到哪天").out
