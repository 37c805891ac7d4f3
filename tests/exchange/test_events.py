"""An import is one event: `log` tells it in a line, `undo` takes it back whole, but for what was changed since."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Servers, Sqlite, call, damage
from tests.exchange.conftest import Run
from tests.exchange.edited import EDITS
from tests.exchange.sources import SOURCES
from tests.postgres_server import new_place

Taken = Callable[..., dict[str, Any]]


def lines(path: Path, *texts: str) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SOURCES)
def test_an_import_is_taken_back_to_the_letter_and_can_be_repeated(
    name: str, copy: Path, tmp_path: Path, run: Run, exported: Callable[..., str], taken: Taken
) -> None:
    (tmp_path / "source").mkdir()
    path = SOURCES[name](tmp_path / "source")
    before = exported(copy)
    first = taken(copy, path)
    after = exported(copy)
    assert first["sources"][0]["undo"] == "i1"
    undone = run(copy, "undo", "i1")
    assert (undone.err, undone.code) == ("Undid 1 change.\n", 0)
    assert exported(copy) == before
    assert damage(copy) == []
    again = taken(copy, path)
    assert (again["added"], again["sources"][0]["undo"]) == (first["added"], "i2")
    assert exported(copy).count("\n") == after.count("\n")


def test_what_an_import_of_our_own_and_a_merge_change_is_taken_back(
    copy: Path, tmp_path: Path, run: Run, exported: Callable[..., str], sqlite: Sqlite
) -> None:
    other = tmp_path / "other.db"
    run(other, "import", lines(tmp_path / "first.jsonl", "Only on the laptop"))
    run(other, "merge", copy)
    sqlite(
        other,
        "UPDATE memories SET content = 'Changed on the laptop', updated_at = '2030-01-01' WHERE id = 1;"
        "DELETE FROM memories WHERE content = 'Twice the same';"
        "UPDATE facts SET value = '\"elsewhere\"', updated_at = '2030-01-01T00:00:00.000Z', version = version + 1;"
        "UPDATE open_questions SET asked_again_at = '2030-01-01', session = 's9';"
        "UPDATE conversations SET removed = 99, cleaned_at = '2030-01-01';"
        "UPDATE projects SET folder = '/srv/else', created_at = '2000-01-01';",
    )
    run(other, "forget", "3", "t1")
    before = exported(copy)
    merged = run(copy, "merge", other, "--json").summary
    assert merged["updated"] > 3
    assert exported(copy) != before
    undone = run(copy, "undo", "i1")
    assert (undone.err, undone.code) == ("Undid 1 change.\n", 0)
    assert exported(copy).splitlines() == before.splitlines()
    assert damage(copy) == []


def test_what_a_person_has_changed_since_stays_and_is_named(
    tmp_path: Path, run: Run, exported: Callable[..., str]
) -> None:
    db = tmp_path / "memory.db"
    run(
        db,
        "import",
        lines(tmp_path / "a.jsonl", "The ferry leaves at nine", "The gate code is 4711", "Crew of six"),
    )
    run(db, "edit", "1", "--text", "The ferry leaves at ten")
    run(db, "add", "The harbour closes in winter", "--related", "2")
    undone = run(db, "undo", "i1")
    assert "Changed since, so it stays: m1, m2." in undone.err
    texts = [json.loads(line)["content"] for line in exported(db).splitlines() if '"memory"' in line]
    assert texts == ["The ferry leaves at ten", "The gate code is 4711", "The harbour closes in winter"]


def test_the_log_tells_an_import_in_one_line_and_what_came_with_it(tmp_path: Path, run: Run) -> None:
    db = tmp_path / "memory.db"
    source = lines(tmp_path / "a.jsonl", "The ferry leaves at nine", "The gate code is 4711")
    run(db, "import", source)
    run(db, "add", "Stored by hand")
    changes = run(db, "log", "--since", "1d", "--json").summary["changes"]
    assert [(change["id"], change["action"]) for change in changes] == [(None, "stored"), ("i1", "imported")]
    assert changes[1]["text"] == f"jsonl {source}: memories: added 2"
    parts = run(db, "log", "i1", "--json").summary["changes"]
    assert [part["text"] for part in parts] == ["The gate code is 4711", "The ferry leaves at nine"]
    run(db, "undo", "i1")
    (undone,) = run(db, "log", "--json").summary["changes"][1:]
    assert (undone["id"], undone["text"]) == (None, f"jsonl {source}: memories: added 2 (undone)")
    assert "i1 was undone already" in run(db, "undo", "i1").err
    assert "no change g1" in run(db, "undo", "g1").err
    assert f"jsonl {source}: memories: added 2 (undone)" in " ".join(run(db, "log", "i1").err.split())
    assert "There is no import i9" in run(db, "log", "i9").err
    assert "no change i9" in run(db, "undo", "i9").err
    assert f"Nothing is here from {source}" in " ".join(run(db, "forget", "--from", source).err.split())


@pytest.mark.parametrize("store", ["file", "postgresql"])
def test_what_an_import_has_changed_and_connected_is_listed(store: str, tmp_path: Path, run: Run) -> None:
    db = tmp_path / "memory.db" if store == "file" else new_place().given
    path = SOURCES["server-memory"](tmp_path)
    run(db, "import", path)
    parts = run(db, "log", "i1", "--limit", "100", "--json").summary["changes"]
    told = {(part["action"], part["handle"], part["text"]) for part in parts}
    ids = {text: handle for action, handle, text in told if action == "stored"}
    vim, ledger = ids["Vim (tool)"], ids["Ledger (project)"]
    assert ("connected", ledger, f"depends_on {vim}: Vim (tool)") in told
    assert ("connected", ids["Ledger: Ships every Tuesday"], f"extends {ledger}: Ledger (project)") in told
    assert sum(action == "connected" for action, *_ in told) == 7
    EDITS["server-memory"](path)
    written = path.read_text("utf-8")
    path.write_text(
        "".join(line for line in written.splitlines(True) if "depends_on" not in line), encoding="utf-8"
    )
    run(db, "import", path)
    parts = run(db, "log", "i2", "--json").summary["changes"]
    told = {(part["action"], part["handle"], part["text"]) for part in parts}
    assert told == {
        ("edited", ids["Ledger: Ships every Tuesday"], "Ledger: Ships every Friday"),
        ("deleted", ids["Ledger: Written in Rust"], "Ledger: Written in Rust"),
        ("deleted", ids["Ledger depends on Vim"], "Ledger depends on Vim"),
        ("disconnected", ledger, f"depends_on {vim}: Vim (tool)"),
    }


def test_an_import_that_changes_nothing_is_no_event(tmp_path: Path, run: Run, taken: Taken) -> None:
    db, source = tmp_path / "memory.db", lines(tmp_path / "a.jsonl", "The ferry leaves at nine")
    assert taken(db, source)["sources"][0]["undo"] == "i1"
    assert taken(db, source)["sources"][0]["undo"] is None
    assert len(run(db, "log", "--json").summary["changes"]) == 1


def test_on_postgresql_an_import_is_taken_back_to_the_letter(copy: Path, tmp_path: Path, run: Run) -> None:
    place = new_place()
    run(copy, "copy", copy, place.given)
    before = run(place.given, "export").out
    source = SOURCES["server-memory"](tmp_path)
    assert run(place.given, "import", source).code == 0
    assert run(place.given, "import", lines(tmp_path / "a.jsonl", "The ferry leaves at nine")).code == 0
    imported = run(place.given, "export").out
    for chosen in (["--from", tmp_path], ["--tag", "t"], ["1..3"], ["--project", "ledger", "--since", "1d"]):
        assert run(place.given, "forget", *chosen, "--yes").code == 0
        assert run(place.given, "export").out != imported
        assert run(place.given, "undo").code == 2  # it asks, and nobody is there
        assert run(place.given, "undo", "--last", "1", "--yes").code == 0
        assert run(place.given, "export").out == imported
    undone = run(place.given, "undo", "i2", "i1")
    assert (undone.err, undone.code) == ("Undid 2 changes.\n", 0)
    assert run(place.given, "export").out == before


def test_what_came_from_a_file_or_has_a_tag_is_forgotten_together_and_undone_as_one(
    copy: Path, tmp_path: Path, run: Run, exported: Callable[..., str]
) -> None:
    source = lines(tmp_path / "a.jsonl", "The ferry leaves at nine", "The gate code is 4711")
    run(copy, "import", source)
    before = exported(copy)
    listed = run(copy, "forget", "--from", source, "--dry-run")
    assert "Would delete 2 items. Nothing was changed." in listed.out
    assert "The gate code is 4711" in listed.out
    assert "add --yes" in run(copy, "forget", "--from", "jsonl").err
    assert exported(copy) == before
    for chosen, number in (
        (["--from", source], 2),
        (["--from", "jsonl"], 2),
        (["--tag", "t", "--since", "1d"], 3),
        (["m1..m3"], 3),
        (["1..3", "--tag", "staging"], 1),
        (["--project", "ledger"], 11),
    ):
        done = run(copy, "forget", *chosen, "--yes")
        assert done.out.splitlines()[-1] == ("1 item deleted." if number == 1 else f"{number} items deleted.")
        assert exported(copy) != before
        event = done.err.split("undo ")[1].split("`")[0]
        assert run(copy, "undo", event).code == 0
        assert exported(copy).splitlines() == before.splitlines()
    assert damage(copy) == []


def test_a_fact_that_was_written_anew_is_not_overwritten_by_undoing(tmp_path: Path, run: Run) -> None:
    db = tmp_path / "memory.db"
    run(db, "fact", "gate.code", "4711", "--scope", "global")
    run(db, "forget", "--since", "1d", "--yes")
    run(db, "fact", "gate.code", "9034", "--scope", "global")
    assert run(db, "undo", "g1").code == 0
    assert "9034" in run(db, "facts").out


@pytest.mark.anyio
async def test_a_client_undoes_an_import(server: Servers, tmp_path: Path, run: Run) -> None:
    run(server.db, "import", lines(tmp_path / "a.jsonl", "The ferry leaves at nine", "The gate code is 4711"))
    async with server() as client:
        run(server.db, "forget", "--from", "jsonl", "--yes")
        assert await call(client, "forget", what="gate code", undo=True) == {"restored": ["m2"]}
        assert await call(client, "forget", refs=["i1"], undo=True) == {"restored": ["i1"]}
    assert run(server.db, "list", "--json").summary["memories"] == []


def test_what_is_erased_leaves_no_text_in_an_event(tmp_path: Path, run: Run, sqlite: Sqlite) -> None:
    db, page = tmp_path / "memory.db", tmp_path / "CLAUDE.md"
    for month in ("August", "July"):
        page.write_text(f"- The launch of the ledger is in {month}\n", "utf-8")
        run(db, "import", page)
    assert sqlite(db, "SELECT count(*) FROM event_steps WHERE before LIKE '%August%'") == "1"
    assert run(db, "forget", "1", "--purge", "--yes").code == 0
    assert sqlite(db, "SELECT count(*) FROM event_steps") == "0"
    assert b"August" not in db.read_bytes()
