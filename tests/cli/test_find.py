"""search, list, show: what a person finds, in a pipe and as JSON."""

from pathlib import Path

import pytest

from tests.cli.conftest import HARBOUR, ORCHID, RELEASE, Terminal, fill
from tests.conftest import Servers, Sqlite, call

pytestmark = pytest.mark.anyio


async def test_search_and_list_while_a_server_holds_the_file(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    async with server(cwd=ledger) as client:
        best = terminal("search", "when does the harbour open").rows[0]
        assert (best[0], best[3], best[4], best[5]) == ("m1", "learning", "ledger", HARBOUR)
        assert terminal("search", "兰花").rows[0][0] == "m2"
        listed = terminal("list")
        assert [(row[0], row[4]) for row in listed.rows] == [("m3", RELEASE), ("m2", ORCHID), ("m1", HARBOUR)]
        assert [row[0] for row in terminal("list", "--type", "decision", "--project", "shop").rows] == ["m3"]
        assert [row[0] for row in terminal("list", "--tag", "SEA").rows] == ["m1"]
        assert terminal("list", "--limit", "1", "--offset", "1").rows[0][0] == "m2"
        assert terminal("list", "--until", "7d").out == ""
        assert len(terminal("list", "--since", "1h").rows) == 3
        in_words = terminal("list", "--since", "yesterday", "--until", "next week")
        assert len(in_words.rows) == 3
        assert "'yesterday' was read as 20" in in_words.err
        assert "shop" in terminal("list", "--project", "shpo").err
        found = (await call(client, "memory_get", ids=[1]))["memories"][0]
        assert found["access_count"] >= 1


async def test_hits_stand_in_the_order_of_the_figure_beside_them(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    """Of 14 notes that restate each other; the tool for models keeps the order of the ranking."""
    async with server(cwd=ledger) as client:
        for number in range(14):
            text = f"Lighthouse {number} keeps {'a lamp ' * number}"
            await call(client, "memory_store", content=text, type="error", importance=9 if number % 3 else 1)
        newer = "The lighthouse keeper is Bob, since Ann left"
        await call(client, "memory_store", content="The lighthouse keeper is Ann", type="learning")
        await call(client, "memory_store", content=newer, type="learning", supersedes=15)
        question = "who keeps the lighthouse lamp: Ann?"
        ranked = (await call(client, "memory_search", query=question, limit=20))["results"]
    results = terminal("search", question, "-n", "20", "--json").json["results"]
    scores = [hit["score"] for hit in results if hit["memory"]["superseded_by"] is None]
    assert scores == sorted(scores, reverse=True)
    rows = terminal("search", question, "-n", "20").rows
    ids = [row[0] for row in rows]
    # Vectors that come between two searches may move a figure, so each answer is in the order of its own.
    assert sorted(ids) == sorted(f"m{hit['memory']['id']}" for hit in results)
    figures = [row[1] for row in rows if row[0] != "m15"]
    assert figures == sorted(figures, reverse=True)
    assert rows[ids.index("m15")][1] == ""
    assert ids.index("m16") < ids.index("m15")
    of_ranking = [hit["score"] for hit in ranked]
    assert of_ranking != sorted(of_ranking, reverse=True)


async def test_a_search_that_finds_nothing_says_so_and_succeeds(
    server: Servers, terminal: Terminal, ledger: Path
) -> None:
    await fill(server, ledger)
    nothing = terminal("search", "xylophone", "--type", "error")
    assert (nothing.out, nothing.err) == ("", "No memories found.\n")
    assert terminal("search", "xylophone", "--type", "error", "--json").json["results"] == []


async def test_show_tells_the_whole_story_of_each_kind(
    server: Servers, terminal: Terminal, ledger: Path, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    async with server(cwd=ledger, name="Cursor") as client:
        await call(client, "memory_update", id=1, content="The harbour opens at one")
        await call(client, "write_memory", key="current.task", value="rest")
    shown = terminal("show", "m1").out
    for line in (
        "m1  learning", "The harbour opens at one", "tags        sea", "Earlier texts\n  " + HARBOUR,
        f"Edges\n  m2 solves this: {ORCHID}", "edited text by Cursor  (undo c1)", "stored by Claude",
    ):  # fmt: skip
        assert line in shown, line
    (fact, turn, said, woken) = terminal("show", "f:current.task", "t1", "[s1]", "w:zoo", "--json").json[
        "things"
    ]
    assert (fact["fact"]["value"], [step["value"] for step in fact["history"]]) == (
        "rest", ["rest", "move the ledger"],
    )  # fmt: skip
    assert (turn["summary"], turn["message"]) == ("On the sea", "We spoke of lighthouses")
    assert "the zebra escaped" in said["text"]
    assert woken["trigger"]["fired_count"] == 1
    assert woken["wakes"][0]["client"] == "Claude"
    assert "zebra" in woken["wakes"][0]["why"]
    assert "Wakes\n" in terminal("show", "w:zoo").out
    assert terminal("show", "f:global/editor").out.startswith('editor  global\n\n{"name": "vim"}\n')
    sqlite(server.db, "UPDATE memories SET content = 'a' || char(27) || '[31m b' WHERE id = 3")
    assert "\x1b" not in terminal("show", "3").out + terminal("list").out


@pytest.mark.parametrize("id", ["41", "t41", "s41", "f:nothing", "w:nothing"])
def test_what_is_not_there_is_said_and_how_to_find_it(terminal: Terminal, id: str) -> None:
    terminal("add", HARBOUR)
    missing = terminal("show", id, code=1)
    assert missing.out == ""
    assert "41" in missing.err or "nothing" in missing.err


def test_no_command_that_reads_makes_a_file(terminal: Terminal) -> None:
    terminal.servers.db.unlink()
    for command in (
        ["search", "x"],
        ["list"],
        ["show", "1"],
        ["log"],
        ["facts"],
        ["fact", "k"],
        ["stats"],
        ["undo", "d1"],
    ):
        assert "There is no database" in terminal(*command, code=1).err
    assert not terminal.servers.db.exists()
