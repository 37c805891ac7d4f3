"""A source in each format that is imported, written as its program writes it."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"


def _json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def _text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _database(path: Path, script: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


def server_memory(folder: Path) -> Path:
    """Written by @modelcontextprotocol/server-memory 2026.8.31."""
    written = (FIXTURES / "server-memory.jsonl").read_text(encoding="utf-8")
    return _text(folder / "memory.jsonl", written.removesuffix("\n"))


def memory_service(folder: Path) -> Path:
    """Written by mcp-memory-service 12.4.0 with its vec0 table; 12.2.0 writes the same schema."""
    path = folder / "sqlite_vec.db"
    path.write_bytes(gzip.decompress((FIXTURES / "mcp-memory-service.db.gz").read_bytes()))
    return path


def memory_keeper(folder: Path) -> Path:
    """Written by mcp-memory-keeper 0.14.1; its empty tables are left out."""
    script = (FIXTURES / "mcp-memory-keeper.sql").read_text(encoding="utf-8")
    return _database(folder / "context.db", script)


def claude_mem(folder: Path) -> Path:
    """Written by the store of claude-mem 13.25.3; its queues, its words and its uses of tools are left out."""
    return _database(folder / "claude-mem.db", (FIXTURES / "claude-mem.sql").read_text(encoding="utf-8"))


def earlier_claude_mem(folder: Path) -> Path:
    """By the schema of 2025 in the repository of claude-mem."""
    return _database(
        folder / "claude-mem.db",
        """
        CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT);
        CREATE TABLE observations (
            id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
            type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
            files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
        );
        CREATE TABLE session_summaries (
            id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT UNIQUE NOT NULL, project TEXT NOT NULL,
            request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT,
            files_edited TEXT, notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
        );
        INSERT INTO observations VALUES (1, 'sess-1', 'ledger', NULL, 'bugfix', 'Export repaired', NULL,
            '["The header was missing", "挪威客户受影响"]', 'The export of invoices failed for Norway.', '["export"]',
            '["src/export.py"]', '["src/export.py"]', 1, '2025-10-01T09:00:00.000Z', 1759309200000);
        INSERT INTO session_summaries VALUES (1, 'sess-1', 'ledger', 'Repair the export', 'The exporter',
            'Norway needs a header', 'The export works', 'Write a test', NULL, NULL, NULL,
            '2025-10-01T10:00:00.000Z', 1759312800000);
        """,
    )


def token_saver_database(folder: Path) -> Path:
    """Written by the tools of token-saver-mcp 1.2.0 (jerry426), in the folder /srv/harbour; its words are left out."""
    script = (FIXTURES / "token-saver.sql").read_text(encoding="utf-8")
    return _database(folder / "token-saver.db", script)


def token_saver_export(folder: Path) -> Path:
    """Written by its `export_memories`."""
    return Path(shutil.copy(FIXTURES / "token-saver.json", folder / "memories-2026.json"))


def basic_memory(folder: Path) -> Path:
    """Written by basic-memory 0.24.1, through its server."""
    return Path(shutil.copytree(FIXTURES / "basic-memory", folder / "notes"))


def short_long(folder: Path) -> Path:
    """Written by memory-mcp-server (win10ogod) 0.1.0 as of 2025-11-18."""
    written = FIXTURES / "memory-mcp-server"
    return Path(shutil.copytree(written, folder / "data", ignore=shutil.ignore_patterns("backup.json")))


def earlier_short_long(folder: Path) -> Path:
    """By the source of memory-mcp-server before 2025-11-18, which named the moment `time_stamp`."""
    data = folder / "data" / "my_chat"
    short = {
        "time_stamp": "2025-05-01T10:00:00.000Z", "text": "user: the zebra escaped from 动物园",
        "keywords": [{"word": "zebra", "weight": 9}], "score": 7, "conversation_id": "my chat",
    }  # fmt: skip
    _json(data / "short-term-memory.json", [short])
    trigger = "match_keys(messages, ['birthday', '生日'], 'any')"
    long = {"trigger": trigger, "prompt": "Her birthday is July 17", "name": "birthday"}
    broken = {**long, "name": "broken", "trigger": "match_keys("}
    dates = {"createdAt": "2025-04-01T10:00:00.000Z", "createdContext": "user: hello"}
    _json(data / "long-term-memory.json", [{**long, **dates}, {**broken, **dates}])
    return folder / "data"


def tax(folder: Path) -> Path:
    """By the description in the article."""
    turn = {"message": "I earn 75000 a year", "summary": "The user earns 75000", "embedding": [0.1] * 128}
    memory = {**turn, "timestamp": "2025-12-01T10:00:00Z", "facts": {"annual_income": 75000}}
    return _json(folder / "memories.json", [memory])


def claude(folder: Path) -> Path:
    """By the documentation of the export."""

    def said(id: str, sender: str, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}, {"type": "tool_use", "name": "x"}]
        when = "2025-06-01T10:00:00.123456Z"
        return {
            "uuid": id,
            "sender": sender,
            "text": text,
            "content": content,
            "created_at": when,
            "attachments": [],
        }

    asked, answered = said("m1", "human", "什么是复式记账？"), said("m2", "assistant", "Double entry.")
    named = {"uuid": "c1", "name": "Bookkeeping", "created_at": "2025-06-01T10:00:00Z"}
    conversation = {**named, "chat_messages": [asked, answered, said("m3", "human", "Thanks")]}
    _json(folder / "export" / "conversations.json", [conversation])
    return folder / "export"


def chatgpt(folder: Path) -> Path:
    """By the documentation of the export: a tree of messages, of which one branch was shown last."""

    def node(id: str, parent: str | None, role: str, text: str, children: list[str]) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        message = {"id": id, "author": {"role": role}, "create_time": 1748772000.5, "content": content}
        return {"id": id, "message": message, "parent": parent, "children": children}

    mapping = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": node("a", "root", "user", "Name a port", ["b", "c"]),
        "b": node("b", "a", "assistant", "The first answer, regenerated", []),
        "c": node("c", "a", "assistant", "5433", ["d"]),
        "d": node("d", "c", "user", "Thanks", []),
    }
    named = {"title": "Ports", "create_time": 1748772000.5, "conversation_id": "g1"}
    return _json(folder / "conversations.json", [{**named, "mapping": mapping, "current_node": "d"}])


def bullets(folder: Path) -> Path:
    return _text(
        folder / "CLAUDE.md",
        "# Ledger\n\nA service for bookkeeping.\n\n## Code style\n\n- Use 4 spaces\n- Name tests as sentences,\n"
        "  because people read them\n  - also in Chinese\n\n## 约定\n\n1. 周五不发布\n\n```bash\nmake test\n```\n",
    )


def jsonl(folder: Path) -> Path:
    lines = [
        {
            "id": "n1",
            "text": "The audit is on 3 December",
            "tags": ["audit"],
            "date": "2025-01-02",
            "mood": "calm",
        },
        {"id": "n2", "text": "审计在十二月", "type": "decision", "author": "Ann"},
        {"id": "n3"},
    ]
    return _text(
        folder / "notes.jsonl", "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines)
    )


def csv(folder: Path) -> Path:
    return _text(
        folder / "notes.csv",
        'Note;Tags;Date;Importance;Project\n"Port 5433; for staging";db,staging;2025-01-02;8;ledger\n周五不发布;;;;\n',
    )


def transcript(folder: Path) -> Path:
    """Written by Claude Code 2.1.330, without its requests to the model."""
    shutil.copytree(FIXTURES / "transcripts/claude-code", folder, dirs_exist_ok=True)
    return folder


def opencode(folder: Path) -> Path:
    """Written by opencode 1.18.33, with a stand-in for the model; its empty tables are left out."""
    script = (FIXTURES / "transcripts/opencode/opencode.sql").read_text(encoding="utf-8")
    _database(folder / "opencode.db", script)
    return folder


def gemini(folder: Path) -> Path:
    """Written by Gemini CLI 0.61.0, with a stand-in for the model."""
    shutil.copytree(FIXTURES / "transcripts/gemini", folder, dirs_exist_ok=True)
    return folder / "tmp"


def cursor(folder: Path) -> Path:
    """By two public descriptions of its files each, which the fixture names; a session is of an older version, whose
    folder the workspace tells.
    """
    storage = folder / "User/globalStorage"
    storage.mkdir(parents=True)
    script = (FIXTURES / "transcripts/cursor/state.sql").read_text(encoding="utf-8")
    _database(storage / "state.vscdb", script)
    workspace = folder / "User/workspaceStorage/ws0"
    _json(workspace / "workspace.json", {"folder": "file:///srv/light%20house"})
    known = json.dumps({"allComposers": [{"composerId": "6f1c0d52-0002-4a77-9f6d-2b9d3a6a7e02"}]})
    _database(
        workspace / "state.vscdb",
        "CREATE TABLE ItemTable (key TEXT, value BLOB);"
        f"INSERT INTO ItemTable VALUES ('composer.composerData', '{known}');",
    )
    return folder / "User"


def cursor_agent(folder: Path) -> Path:
    """By docs/registry/cursor.md of vshulcz/deja-vu, whose author read files of Cursor's own, and the adapter of
    another reader of version 2026.07.20: no dates, no exit codes, `<user_query>` around what the person typed.
    """
    path = folder / "projects/srv-shop/agent-transcripts/a1/a1.jsonl"
    path.parent.mkdir(parents=True)
    _json(path.parents[2] / ".workspace-trusted", {"trustedAt": "2026-08-02", "workspacePath": "/srv/shop"})

    def line(role: str, *blocks: dict[str, Any]) -> str:
        return json.dumps({"role": role, "message": {"content": list(blocks)}}, ensure_ascii=False) + "\n"

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    def tool(name: str, **arguments: str) -> dict[str, Any]:
        return {"type": "tool_use", "name": name, "input": arguments}

    _text(
        path,
        line(
            "user",
            text("<timestamp>Monday</timestamp>\n<user_query>\nFix the invoice exporter\n</user_query>"),
        )
        + line(
            "assistant",
            text("I look."),
            tool("Shell", command="pytest -q"),
            tool("Write", path="/srv/shop/invoice.py"),
        )
        + '{"type": "turn_ended", "status": "success"}\n'
        + line("user", text("<user_query>\n灯塔是什么颜色？\n</user_query>"))
        + line("assistant", text("灯塔是红色的。")),
    )
    subagent = path.parent / "subagents/s1.jsonl"
    _text(subagent, line("user", text("the task of a subagent")))
    return folder / "projects"


def claude_code(folder: Path) -> Path:
    """By the system prompt of Claude Code 2.1.330, which says how a memory is written."""
    memory = folder / "projects/-srv-shop/memory"
    _text(
        memory / "tabs.md",
        "---\nname: tabs\ndescription: Ada wants tabs in Go files\nmetadata:\n  type: feedback\n---\n\n"
        "Use tabs in Go files.\n\n**Why:** gofmt does.\n**How to apply:** in each new file, as [[release-day]] says.\n",
    )
    _text(
        memory / "release-day.md",
        "---\nname: release-day\ndescription: 'Releases are on Tuesdays'\nmetadata:\n  type: project\n---\n"
        "Releases are on Tuesdays at ten. See [[nothing]].\n",
    )
    _text(
        memory / "ada.md",
        "---\nname: ada\ndescription: Ada leads the harbour team\ntype: user\n---\nShe has done so since 2024.\n",
    )
    _text(
        memory / "MEMORY.md", "- [Tabs](tabs.md) — in Go files\n- [Release day](release-day.md) — Tuesdays\n"
    )
    shutil.copy(next(FIXTURES.glob("transcripts/claude-code/projects/*/*.jsonl")), memory.parent)
    return memory


def letta(folder: Path) -> Path:
    """Written by the classes of letta 0.16.8 (AgentFileSchema), with what its `system.py` packs; its server needs
    PostgreSQL.
    """
    return Path(shutil.copy(FIXTURES / "letta.af", folder / "ana.af"))


def mem0(folder: Path) -> Path:
    """Written by mem0ai 2.2.1 with qdrant in files and a stub embedder: three `add`, an `update`, a `delete`."""
    store = folder / "qdrant/collection/memories"
    store.mkdir(parents=True)
    for name, database in (("history.sql", folder / "history.db"), ("points.sql", store / "storage.sqlite")):
        _database(database, (FIXTURES / "mem0" / name).read_text(encoding="utf-8"))
    return folder / "history.db"


def text(folder: Path) -> Path:
    return _text(folder / "notes.txt", "The ferry leaves at nine.\n\n渡轮九点出发，\n周日不开。\n")


SOURCES: dict[str, Callable[[Path], Path]] = {
    "server-memory": server_memory,
    "mcp-memory-service": memory_service,
    "mcp-memory-keeper": memory_keeper,
    "claude-mem": claude_mem,
    "token-saver": token_saver_database,
    "basic-memory": basic_memory,
    "memory-mcp-server": short_long,
    "transcript": transcript,
    "claude-code": claude_code,
    "tax-memories": tax,
    "claude": claude,
    "chatgpt": chatgpt,
    "markdown": bullets,
    "jsonl": jsonl,
    "csv": csv,
    "letta": letta,
    "mem0": mem0,
    "text": text,
}
"""By the name of the format."""

SESSIONS: dict[str, Callable[[Path], Path]] = {
    "opencode": opencode,
    "gemini-cli": gemini,
    "cursor": cursor,
    "cursor-agent": cursor_agent,
}
"""Transcripts that are read whole, by their client."""
