"""What stands in a source is taken over or listed: nothing is lost in silence."""

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_server.importing.values import hashed
from memory_server.transfer.origins import digest
from tests import warm
from tests.conftest import ROOT, Sqlite
from tests.exchange import sources
from tests.exchange.conftest import Run

Taken = Callable[..., dict[str, Any]]


@pytest.fixture
def kept(tmp_path: Path, taken: Taken, exported: Callable[..., str]) -> Callable[..., list[dict[str, Any]]]:
    """`kept(path)` imports a path into an empty file; the records that it has then, but projects."""

    def kept(path: Path) -> list[dict[str, Any]]:
        taken(tmp_path / "memory.db", path)
        lines = map(json.loads, exported(tmp_path / "memory.db").splitlines()[1:])
        return [line for line in lines if line["kind"] != "project"]

    return kept


Kept = Callable[[Path], list[dict[str, Any]]]

NOTE = """---
created: 2025-03-14
tags: [person, 同事]
aliases: Anja
---
# Anja Holm

- lives in [[Bergen]] since 2019 #moved
- [x] send the contract
- [ ] call back

## Ports

| Name | Port |
| --- | --- |
| staging | 5433 |
| production | 5434 |
"""


def test_a_note_keeps_its_subject_dates_tags_links_tasks_and_the_rows_of_its_tables(
    tmp_path: Path, kept: Kept
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Anja.md").write_text(NOTE, "utf-8")
    (vault / "Bergen.md").write_text("A harbour in Norway\n", "utf-8")
    records = kept(vault)
    memories = {record["content"]: record for record in records if record["kind"] == "memory"}
    assert set(memories) == {
        "Anja Holm: lives in [[Bergen]] since 2019 #moved",
        "Anja Holm: [x] send the contract",
        "Anja Holm: [ ] call back",
        "Anja Holm: Ports: Name: staging; Port: 5433",
        "Anja Holm: Ports: Name: production; Port: 5434",
        "Bergen: A harbour in Norway",
    }
    first = memories["Anja Holm: lives in [[Bergen]] since 2019 #moved"]
    assert first["tags"] == ["person", "同事", "moved"]
    assert first["created_at"] == "2025-03-14T00:00:00.000Z"
    assert first["metadata"] == {"file": "Anja.md", "aliases": "Anja"}
    assert memories["Anja Holm: [x] send the contract"]["tags"] == ["person", "同事", "done"]
    (edge,) = (record for record in records if record["kind"] == "edge")
    assert (edge["source"], edge["target"]) == (first["id"], memories["Bergen: A harbour in Norway"]["id"])


def test_a_file_of_instructions_has_no_subject_and_what_was_imported_before_is_known_again(
    tmp_path: Path, taken: Taken, sqlite: Sqlite
) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_text("# CLAUDE.md\n\n## Style\n\n- Use 4 spaces\n", "utf-8")
    note = tmp_path / "Anja.md"
    note.write_text("- lives in Bergen\n", "utf-8")
    db = tmp_path / "memory.db"
    for source in (path, note):
        taken(db, source)
    assert sqlite(db, "SELECT content FROM memories ORDER BY id").split("\n") == [
        "Style: Use 4 spaces",
        "Anja: lives in Bergen",
    ]
    # As an earlier program has known them: by a digest of the text, without a place.
    sqlite(db, "UPDATE memories SET content = 'lives in Bergen' WHERE id = 2; UPDATE origins SET place = ''")
    for id, text in ((1, "Style: Use 4 spaces"), (2, "lives in Bergen")):
        sqlite(
            db,
            f"UPDATE origins SET source_id = '{hashed(text)}', digest = '{digest(text)}' WHERE item_id = {id}",
        )
    first, second = taken(db, path), taken(db, note)
    assert (first["added"], first["updated"], first["present"]) == (0, 0, 1)
    assert (second["added"], second["updated"]) == (0, 1)
    assert taken(db, note)["present"] == 1


def test_dates_with_points_and_what_is_no_date(tmp_path: Path, kept: Kept) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("text;date\nThe audit;14.03.2025\nThe fair;3.4.2025 09:30\nThe rest;some day\n", "utf-8")
    audit, fair, rest = kept(path)
    assert audit["created_at"] == "2025-03-14T00:00:00.000Z"
    assert fair["created_at"] == "2025-04-03T09:30:00.000Z"
    assert rest["metadata"] == {"date": "some day"}


def test_what_mem0_answers(tmp_path: Path, run: Run, taken: Taken, exported: Callable[..., str]) -> None:
    answer = {
        "results": [
            {
                "id": "0c9b8b3a-1111-4222-8333-444455556666",
                "memory": "Likes tea",
                "categories": ["food"],
                "created_at": "2025-03-14T09:26:53-07:00",
                "user_id": "ana",
            }
        ],
        "relations": [{"source": "ana", "relationship": "likes", "target": "tea"}],
    }
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(answer), "utf-8")
    done = taken(tmp_path / "memory.db", path)
    assert done["sources"][0]["refused_items"] == [
        {"where": "relation 1", "why": "its ends are no memories: ana likes tea"}
    ]
    memory = json.loads(exported(tmp_path / "memory.db").splitlines()[-1])
    assert (memory["content"], memory["tags"], memory["metadata"]) == (
        "Likes tea",
        ["food"],
        {"user_id": "ana"},
    )
    assert memory["created_at"] == "2025-03-14T16:26:53.000Z"


