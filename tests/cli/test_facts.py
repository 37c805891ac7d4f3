"""facts, fact, triggers, stats, recall: what else a person asks of the file."""

from pathlib import Path

import pytest

from memory_server import app
from memory_server.domain.caller import Caller, Person
from memory_server.domain.fact import FactDraft, Scope
from memory_server.project import NONE
from memory_server.settings import Settings
from tests.cli.conftest import HARBOUR, ORCHID, Terminal, fill
from tests.conftest import Servers, call

pytestmark = pytest.mark.anyio


async def test_facts_are_read_and_written_as_the_tools_do(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    async with server(cwd=ledger) as client:
        assert [(row[0], row[1], row[3]) for row in terminal("facts").rows] == [
            ("project ledger", "current.task", "move the ledger"), ("global", "editor", '{"name": "vim"}'),
        ]  # fmt: skip
        assert [row[1] for row in terminal("facts", "cur*").rows] == ["current.task"]
        assert terminal("fact", "current.task").out == "move the ledger\n"
        assert (
            terminal("fact", "db.port", "5433", "--tag", "db").out
            == "db.port written: project ledger, version 1.\n"
        )
        assert terminal("fact", "db.port", "5434").out.endswith("version 2.\n")
        terminal("fact", "zip", "01234", "--text", "--scope", "shared", "--ttl", "60")
        read = (await call(client, "read_memory", key="db.port"))["memory"]
        assert (read["value"], read["updated_by"]) == (5434, "terminal")
        shared = terminal("fact", "zip", "--json").json
        assert (shared["value"], shared["scope"], shared["expires_at"] is None) == ("01234", "shared", False)
    assert "has no value" in terminal("fact", "nothing", code=1).err
    assert "`*`" in terminal("fact", "a*", "1", code=1).err
    assert "no session" in terminal("fact", "k", "v", "--scope", "session", code=2).err
    terminal("fact", "k", "v", "--scope", "session", "--session", "s1")


async def test_triggers_stats_and_recall(server: Servers, terminal: Terminal, ledger: Path) -> None:
    await fill(server, ledger)
    (row,) = terminal("triggers").rows
    assert (row[0], row[1], row[2], row[4]) == ("w:zoo", "ready", "1", "Close the gate.")
    stats = terminal("stats", "--json").json
    assert (stats["memories"], stats["by_type"]) == (3, {"decision": 2, "learning": 1})
    assert stats["by_project"] == {"ledger": 2, "shop": 1}
    assert terminal("stats", "--project", "shop", "--json").json["memories"] == 1
    answer = terminal("recall", "when", "does", "the harbour open", "--kind", "memory")
    assert f"{HARBOUR} [m1]" in answer.out
    assert answer.err == ""
    assert terminal("recall", "兰花 浇水", "--kind", "memory", "--json").json["items"][0]["ref"] == "m2"
    assert ORCHID in terminal("recall", "兰花什么时候浇水", "--meaning").out
    assert [
        row[0] for row in terminal("search", "兰花", "--meaning", "--json").json["embedder"].split(":")[:1]
    ]
    assert "hashing" in terminal("stats").out  # now at the latest


def test_the_owner_sees_what_belongs_to_a_person(terminal: Terminal) -> None:
    """As the log names it: the fact of a person under a key is another one than the owner's."""
    ana = Caller("Claude", None, NONE, Person("ana"))
    services = app.build(Settings(db=terminal.servers.place, embedder="hashing"))
    services.facts.write(FactDraft("port", 8080), Scope.GLOBAL, ana)
    services.close()
    assert "f:global/port" in terminal("log").out
    assert "never written" in terminal("show", "f:global/port", code=1).err
    shown = terminal("show", "f:global/port", "--person", "ana").out
    assert "8080" in shown
    assert "by ana (Claude)" in shown
