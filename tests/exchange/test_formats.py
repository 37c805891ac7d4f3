"""What each other program knows is taken over: recognised, with its dates and tags, once, and the source only read."""

import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_server.importing.formats import NAMES
from tests.conftest import Sqlite, as_rows, damage
from tests.exchange import sources
from tests.exchange.conftest import Run
from tests.exchange.sources import SESSIONS, SOURCES

Taken = Callable[..., dict[str, Any]]


def memories(sqlite: Sqlite, db: Path) -> list[dict[str, Any]]:
    columns = "id, content, type, project, tags, importance, metadata, created_at, created_by, session"
    return as_rows(sqlite(db, ".mode json", f"SELECT {columns} FROM memories ORDER BY id"))


def contents(sqlite: Sqlite, db: Path) -> list[str]:
    return [each["content"] for each in memories(sqlite, db)]


def edges(sqlite: Sqlite, db: Path) -> set[str]:
    ends = "s.content || ' | ' || relation || ' | ' || t.content"
    rows = sqlite(
        db,
        f"SELECT json_group_array({ends}) FROM edges AS e"
        " JOIN memories AS s ON s.id = source_id JOIN memories AS t ON t.id = target_id",
    )
    return set(json.loads(rows))


def test_every_format_has_a_source_here() -> None:
    assert {*SOURCES, "memory-server"} == set(NAMES)