@pytest.mark.parametrize("coding", ["gbk", "utf-16", "utf-8-sig"])
def test_chinese_in_other_codings(coding: str, tmp_path: Path, kept: Kept) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes("内容,标签\n生产环境每周二上午十点发布。,发布\n端口是5433,数据库\n".encode(coding))
    assert [(record["content"], record["tags"]) for record in kept(path)] == [
        ("生产环境每周二上午十点发布。", ["发布"]),
        ("端口是5433", ["数据库"]),
    ]


def test_latin_letters_are_not_taken_for_chinese(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("Größe und Maße der Straße".encode("latin-1"))
    done = run(tmp_path / "memory.db", "import", path)
    assert "is not UTF-8" in done.err
    assert done.code == 1


def test_standard_input(tmp_path: Path, user_folders: dict[str, str], exported: Callable[..., str]) -> None:
    db = tmp_path / "memory.db"
    for number, said in enumerate(
        ("Ships on Tuesday\n\n周五不发布\n", '{"text": "From JSON"}\n', '{"text": "From JSON"}\n')
    ):
        done = subprocess.run(
            warm.program("import", "-", "--json", "--db", str(db), "--embedder", "hashing"),
            input=said, capture_output=True, text=True, encoding="utf-8", check=False, cwd=tmp_path, timeout=120,
            env={**user_folders, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        summary = json.loads(done.stdout)
        assert (summary["added"], summary["ended"]) == ((2, 0), (1, 0), (0, 0))[number]
        assert summary["sources"][0]["path"] == "-"
    assert exported(db).count('"kind": "memory"') == 3


def test_claude_mem_keeps_prompts_and_subtitles(tmp_path: Path, sqlite: Sqlite, kept: Kept) -> None:
    path = sources.earlier_claude_mem(tmp_path)
    sqlite(
        path,
        "CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER,"
        " prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);"
        "ALTER TABLE sdk_sessions ADD COLUMN content_session_id TEXT;"
        "INSERT INTO sdk_sessions VALUES (1, 'sess-1', 'ledger', 'c-1');"
        "INSERT INTO user_prompts VALUES (1, 'c-1', 1, '修好导出', '2025-10-01T08:00:00.000Z', 1759305600000);"
        "UPDATE observations SET subtitle = 'For Norway alone'",
    )
    records = kept(path)
    (turn,) = (record for record in records if record["kind"] == "turn")
    assert (turn["message"], turn["project"], turn["session"]) == ("user: 修好导出", "ledger", "c-1")
    assert turn["created_at"] == "2025-10-01T08:00:00.000Z"
    assert any(
        "Export repaired: For Norway alone: The export" in record.get("content", "") for record in records
    )


def test_what_claude_remembers_and_the_projects_of_an_account(tmp_path: Path, kept: Kept) -> None:
    memories = [
        {
            "conversations_memory": "**Work context**\n\nAna builds a ledger.\n\n**Personal**\n\n喜欢喝茶。",
            "project_memories": {"p-1": "The ledger ships on Tuesday."},
            "account_uuid": "a-1",
        }
    ]
    docs = [
        {
            "uuid": "d-1",
            "filename": "ports.md",
            "content": "Staging: 5433",
            "created_at": "2025-05-01T00:00:00Z",
        }
    ]
    projects = [
        {
            "uuid": "p-1",
            "name": "Ledger",
            "description": "Books of the harbour",
            "prompt_template": "Answer in Norwegian",
            "docs": docs,
            "created_at": "2025-04-01T00:00:00Z",
        }
    ]
    path = tmp_path / "data-2025.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("memories.json", json.dumps(memories))
        file.writestr("projects.json", json.dumps(projects))
        file.writestr("users.json", "[]")
    said = {record["content"]: record.get("project") for record in kept(path)}
    assert said == {
        "Work context: Ana builds a ledger.": None,
        "Personal: 喜欢喝茶。": None,
        "The ledger ships on Tuesday.": "Ledger",
        "Ledger: Books of the harbour": "Ledger",
        "Instructions: Answer in Norwegian": "Ledger",
        "ports.md\nStaging: 5433": "Ledger",
    }


def test_an_edge_to_what_was_left_out_is_listed_with_the_reason(tmp_path: Path, taken: Taken) -> None:
    folder = tmp_path / "-srv-shop/memory"
    folder.mkdir(parents=True)
    header = "---\nname: {0}\ntype: project\n---\n"
    (folder / "a.md").write_text(header.format("a") + "Releases are on Tuesdays, see [[b]]\n")
    (folder / "b.md").write_text(
        header.format("b") + f"The key is {'ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}\n"
    )
    (source,) = taken(tmp_path / "memory.db", folder)["sources"]
    assert source["counts"]["edge"]["refused"] == 1
    (_, edge) = source["refused_items"]
    assert edge["where"] == f"edge {folder / 'a.md'} related_to {folder / 'b.md'}"
    assert edge["why"] == "one of its two memories was not taken over"


def test_an_agent_file_of_letta(tmp_path: Path, taken: Taken, exported: Callable[..., str]) -> None:
    done = taken(tmp_path / "memory.db", sources.letta(tmp_path))
    assert done["sources"][0]["refused_items"] == [{"where": "block 2", "why": "is empty"}]
    ana, bo, ports, *turns = (json.loads(line) for line in exported(tmp_path / "memory.db").splitlines()[1:])
    assert (ana["content"], ana["type"]) == ("human: Ana lives in Hamburg", "preference")
    assert ana["metadata"] == {"room": "kitchen", "description": "Who the user is", "agent": "ana"}
    assert (bo["content"], bo["metadata"]) == ("human: Bo runs the servers", {"agent": "ops"})
    assert ports["content"] == "ports.md\nStaging listens on 5433."
    assert [(turn["message"], turn["created_at"]) for turn in turns] == [
        ("user: 我住在汉堡\nassistant: Noted: Hamburg 已记下", "2026-11-26T21:02:00.000Z"),
        ("user: Which port has staging?\nassistant: Port 5433.", "2026-11-26T21:05:00.000Z"),
    ]


def test_an_agent_file_of_an_earlier_letta(
    tmp_path: Path, taken: Taken, exported: Callable[..., str]
) -> None:
    """One agent with its blocks and plain texts: by the AgentSchema of 2025 in its repository."""
    said = [
        {"role": "system", "content": [{"type": "text", "text": "You are Letta"}]},
        {"role": "user", "content": "我住在汉堡", "created_at": "2025-03-14T09:26:53Z"},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted: Hamburg"}]},
    ]
    file = tmp_path / "ana.af"
    block = {"label": "human", "value": "Ana lives in Hamburg"}
    file.write_text(json.dumps({"name": "ana", "core_memory": [block], "messages": said}), "utf-8")
    taken(tmp_path / "memory.db", file)
    memory, turn = (json.loads(line) for line in exported(tmp_path / "memory.db").splitlines()[1:])
    assert memory["content"] == "human: Ana lives in Hamburg"
    assert turn["message"] == "user: 我住在汉堡\nassistant: Noted: Hamburg"


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl", "half.json", "nul.txt", "half.af", "empty.txt"])
def test_a_hostile_or_half_file_is_one_line_of_error_and_nothing_written(
    name: str, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / name
    path.write_bytes(
        {
            "deep.json": b"[" * 200_000,
            "deep.jsonl": b'{"results": ' + b"[" * 200_000,
            "half.json": b'{"results": [{"memory": "Likes tea"}, {"mem',
            "nul.txt": b"\0" * 5_000,
            "half.af": b'{"agents": [{"name": "a", "messages": [',
            "empty.txt": b"",
        }[name]
    )
    done = run(tmp_path / "memory.db", "import", path)
    assert (done.out, done.code) == ("", 1)
    assert len(done.err.strip().splitlines()) <= 2
    assert "Traceback" not in done.err
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.parametrize(
    "value",
    [
        {"agents": ["x", {"messages": 3, "core_memory": {"a": 1}}], "blocks": 7},
        {"core_memory": [1], "messages": {"role": "user"}},
        {"results": [{"memory": "Likes tea"}, 3, None], "relations": 5},
        [{"conversations_memory": 3, "project_memories": [1], "memory_files": 2}],
        [{"uuid": "p", "name": "Ledger", "docs": [3], "description": {}}],
    ],
)
def test_what_has_other_types_than_expected_is_listed_or_left(value: Any, tmp_path: Path, run: Run) -> None:
    (tmp_path / "memories.json").write_text(json.dumps(value), "utf-8")
    done = run(tmp_path / "memory.db", "import", tmp_path / "memories.json")
    assert "Traceback" not in done.err + done.out
    assert done.code in (0, 1)
