"""undo without a number: the newest change, whatever its kind, or why that one stays."""

import os
import re
from pathlib import Path

from tests import terminal as typing
from tests.cli.conftest import HARBOUR, RELEASE, Terminal


def edges(terminal: Terminal) -> list[str]:
    (shown,) = terminal("show", "m1", "--json").json["things"]
    return [edge["relation"] for edge in shown["edges"]]


def test_an_edge_is_taken_back_and_one_that_ended_holds_again(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", RELEASE)
    terminal("connect", "1", "solves", "2")
    terminal("connect", "1", "solves", "2", "--end")
    listed = [(row[0], row[2], row[3], row[4], row[5]) for row in terminal("log").rows]
    assert listed[:2] == [
        ("x1", "", "disconnected", "m1", f"solves m2: {RELEASE}"),
        ("e1", "terminal", "connected", "m1", f"solves m2: {RELEASE}"),
    ]
    assert "has been changed again since: x1. Nothing" in terminal("undo", "e1", code=1).err
    assert terminal("undo", "--yes").rows[0][0] == "x1"
    assert edges(terminal) == ["solves"]
    assert terminal("undo", "--yes").rows[0][0] == "e1"
    assert edges(terminal) == []
    assert [row[3] for row in terminal("log").rows] == ["stored", "stored"]


def test_an_edge_that_was_made_anew_keeps_the_one_before_it_ended(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", RELEASE)
    terminal("connect", "1", "solves", "2")
    terminal("connect", "1", "solves", "2", "--end")
    terminal("connect", "1", "solves", "2")
    assert "has been changed again since: e2. Nothing" in terminal("undo", "x1", code=1).err
    terminal("undo", "x1", "e2", "e1")
    assert edges(terminal) == []


def test_an_edge_that_is_stored_with_its_memory_is_no_change_of_its_own(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", "The harbour opens at one now", "--supersedes", "1")
    assert [row[3:5] for row in terminal("log").rows] == [["stored", "m2"], ["stored", "m1"]]


def test_where_the_newest_change_stays_nothing_older_is_undone(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", RELEASE)
    terminal("forget", "2")
    terminal("fact", "port", "5433")
    refused = terminal("undo", "--yes", code=1)
    assert refused.out == ""
    assert re.fullmatch(
        r"memory-server: The newest change cannot be undone: f:project/port, stored by terminal at \S+ \S+\. "
        r"`memory-server forget f:project/port` deletes it\. "
        r"`memory-server undo d1` undoes the last one that can be\.\n",
        refused.err,
    )
    assert terminal("undo", "--yes", "--json", code=1).json["error"] in refused.err
    assert [row[0] for row in terminal("list").rows] == ["m1"]
    terminal("undo", "d1")
    assert "f:project/port, stored" in terminal("undo", "--yes", code=1).err


def test_a_project_that_was_joined_or_renamed_is_told(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", RELEASE, "--project", "shop")
    terminal("edit", "1", "--importance", "9")
    terminal("projects", "rename", "shop", "store")
    renamed = terminal("undo", "--yes", code=1).err
    assert "projects rename shop → store, renamed by terminal" in renamed
    assert "`memory-server projects rename` gives the old name back." in renamed
    terminal("projects", "join", "store", "ledger")
    assert (
        "`memory-server restore` brings back a backup from before." in terminal("undo", "--yes", code=1).err
    )
    assert [row[3:6] for row in terminal("log").rows][:2] == [
        ["joined", "i2", "projects join store → ledger: memories 1, facts 0, turns 0"],
        ["renamed", "i1", "projects rename shop → store"],
    ]
    assert "There is no change i2" in terminal("undo", "i2", code=1).err


def test_an_import_that_was_undone_hides_nothing(terminal: Terminal, tmp_path: Path) -> None:
    terminal("add", HARBOUR)
    terminal("edit", "1", "--importance", "9")
    notes = tmp_path / "notes.md"
    notes.write_text(f"- {RELEASE}\n")
    terminal("import", str(notes))
    assert terminal("undo", "--yes").rows[0][0] == "i1"
    assert terminal("undo", "--yes").rows[0][0] == "c1"


def test_a_rule_is_as_it_was_switched(terminal: Terminal) -> None:
    def typed(*words: str, code: int = 0) -> str:
        more = ("--db", terminal.servers.given, "--embedder", "hashing")
        env = {**os.environ, **terminal.servers.env}
        printed, ended = typing.typed(*words, *more, env=env, folder=terminal.folder)
        assert ended == code, printed
        return printed

    def state() -> str:
        (rule,) = terminal("rules", "--json").json["rules"]
        return str(rule["state"])

    typed("rules", "add", "never push to main")
    before = state()
    typed("rules", "off", "never push to main")
    assert state() != before
    refused = terminal("undo", "--yes", code=1).err
    assert "Only a person" in refused or "only a person" in refused
    typed("undo", "--yes")
    assert state() == before
    assert "memory-server forget 'w:never push to main'" in typed("undo", "--yes", code=1)