@pytest.mark.parametrize("name", SOURCES | SESSIONS)
def test_a_source_is_recognised_taken_once_and_only_read(
    name: str, tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    (tmp_path / "source").mkdir()
    path = (SOURCES | SESSIONS)[name](tmp_path / "source")
    form = name if name in SOURCES else "transcript"
    files = [each for each in [path, *path.rglob("*")] if each.is_file()]
    before = {each: each.read_bytes() for each in files}
    db = tmp_path / "memory.db"
    first = taken(db, path)
    assert first["sources"][0]["format"] == form
    assert first["added"] > 0
    again = taken(db, path)
    assert (again["added"], again["updated"], again["changed_here"]) == (0, 0, 0)
    assert again["present"] + again["duplicate"] > 0
    assert {each: each.read_bytes() for each in files} == before
    assert [each for each in [path, *path.rglob("*")] if each.is_file()] == files
    origins = sqlite(db, "SELECT DISTINCT imported_from FROM readable_origins").split()
    assert origins == [form]
    assert damage(db) == []


def test_server_memory(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.server_memory(tmp_path))
    assert set(contents(sqlite, tmp_path / "memory.db")) == {
        "Alice Zhang (person)", "Alice Zhang: Prefers Vim keybindings", "Alice Zhang: Lives in Hangzhou 住在杭州",
        "Ledger (project)", "Ledger: Written in Rust", "Ledger: Ships every Tuesday",
        "Ledger: The staging database listens on port 5433", "Vim (tool)",
        "Alice Zhang maintains Ledger", "Ledger depends on Vim",
    }  # fmt: skip
    assert {
        "Alice Zhang (person) | related_to | Ledger (project)",
        "Ledger (project) | depends_on | Vim (tool)",
    } <= edges(sqlite, tmp_path / "memory.db")


def test_mcp_memory_service(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.memory_service(tmp_path))
    one, other = memories(sqlite, tmp_path / "memory.db")
    assert (one["content"], one["tags"], one["created_by"]) == (
        "The staging database listens on port 5433",
        '["staging", "db"]',
        "desk",
    )
    assert (other["content"], other["type"], other["importance"]) == ("我们决定周二发布", "decision", 9)
    assert one["created_at"].startswith("2026-11-23T19:03:")
    assert edges(sqlite, tmp_path / "memory.db") == {f"{one['content']} | related_to | {other['content']}"}


def test_mcp_memory_keeper(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.memory_keeper(tmp_path))
    found = {each["content"]: each for each in memories(sqlite, tmp_path / "memory.db")}
    assert found["db_choice: We use PostgreSQL 17 for the ledger"]["type"] == "decision"
    assert found["bug: 周五的导出失败：挪威客户"]["tags"] == '["error", "support"]'
    assert found["Today the export was repaired"]["tags"] == '["journal", "export"]'
    source = "next_step: Move the staging database to port 6000"
    target = "db_choice: We use PostgreSQL 17 for the ledger"
    assert edges(sqlite, tmp_path / "memory.db") == {f"{source} | depends_on | {target}"}


def test_claude_mem(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.claude_mem(tmp_path))
    bug, saved, summary = memories(sqlite, tmp_path / "memory.db")
    assert bug["content"] == (
        "Export repaired: Norway had no header: The export of invoices failed for Norway.\n"
        "- The header was missing\n- 挪威客户受影响"
    )
    assert (bug["type"], bug["project"], bug["created_at"]) == ("error", "ledger", "2026-11-26T21:13:26.290Z")
    assert (bug["tags"], bug["session"]) == ('["bugfix", "export", "problem-solution"]', "sess-1")
    assert json.loads(bug["metadata"]) == {"files": ["src/export.py", "src/header.py"]}
    assert saved["content"] == "Ada prefers tabs: Manual memory: Ada prefers tabs in Go files."
    assert json.loads(saved["metadata"]) == {"obsidian_note": "tabs"}
    assert summary["content"] == (
        "request: Repair the export\ninvestigated: The exporter\nlearned: Norway needs a header\n"
        "completed: The export works\nnext steps: Write a test\nnotes: Ask Ada"
    )
    turn = "user: Repair the export of invoices 请修复导出|ledger|content-1"
    assert sqlite(tmp_path / "memory.db", "SELECT message, project, session FROM turns") == turn


def test_claude_mem_files_under_the_project_into_which_it_merged_one(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    path = sources.claude_mem(tmp_path)
    sqlite(path, "UPDATE observations SET merged_into_project = 'shop', agent_type = 'Explore'")
    taken(tmp_path / "memory.db", path)
    bug, saved, summary = memories(sqlite, tmp_path / "memory.db")
    assert [row["project"] for row in (bug, saved, summary)] == ["shop", "shop", "ledger"]
    assert json.loads(saved["metadata"]) == {"agent": "Explore", "obsidian_note": "tabs"}


def facts(sqlite: Sqlite, db: Path) -> dict[str, list[Any]]:
    columns = "key, scope, owner, value, tags, access_count, created_at, expires_at, created_by"
    rows = as_rows(sqlite(db, ".mode json", f"SELECT {columns} FROM facts"))
    return {row.pop("key"): list(row.values()) for row in rows}


def test_token_saver(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    """Values as its `read_memory` answers them: SQLite made a number of `00123` when the program wrote it."""
    taken(tmp_path / "memory.db", sources.token_saver_database(tmp_path))
    values = facts(sqlite, tmp_path / "memory.db")
    assert {key: [*fact[:2], json.loads(fact[2])] for key, fact in values.items()} == {
        "project.architecture": ["project", "harbour", "Next.js with Prisma"],
        "current.task": [
            "project", "harbour", {"description": "move the ledger", "progress": 70, "blockers": ["no OAuth"]},
        ],
        "项目.端口": ["global", "", 5433],
        "flag": ["shared", "", True],
        "count": ["global", "", 42],
        "list": ["session", "", ["a", 1, None]],
        "zip": ["global", "", 123],
        "big": ["global", "", 1.2345678901234567e19],
        "empty": ["global", "", ""],
        "nothing": ["global", "", None],
    }  # fmt: skip
    at = values["flag"][5]
    assert at.startswith("2026-11-27T01:")
    assert values["flag"][3:] == ["[]", 0, at, None, "claude"]
    assert values["project.architecture"][3:5] == ['["stack", "db"]', 1]
    assert values["count"][6] == at.replace("2026-11-27", "2126-11-03")


def test_an_export_of_token_saver(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    (source,) = taken(tmp_path / "memory.db", sources.token_saver_export(tmp_path))["sources"]
    assert source["format"] == "token-saver"
    at = "2026-11-27T01:"
    values = facts(sqlite, tmp_path / "memory.db")
    assert {key: [*fact[:4], fact[5][: len(at)], fact[7]] for key, fact in values.items()} == {
        "current.task": [
            "project", "harbour", '{"description": "move the ledger", "progress": 70}', '["work"]', at, "claude",
        ],
        "项目.端口": ["project", "harbour", "5433", "[]", at, "claude"],
    }  # fmt: skip


def test_basic_memory(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    """As the tables of basic-memory itself have these notes; of a note all but its observations is its text."""
    db, path = tmp_path / "memory.db", sources.basic_memory(tmp_path)
    taken(db, path)
    rows = {row["content"]: row for row in memories(sqlite, db)}
    coffee = (
        "Coffee Brewing Methods\n\nAn exploration of brewing.\n\n- [ ] Clean the grinder\n- [x] Order filters\n"
        "- A plain bullet with a [[Grinder]] in its text\n\n## Relations\n\n- requires [[Grinder]]\n"
        "- pairs_with [[Morning Routine]]\n- contrasts_with [[Tea (loose leaf)]] (by taste)"
    )
    grinder = "Grinder\nA burr grinder from Berlin.\n\nIt links to [[Coffee Brewing Methods]] inline."
    search = (
        'Search: what\'s "new"?\nText only, with a code fence:\n\n'
        "```python\nx = [1]\n- [not] an observation\n```"
    )
    plan = "会议：发布计划\n\n- 取决于 [[Grinder]]"
    observations = {
        "Coffee Brewing Methods: Pour over gives more clarity #brewing (from tests)": (
            "pattern", ["method", "brewing", "coffee"], coffee,
        ),
        "Coffee Brewing Methods: 水温九十三度 #水温": (
            "preference", ["preference", "水温", "coffee", "method"], coffee,
        ),
        "Coffee Brewing Methods: We buy beans on Tuesdays": ("decision", ["decision", "coffee", "method"], coffee),
        "Coffee Brewing Methods: Rinse the filter first": ("learning", ["tip", "coffee", "method"], coffee),
        "会议：发布计划: 周二上午十点发布 #发布": ("decision", ["decision", "发布"], plan),
        "会议：发布计划: 周五不发布": ("learning", ["fact"], plan),
    }  # fmt: skip
    assert rows.keys() == {coffee, grinder, search, plan, *observations}
    for text, (type, tags, _) in observations.items():
        assert (rows[text]["type"], json.loads(rows[text]["tags"])) == (type, tags)
    assert json.loads(rows[coffee]["tags"]) == ["coffee", "method"]
    assert json.loads(rows[search]["tags"]) == ["a", "b"]
    assert json.loads(rows[grinder]["metadata"]) == {
        "note": "Grinder", "type": "tool", "status": "active", "priority": "2",
    }  # fmt: skip
    assert edges(sqlite, db) == {
        *(f"{text} | extends | {note}" for text, (_, _, note) in observations.items()),
        f"{coffee} | depends_on | {grinder}", f"{coffee} | related_to | {grinder}",
        f"{grinder} | related_to | {coffee}", f"{plan} | related_to | {grinder}",
    }  # fmt: skip


def test_a_header_as_basic_memory_folds_it_and_as_people_write_it(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    (tmp_path / "note.md").write_text(
        "---\ntitle: A long title about the way in which the harbour office of the town keeps its\n"
        "  ledgers and the dates of all ferries\ntype: note\npermalink: main/long\n"
        "summary: 'It goes on for so long that the writer of the header folds it: the first\n"
        "  line ends somewhere, and another: begins, isn''t it'\ncreated: 2025-03-01T08:00:00\n"
        'note: "说\\"好\\""\n---\n\n- "used by" [[Nothing]] (since May)\n- [00:11:02] a line of a recording\n',
        encoding="utf-8",
    )
    taken(tmp_path / "memory.db", tmp_path / "note.md")
    (row,) = memories(sqlite, tmp_path / "memory.db")
    title = (
        "A long title about the way in which the harbour office of the town keeps its ledgers and the dates of all"
        " ferries"
    )
    assert (
        row["content"] == f'{title}\n- "used by" [[Nothing]] (since May)\n- [00:11:02] a line of a recording'
    )
    assert row["created_at"] == "2025-03-01T08:00:00.000Z"
    assert json.loads(row["metadata"]) == {
        "note": title,
        "summary": "It goes on for so long that the writer of the header folds it: the first line ends somewhere, and"
        " another: begins, isn't it",
        "type": "note",
    }


def test_memory_mcp_server(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    db, path = tmp_path / "memory.db", sources.short_long(tmp_path)
    taken(db, path)
    short = as_rows(
        sqlite(
            db,
            ".mode json",
            "SELECT c.name, text, score, said_at FROM short_term_memories JOIN conversations AS c"
            " ON c.id = conversation_id ORDER BY said_at",
        )
    )
    written = json.loads((path / "my-chat/short-term-memory.json").read_text("utf-8"))
    assert [list(row.values()) for row in short] == [
        [item["conversation_id"], item["text"], item["score"], item["timestamp"]] for item in written
    ]
    long = as_rows(
        sqlite(
            db,
            ".mode json",
            'SELECT c.name AS place, m.name, prompt, "trigger", m.created_at, updated_at, created_context,'
            " updated_context FROM long_term_memories AS m JOIN conversations AS c ON c.id = conversation_id",
        )
    )
    assert {(row["place"], row["name"]): list(row.values())[2:] for row in long} == {
        (folder, item["name"]): [
            item["prompt"], item["trigger"], item["createdAt"], item.get("updatedAt"),
            item["createdContext"] or None, item.get("updatedContext"),
        ]
        for folder in ("my-chat", "default")
        for item in json.loads((path / folder / "long-term-memory.json").read_text("utf-8"))
    }  # fmt: skip
    backup = sources.FIXTURES / "memory-mcp-server/backup.json"
    again = taken(db, backup)
    assert (again["sources"][0]["format"], again["added"], again["present"]) == ("memory-mcp-server", 0, 4)


def test_what_the_program_keeps_of_images_is_told(tmp_path: Path, taken: Taken) -> None:
    path = sources.short_long(tmp_path) / "my-chat/short-term-memory.json"
    memories = json.loads(path.read_text("utf-8"))
    memories[0]["modalities"] = [{"type": "image", "uri": "https://zoo.example/gate.png"}]
    path.write_text(json.dumps(memories), "utf-8")
    (told,) = taken(tmp_path / "memory.db", path)["sources"]
    assert told["refused_items"] == [
        {"where": "short-term-memory.json, item 1", "why": "its images and sounds are left out"}
    ]
    assert told["counts"]["short_term"] == {"added": 2}


def test_earlier_files_of_memory_mcp_server(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    summary = taken(tmp_path / "memory.db", sources.earlier_short_long(tmp_path))
    db = tmp_path / "memory.db"
    assert sqlite(db, "SELECT said_at, score FROM short_term_memories") == "2025-05-01T10:00:00.000Z|7.0"
    assert (
        sqlite(db, "SELECT c.name, m.name FROM long_term_memories AS m, conversations AS c")
        == "my chat|birthday"
    )
    assert sqlite(db, "SELECT created_at, created_context FROM long_term_memories") == (
        "2025-04-01T10:00:00.000Z|user: hello"
    )
    (refused,) = summary["sources"][0]["refused_items"]
    assert refused["where"] == "long_term my chat/broken"


def test_the_tax_article(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.tax(tmp_path))
    assert sqlite(tmp_path / "memory.db", "SELECT summary, created_at FROM turns") == (
        "The user earns 75000|2025-12-01T10:00:00.000Z"
    )
    assert sqlite(tmp_path / "memory.db", "SELECT key, value FROM facts") == "annual_income|75000"


def test_an_account_of_claude(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.claude(tmp_path))
    turns = as_rows(sqlite(tmp_path / "memory.db", ".mode json", "SELECT * FROM turns ORDER BY id"))
    assert [each["summary"] for each in turns] == ["Bookkeeping: 什么是复式记账？", "Bookkeeping: Thanks"]
    assert turns[0]["message"] == "user: 什么是复式记账？\nassistant: Double entry."
    assert (turns[0]["session"], turns[0]["created_at"]) == ("c1", "2025-06-01T10:00:00.123Z")


def test_an_account_of_chatgpt_has_the_branch_that_was_shown(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    taken(tmp_path / "memory.db", sources.chatgpt(tmp_path))
    assert sqlite(tmp_path / "memory.db", "SELECT message, created_at FROM turns") == (
        "user: Name a port\nassistant: 5433|2025-06-01T10:00:00.500Z\nuser: Thanks|2025-06-01T10:00:00.500Z"
    )


def test_an_account_export_is_read_as_a_zip(tmp_path: Path, run: Run, taken: Taken, sqlite: Sqlite) -> None:
    db, folder = tmp_path / "memory.db", sources.claude(tmp_path)
    packed = tmp_path / "data-2026.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(folder / "conversations.json", "export/conversations.json")
        file.writestr("export/users.json", "[]")
    parts = tmp_path / "chatgpt.zip"
    (conversation,) = json.loads(sources.chatgpt(tmp_path).read_text(encoding="utf-8"))
    with zipfile.ZipFile(parts, "w") as file:
        for number in range(2):
            each = {**conversation, "conversation_id": f"g{number}"}
            file.writestr(f"conversations-00{number}.json", json.dumps([each]))
    before = packed.read_bytes()
    summary = taken(db, packed, parts)
    assert [each["format"] for each in summary["sources"]] == ["claude", "chatgpt"]
    assert (
        sqlite(db, "SELECT group_concat(session) FROM (SELECT session FROM turns ORDER BY id)")
        == "c1,c1,g0,g0,g1,g1"
    )
    assert (taken(db, folder)["added"], packed.read_bytes()) == (0, before)
    bomb, other, cut = (tmp_path / name for name in ("bomb.zip", "other.zip", "cut.zip"))
    data = bytearray(before)
    place = data.index(b"PK\x01\x02") + 24  # the size that the directory tells
    data[place : place + 4] = (600 << 20).to_bytes(4, "little")
    bomb.write_bytes(data)
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("notes.txt", "dear diary")
    data = bytearray(before)
    data[60:90] = b"\xff" * 30
    cut.write_bytes(data)
    for path, words in (
        (bomb, "bytes of JSON"),
        (other, "without an account export"),
        (cut, "cannot be unpacked"),
    ):
        done = run(db, "import", path)
        assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
        assert words in done.err


def test_markdown(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.bullets(tmp_path))
    assert contents(sqlite, tmp_path / "memory.db") == [
        "A service for bookkeeping.",
        "Code style: Use 4 spaces",
        "Code style: Name tests as sentences,\nbecause people read them\n  - also in Chinese",
        "约定: 周五不发布\n```bash\nmake test\n```",
    ]


def test_what_is_in_a_repository_belongs_to_its_project(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    taken(tmp_path / "memory.db", sources.bullets(tmp_path / "shop"))
    assert {each["project"] for each in memories(sqlite, tmp_path / "memory.db")} == {"shop"}


def test_jsonl(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    summary = taken(tmp_path / "memory.db", sources.jsonl(tmp_path))
    one, other = memories(sqlite, tmp_path / "memory.db")
    assert (one["tags"], one["created_at"], one["metadata"]) == (
        '["audit"]',
        "2025-01-02T00:00:00.000Z",
        '{"mood": "calm"}',
    )
    assert (other["type"], other["created_by"]) == ("decision", "Ann")
    assert summary["sources"][0]["refused_items"] == [{"where": "line 3", "why": "has no text"}]


def test_csv(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    taken(tmp_path / "memory.db", sources.csv(tmp_path))
    one, other = memories(sqlite, tmp_path / "memory.db")
    assert (one["content"], one["importance"], one["project"]) == ("Port 5433; for staging", 8, "ledger")
    assert other["content"] == "周五不发布"


def test_everything_goes_under_the_project_that_is_named(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    taken(tmp_path / "memory.db", sources.csv(tmp_path), sources.tax(tmp_path), "--project", "books")
    assert {each["project"] for each in memories(sqlite, tmp_path / "memory.db")} == {"books"}
    assert sqlite(tmp_path / "memory.db", "SELECT project FROM turns") == "books"


def test_a_source_that_needs_functions_of_its_program_is_refused_in_one_line(
    tmp_path: Path, run: Run
) -> None:
    path = sources.memory_service(tmp_path)
    connection = sqlite3.connect(path)
    connection.create_function("secret", 1, str.upper, deterministic=True)
    connection.execute("ALTER TABLE memories ADD COLUMN loud AS (secret(content))")
    connection.close()
    done = run(tmp_path / "memory.db", "import", path)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert f"{path} cannot be read: " in done.err
    assert "secret" in done.err


def test_a_row_of_any_table_that_is_no_utf8_is_refused_and_the_others_are_taken(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    path = sources.memory_keeper(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE journal_entries SET entry = CAST(X'ff' AS TEXT)")
        connection.execute("UPDATE context_relationships SET relationship_type = CAST(X'ff' AS TEXT)")
    connection.close()
    (source,) = taken(tmp_path / "memory.db", path)["sources"]
    assert [(item["where"], item["why"]) for item in source["refused_items"]] == [
        ("journal entry 1", "is not UTF-8"),
        ("link 1", "is not UTF-8"),
    ]
    assert source["counts"]["memory"] == {"added": 3}


def test_rows_that_are_only_in_the_log_of_a_source_are_taken_and_it_stays_as_it_is(
    tmp_path: Path, taken: Taken
) -> None:
    path = sources.memory_keeper(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    session = connection.execute("SELECT id FROM sessions").fetchone()[0]
    connection.execute(
        "INSERT INTO context_items (id, session_id, key, value) VALUES ('w', ?, 'k', 'in the log')",
        (session,),
    )
    connection.commit()
    beside = {each.name: each.read_bytes() for each in tmp_path.glob("context.db*")}
    assert {"context.db", "context.db-wal"} <= set(beside)
    summary = taken(tmp_path / "memory.db", path)
    assert summary["sources"][0]["counts"]["memory"] == {"added": 5}
    assert {each.name: each.read_bytes() for each in tmp_path.glob("context.db*")} == beside
    connection.close()


def test_what_has_changed_at_the_source_is_changed_here_unless_it_was_changed_here_too(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db, path = tmp_path / "memory.db", sources.jsonl(tmp_path)
    taken(db, path)
    sqlite(db, "UPDATE memories SET content = 'mine' WHERE id = 2")
    changed = (
        path.read_text(encoding="utf-8")
        .replace("3 December", "4 December")
        .replace("审计在十二月", "审计在一月")
    )
    path.write_text(changed, encoding="utf-8")
    summary = taken(db, path)
    assert (summary["updated"], summary["changed_here"]) == (1, 1)
    assert contents(sqlite, db) == ["The audit is on 4 December", "mine"]
    assert (
        sqlite(db, "SELECT content FROM memory_history WHERE memory_id = 1") == "The audit is on 3 December"
    )
    assert summary["sources"][0]["conflicts"] == ["memory 2: changed here and in jsonl: left as it is here"]


def test_what_was_deleted_here_does_not_come_back_until_it_is_erased(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db, path = tmp_path / "memory.db", sources.jsonl(tmp_path)
    taken(db, path)
    sqlite(
        db,
        "INSERT INTO trash (kind, item_id, parts) VALUES ('memory', 1, '{\"memories\": [{\"id\": 1}]}')",
        "DELETE FROM memories WHERE id = 1",
    )
    assert taken(db, path)["deleted"] == 1
    sqlite(db, "DELETE FROM trash")
    assert sqlite(db, "SELECT count(*) FROM origins") == "1"
    assert taken(db, path)["added"] == 1


def test_what_two_sources_say_is_one_memory_with_two_origins(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    db = tmp_path / "memory.db"
    (tmp_path / "a.jsonl").write_text('{"text": "The audit is in May"}\n', encoding="utf-8")
    (tmp_path / "b.csv").write_text("id,note\n1,The audit is in May\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("id,note\n1,Another one is in June\n", encoding="utf-8")
    summary = taken(db, *(tmp_path / name for name in ("a.jsonl", "b.csv", "c.csv")))
    assert (summary["added"], summary["duplicate"], summary["updated"]) == (2, 1, 0)
    assert (
        sqlite(db, "SELECT group_concat(source) FROM (SELECT source FROM origins ORDER BY id)")
        == "jsonl,csv,csv"
    )


def test_a_path_that_is_not_there_and_one_of_no_format_are_named(
    tmp_path: Path, run: Run, taken: Taken
) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "empty").touch()
    taken(tmp_path / "own.db", sources.csv(tmp_path))
    for path, words in (
        (tmp_path / "gone", "There is no file"),
        (tmp_path / "empty", "is empty."),
        (tmp_path / "own.db", f"memory-server merge {tmp_path / 'own.db'}"),
        (tmp_path / "picture", "no format that is known. If it has one of these, name it with --from: "),
    ):
        done = run(tmp_path / "memory.db", "import", path)
        assert done.code == 1
        assert words in done.err
    done = run(tmp_path / "memory.db", "import", sources.csv(tmp_path), "--from", "jsnl")
    assert "Did you mean `jsonl`?" in done.err


def test_a_file_of_claude_code_is_one_memory(tmp_path: Path, taken: Taken, sqlite: Sqlite) -> None:
    folder = sources.claude_code(tmp_path)
    db = tmp_path / "memory.db"
    first = taken(db, folder)
    assert (first["added"], first["refused"]) == (4, 0)
    rows = {json.loads(row["metadata"])["name"]: row for row in memories(sqlite, db)}
    assert {name: (row["type"], row["project"], row["tags"]) for name, row in rows.items()} == {
        "ada": ("preference", None, '["user"]'),
        "release-day": ("decision", "shop", '["project"]'),
        "tabs": ("preference", "shop", '["feedback"]'),
    }
    assert rows["tabs"]["content"] == (
        "Ada wants tabs in Go files.\nUse tabs in Go files.\n\n"
        "**Why:** gofmt does.\n**How to apply:** in each new file, as [[release-day]] says."
    )
    assert rows["release-day"]["content"] == "Releases are on Tuesdays at ten. See [[nothing]]."
    assert rows["ada"]["content"] == "Ada leads the harbour team.\nShe has done so since 2024."
    (edge,) = edges(sqlite, db)
    assert "| related_to | Releases are on Tuesdays" in edge


def test_a_file_of_claude_code_that_changes_changes_its_memory(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    folder = sources.claude_code(tmp_path)
    db = tmp_path / "memory.db"
    taken(db, folder)
    path = folder / "release-day.md"
    path.write_text(
        path.read_text().replace("Tuesdays at ten", "Mondays at noon").replace("on Tuesdays", "on Mondays")
    )
    (folder / "MEMORY.md").write_text("- an index that has changed\n")
    again = taken(db, folder)
    assert (again["added"], again["updated"]) == (0, 1)
    assert "Releases are on Mondays.\nReleases are on Mondays at noon. See [[nothing]]." not in contents(
        sqlite, db
    )
    assert "Releases are on Mondays at noon. See [[nothing]]." in contents(sqlite, db)
    assert len(contents(sqlite, db)) == 3


def test_mem0(tmp_path: Path, taken: Taken, sqlite: Sqlite, exported: Callable[..., str]) -> None:
    """What it says and has said is in its history, who said it in the payloads: what `get_all` answered of the same."""
    db = tmp_path / "memory.db"
    taken(db, sources.mem0(tmp_path))
    assert [
        {name: row[name] for name in ("content", "tags", "metadata", "created_at")}
        for row in memories(sqlite, db)
    ] == [
        {
            "content": "The staging database listens on port 6000",
            "tags": '["staging"]',
            "metadata": '{"role": "user", "category": "infra", "user_id": "ada"}',
            "created_at": "2026-11-26T21:41:04.304Z",
        },
        {
            "content": "周五不发布，发布在周二上午十点。",
            "tags": "[]",
            "metadata": '{"role": "user", "user_id": "ada", "agent_id": "planner"}',
            "created_at": "2026-11-26T21:41:04.316Z",
        },
    ]
    lines = map(json.loads, exported(db).splitlines())
    (changed,) = (line for line in lines if line.get("history"))
    assert [(past["content"], past["replaced_at"]) for past in changed["history"]] == [
        ("The staging database listens on port 5433", "2026-11-26T21:41:04.344Z")
    ]


def point(payload: bytes) -> bytes:
    """Return a pickle of a point, as its opcodes."""
    head = b"cqdrant_client.http.models.models\nPointStruct\n)\x81}(S'__dict__'\n}(S'id'\nS'x'\nS'payload'\n"
    return head + payload + b"uub."


def data(value: bytes) -> bytes:
    return b"}(S'data'\n" + value + b"u"


DOUBLED = b"]" + b"".join(f"p{n}\n0](g{n}\ng{n}\ne".encode() for n in range(60))


def test_a_pickle_of_mem0_runs_nothing(tmp_path: Path, taken: Taken) -> None:
    history = sources.mem0(tmp_path)
    mark = tmp_path / "mark"
    hostile = [
        f"cpathlib\nPath\n(S'{mark}'\ntR.".encode(),
        f"cos\nsystem\n(S'touch {mark}'\ntR.".encode(),
        b"cqdrant_client.http.models.models\nPointStruct.__init__\n.",
        b"\x80\x04]" + b"(" * 50_000,
        b"",
        b"no pickle",
        point(b"I7\n"),
        point(data(b"]p0\ng0\na")),  # a list that holds itself
        point(data(DOUBLED)),  # 60 lists, each with the last one twice
        point(data(b"cqdrant_client.http.models.models\nPointStruct\n)\x81")),
    ]
    connection = sqlite3.connect(next(tmp_path.rglob("storage.sqlite")))
    connection.executemany("INSERT INTO points VALUES (?, ?)", enumerate(hostile))
    connection.commit()
    connection.close()
    (told,) = taken(tmp_path / "memory.db", history)["sources"]
    assert (told["counts"]["memory"], told["counts"]["refused"]) == ({"added": 2}, {"refused": len(hostile)})
    assert not mark.exists()
