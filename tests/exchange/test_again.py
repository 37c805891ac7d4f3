"""A changed source updates what came from it: what is edited there is updated here, what is gone there ends here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_server.importing.values import hashed
from tests.conftest import Sqlite, damage
from tests.exchange import sources
from tests.exchange.conftest import Run
from tests.exchange.edited import EDITS, EDITS_OF_SESSIONS, earlier_short_long
from tests.postgres_server import new_place

Taken = Callable[..., dict[str, Any]]
Write = Callable[[Path, list[str]], Path]


def claude_md(folder: Path, texts: list[str]) -> Path:
    path = folder / "CLAUDE.md"
    path.write_text("# Ledger\n\n## Plan\n\n" + "".join(f"- {text}\n" for text in texts), "utf-8")
    return path


def graph(folder: Path, texts: list[str]) -> Path:
    path = folder / "memory.jsonl"
    entity = {"type": "entity", "name": "Ledger", "entityType": "project", "observations": texts}
    path.write_text(json.dumps(entity), "utf-8")
    return path


def json_lines(folder: Path, texts: list[str]) -> Path:
    path = folder / "notes.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return path


def csv(folder: Path, texts: list[str]) -> Path:
    path = folder / "notes.csv"
    path.write_text("text;tags\n" + "".join(f"{text};plan\n" for text in texts), "utf-8")
    return path


def vault(folder: Path, texts: list[str]) -> Path:
    (folder / "notes").mkdir(exist_ok=True)
    for number, text in enumerate(["Stays as it is", *texts]):
        (folder / "notes" / f"{number}.md").write_text(f"{text}\n", "utf-8")
    for path in list((folder / "notes").iterdir())[len(texts) + 1 :]:
        path.unlink()
    return folder / "notes"


def memories(exported: Callable[..., str], db: Path) -> dict[str, Any]:
    lines = map(json.loads, exported(db).splitlines())
    return {line["content"]: line for line in lines if line["kind"] == "memory"}


TEXTS = [
    "The launch of the ledger is in August",
    "Norway is the first customer",
    "发布会在八月十五日举行，地点是上海",
    "Nobody deploys on a Friday",
]
EDITED = [TEXTS[0].replace("August", "July"), *TEXTS[1:3]]


@pytest.mark.parametrize("write", [claude_md, graph, json_lines, csv])
def test_what_is_edited_is_updated_what_is_gone_ends_and_both_are_undone(
    write: Write, tmp_path: Path, run: Run, taken: Taken, exported: Callable[..., str]
) -> None:
    db = tmp_path / "memory.db"
    taken(db, write(tmp_path, TEXTS))
    before = exported(db)
    again = taken(db, write(tmp_path, TEXTS))
    assert (again["added"], again["updated"], again["ended"]) == (0, 0, 0)
    changed = taken(db, write(tmp_path, EDITED))
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 1, 1)
    here = memories(exported, db)
    assert [text for text in here if "Friday" in text or "August" in text] == []
    (launch,) = (text for text in here if "July" in text)
    assert [past["content"] for past in here[launch]["history"]] == [launch.replace("July", "August")]
    again = taken(db, write(tmp_path, EDITED))
    assert (again["added"], again["updated"], again["ended"], again["sources"][0]["undo"]) == (0, 0, 0, None)
    assert any("Friday" in change["text"] for change in run(db, "log", "i2", "--json").summary["changes"])
    assert run(db, "undo", "i2").code == 0
    assert exported(db) == before
    back = taken(db, write(tmp_path, EDITED))
    assert (back["added"], back["updated"], back["ended"]) == (0, 1, 1)
    assert damage(db) == []


TRANSCRIPTS = {"transcript"}
"""They are read on from their last turn: what of them changes or goes is in `test_transcripts`."""

ALL_SOURCES, ALL_EDITS = sources.SOURCES | sources.SESSIONS, EDITS | EDITS_OF_SESSIONS


def test_every_source_is_edited_here() -> None:
    assert ALL_EDITS.keys() | TRANSCRIPTS == ALL_SOURCES.keys()


@pytest.mark.parametrize("name", ALL_EDITS)
def test_each_source_is_followed_and_undone(
    name: str, tmp_path: Path, run: Run, taken: Taken, exported: Callable[..., str]
) -> None:
    db = tmp_path / "memory.db"
    (tmp_path / "source").mkdir()
    path = ALL_SOURCES[name](tmp_path / "source")
    taken(db, path)
    before = exported(db)
    again = taken(db, path)
    assert (again["added"], again["updated"], again["ended"], exported(db)) == (0, 0, 0, before)
    ALL_EDITS[name](path)
    changed = taken(db, path)
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 1, 1)
    assert changed["sources"][0]["conflicts"] == []
    assert (taken(db, path)["sources"][0]["undo"], exported(db) == before) == (None, False)
    assert run(db, "undo", "i2").code == 0
    assert exported(db) == before
    back = taken(db, path)
    assert (back["added"], back["updated"], back["ended"]) == (0, 1, 1)
    assert damage(db) == []


def test_what_mem0_has_is_followed_and_undone(
    tmp_path: Path, run: Run, taken: Taken, exported: Callable[..., str]
) -> None:
    """Written by mem0ai 2.2.1: `get_all` before and after an `update` and a `delete`, its vectors from a stub."""
    db, path = tmp_path / "memory.db", tmp_path / "mem0.json"
    first = (sources.FIXTURES / "mem0.json").read_bytes()
    path.write_bytes(first)
    taken(db, path)
    before, stored = exported(db), memories(exported, db)
    written = json.loads(first)["results"]
    assert stored.keys() == {item["memory"] for item in written}
    for item in written:
        memory = stored[item["memory"]]
        assert memory["created_at"] == f"{item['created_at'][:23]}Z"
        assert [origin["id"] for origin in memory["origins"]] == [item["id"]]
        passed_on = item.keys() & {"user_id", "agent_id", "run_id", "role"}
        assert {name: memory["metadata"][name] for name in passed_on} == {
            name: item[name] for name in passed_on
        }
    assert taken(db, path)["sources"][0]["undo"] is None
    path.write_bytes((sources.FIXTURES / "mem0-edited.json").read_bytes())
    changed = taken(db, path)
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 1, 1)
    assert run(db, "undo", "i2").code == 0
    assert exported(db) == before


def relations(sqlite: Sqlite, db: Path) -> set[str]:
    rows = sqlite(
        db,
        """
        SELECT s.content || ' ' || relation || ' ' || t.content
        FROM edges AS e JOIN memories AS s ON s.id = source_id JOIN memories AS t ON t.id = target_id
        WHERE relation <> 'extends' AND valid_to IS NULL
        """,
    )
    return set(rows.splitlines())


def test_a_relation_that_is_gone_ends_with_its_edge_and_comes_back(
    tmp_path: Path, run: Run, taken: Taken, exported: Callable[..., str], sqlite: Sqlite
) -> None:
    db, path = tmp_path / "memory.db", sources.server_memory(tmp_path)
    taken(db, path)
    before, written, connected = exported(db), path.read_text("utf-8"), relations(sqlite, db)
    assert connected == {
        "Alice Zhang (person) related_to Ledger (project)",
        "Ledger (project) depends_on Vim (tool)",
    }
    vim = "Ledger (project) depends_on Vim (tool)"
    path.write_text("".join(line for line in written.splitlines(True) if "depends_on" not in line), "utf-8")
    assert taken(db, path)["sources"][0]["counts"]["edge"] == {"present": 6, "ended": 1}
    assert relations(sqlite, db) == connected - {vim}
    assert run(db, "undo", "i2").code == 0
    assert exported(db) == before
    taken(db, path)
    path.write_text(written, "utf-8")
    taken(db, path)
    assert relations(sqlite, db) == connected


def test_an_edge_of_somebody_else_stays_when_its_relation_is_gone(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db, path = tmp_path / "memory.db", sources.claude_code(tmp_path)
    taken(db, path)
    assert sqlite(db, "SELECT relation, created_by FROM edges") == "related_to|import of claude-code"
    sqlite(db, "UPDATE edges SET created_by = 'claude-code'")
    tabs = path / "tabs.md"
    tabs.write_text(tabs.read_text("utf-8").replace("[[release-day]]", "the calendar"), "utf-8")
    assert taken(db, path)["ended"] == 0
    assert sqlite(db, "SELECT count(*) FROM edges") == "1"


@pytest.mark.parametrize("written", [False, True])
def test_a_fact_that_is_edited_at_its_source_is_no_conflict_unless_it_was_written_here(
    written: bool, tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db, path = tmp_path / "memory.db", sources.tax(tmp_path)
    taken(db, path)
    if written:
        sqlite(db, "UPDATE facts SET value = '1', updated_at = '2099-01-01T00:00:00.000Z'")
    path.write_text(
        path.read_text("utf-8").replace('"annual_income": 75000', '"annual_income": 76000'), "utf-8"
    )
    changed = taken(db, path)
    assert len(changed["sources"][0]["conflicts"]) == written
    assert sqlite(db, "SELECT value FROM facts") == ("1" if written else "76000")


@pytest.mark.parametrize("written", [False, True])
def test_a_long_term_memory_follows_its_source_unless_it_was_changed_here(
    written: bool, tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db, path = tmp_path / "memory.db", sources.earlier_short_long(tmp_path)
    taken(db, path)
    if written:
        sqlite(db, "UPDATE long_term_memories SET prompt = 'mine'")
    file = path / "my_chat/long-term-memory.json"
    file.write_text(file.read_text("utf-8").replace("July 17", "July 18"), "utf-8")
    changed = taken(db, path)
    assert (changed["updated"], changed["changed_here"]) == ((0, 1) if written else (1, 0))
    prompt = "mine" if written else "Her birthday is July 18"
    assert sqlite(db, "SELECT prompt FROM long_term_memories") == prompt


def test_what_an_earlier_program_knew_by_its_text_is_known_again(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db = tmp_path / "memory.db"
    tax, short_long = sources.tax(tmp_path), sources.earlier_short_long(tmp_path)
    taken(db, tax, short_long)
    turn = hashed("I earn 75000 a year", "The user earns 75000")
    short = hashed("my chat", "2025-05-01T10:00:00.000Z", "user: the zebra escaped from 动物园")
    for kind, id in (("turn", turn), ("short_term", short)):
        sqlite(db, f"UPDATE origins SET source_id = '{id}' WHERE kind = '{kind}'")
    sqlite(db, "UPDATE origins SET digest = '' WHERE kind = 'long_term'")
    again = taken(db, tax, short_long)
    assert (again["added"], again["updated"], again["ended"], again["changed_here"]) == (0, 0, 0, 0)
    earlier_short_long(short_long)
    changed = taken(db, short_long)
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 1, 1)


def test_what_ended_and_stands_there_again_is_there_again(
    tmp_path: Path, taken: Taken, exported: Callable[..., str]
) -> None:
    db = tmp_path / "memory.db"
    for texts in (TEXTS, TEXTS[:3], TEXTS):
        taken(db, claude_md(tmp_path, texts))
    assert len(memories(exported, db)) == 4


def test_what_was_changed_here_and_is_gone_there_stays_and_is_told(
    tmp_path: Path, run: Run, taken: Taken
) -> None:
    db = tmp_path / "memory.db"
    taken(db, claude_md(tmp_path, TEXTS))
    run(db, "edit", "4", "--text", "Nobody deploys on a Friday or a Monday")
    changed = taken(db, claude_md(tmp_path, TEXTS[:3]))
    assert (changed["ended"], changed["changed_here"]) == (0, 1)
    assert changed["sources"][0]["conflicts"] == [
        "memory 4: changed here and gone from markdown: left as it is here"
    ]
    assert taken(db, claude_md(tmp_path, TEXTS[:3]))["sources"][0]["conflicts"] == []


def test_what_another_file_says_too_stays(tmp_path: Path, taken: Taken, exported: Callable[..., str]) -> None:
    db = tmp_path / "memory.db"
    taken(db, claude_md(tmp_path, TEXTS))
    other = claude_md(tmp_path, TEXTS[3:]).rename(tmp_path / "AGENTS.md")
    taken(db, other)
    taken(db, claude_md(tmp_path, TEXTS[:3]))
    assert len(memories(exported, db)) == 4
    assert taken(db, claude_md(tmp_path, TEXTS[:2]))["ended"] == 1


def test_what_was_stored_here_before_stays_when_a_file_says_it_no_more(
    tmp_path: Path, run: Run, taken: Taken, exported: Callable[..., str]
) -> None:
    db, path = tmp_path / "memory.db", tmp_path / "notes.jsonl"
    run(db, "add", TEXTS[0], "--type", "learning", "--project", "harbour")
    lines = [json.dumps({"text": text, "type": "learning"}) + "\n" for text in TEXTS[:2]]
    path.write_text("".join(lines), "utf-8")
    first = taken(db, path, "--project", "harbour")
    assert (first["added"], first["duplicate"]) == (1, 1)
    before = exported(db)
    path.write_text(json.dumps({"text": TEXTS[2]}), "utf-8")
    assert taken(db, path, "--project", "harbour")["ended"] == 1
    assert memories(exported, db).keys() == {TEXTS[0], TEXTS[2]}
    assert run(db, "undo", "i2").code == 0
    assert exported(db) == before


def test_a_heading_that_is_renamed_updates_its_items(tmp_path: Path, taken: Taken) -> None:
    db = tmp_path / "memory.db"
    path = claude_md(tmp_path, TEXTS)
    taken(db, path)
    path.write_text(path.read_text("utf-8").replace("## Plan", "## Plans"), "utf-8")
    changed = taken(db, path)
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 4, 0)


def test_a_file_that_is_gone_from_a_folder_ends(
    tmp_path: Path, taken: Taken, exported: Callable[..., str]
) -> None:
    db = tmp_path / "memory.db"
    taken(db, vault(tmp_path, TEXTS))
    changed = taken(db, vault(tmp_path, TEXTS[:3]))
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 0, 1)
    assert len(memories(exported, db)) == 4


def test_nothing_ends_where_a_part_of_the_source_cannot_be_read(tmp_path: Path, taken: Taken) -> None:
    db = tmp_path / "memory.db"
    taken(db, json_lines(tmp_path, TEXTS))
    path = json_lines(tmp_path, TEXTS[:3])
    path.write_text(path.read_text("utf-8")[:-10], "utf-8")
    assert taken(db, path)["ended"] == 0


def test_on_postgresql_what_is_edited_is_updated_what_is_gone_ends_and_both_are_undone(
    tmp_path: Path, run: Run
) -> None:
    place = new_place()
    run(place.given, "import", claude_md(tmp_path, TEXTS))
    before = run(place.given, "export").out
    changed = run(place.given, "import", claude_md(tmp_path, EDITED), "--json").summary
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 1, 1)
    assert run(place.given, "undo", "i2").code == 0
    assert run(place.given, "export").out == before


def test_on_postgresql_a_relation_that_is_gone_ends_with_its_edge(tmp_path: Path, run: Run) -> None:
    place, path = new_place(), sources.server_memory(tmp_path)
    run(place.given, "import", path)
    before, written = run(place.given, "export").out, path.read_text("utf-8")
    path.write_text("".join(line for line in written.splitlines(True) if "depends_on" not in line), "utf-8")
    changed = run(place.given, "import", path, "--json").summary
    assert changed["sources"][0]["counts"]["edge"] == {"present": 6, "ended": 1}
    assert run(place.given, "undo", "i2").code == 0
    assert run(place.given, "export").out == before


def test_on_postgresql_which_machines_share_a_session_is_followed_and_nothing_of_it_ends(
    tmp_path: Path, run: Run
) -> None:
    """Another machine may have the same path: what is gone from it here may stand there."""
    place = new_place()
    path = sources.opencode(tmp_path)
    assert run(place.given, "import", path, "--json").summary["added"] == 4
    before = run(place.given, "export").out
    EDITS_OF_SESSIONS["opencode"](path)
    changed = run(place.given, "import", path, "--json").summary
    assert (changed["added"], changed["updated"], changed["ended"]) == (0, 1, 0)
    assert run(place.given, "undo", "i2").code == 0
    assert run(place.given, "export").out == before
