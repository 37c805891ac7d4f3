"""`connect` and the lists of what is no memory."""

from pathlib import Path

import pytest

from tests.cli.conftest import HARBOUR, ORCHID, Terminal, fill
from tests.conftest import Servers

pytestmark = pytest.mark.anyio


def test_an_edge_is_made_shown_and_ended(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", ORCHID)
    assert terminal("connect", "1", "solves", "m2").out == "m1 solves m2: connected.\n"
    (edge,) = terminal("show", "1", "--json").json["things"][0]["edges"]
    assert (edge["source"], edge["relation"], edge["target"]) == (1, "solves", 2)
    assert terminal("connect", "1", "solves", "2", "--end").out == "m1 solves m2 holds no longer.\n"
    assert terminal("show", "1", "--json").json["things"][0]["edges"] == []


def test_who_means_an_assistant_is_told_the_command(terminal: Terminal) -> None:
    assert "memory-server install claude" in terminal("connect", "claude", code=2).err
    assert "'heron' is not an id" in terminal("connect", "heron", "solves", "2", code=2).err
    assert "Write the relation" in terminal("connect", "1", code=2).err


async def test_turns_and_short_term_memories_are_listed(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    turns, short_term = terminal("list", "turns"), terminal("list", "short-term")
    assert [row[0] for row in turns.rows] == ["t1"]
    assert [row[0] for row in short_term.rows] == ["s1"]
    assert [thing["kind"] for thing in terminal("list", "turns", "--json").json["things"]] == ["turn"]
    assert terminal("list", "turns", "--offset", "1").out == ""
    assert "Only memories have a type" in terminal("list", "turns", "--type", "error", code=2).err


def test_what_changes_something_prints_it_as_json(terminal: Terminal) -> None:
    added = terminal("add", HARBOUR, "--json").json
    assert (added["memory"]["id"], added["merged"]) == (1, False)
    assert terminal("forget", "1", "--dry-run", "--json").json["done"] is False
    gone = terminal("forget", "1", "--json").json
    assert (gone["ids"], gone["done"]) == (["m1"], True)
    assert gone["undo_until"]
    assert [change["handle"] for change in terminal("undo", "--yes", "--json").json["changes"]] == ["m1"]
