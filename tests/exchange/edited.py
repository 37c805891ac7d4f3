"""Each source of `sources` with one entry edited and one removed, as its program would do it."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _replaced(*pairs: tuple[str, str], name: str = "") -> Callable[[Path], None]:
    """Return an edit that replaces texts in a file; `name` is that of the file in a folder."""

    def edit(path: Path) -> None:
        file = path / name if name else path
        text = file.read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")

    return edit


def _by_sql(script: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.close()

    return edit


def _by_key(change: Callable[[Any], None], name: str = "") -> Callable[[Path], None]:
    """Return an edit that changes the value of a JSON file."""

    def edit(path: Path) -> None:
        file = path / name if name else path
        value = json.loads(file.read_text(encoding="utf-8"))
        change(value)
        file.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")

    return edit


def _without_file(edit: Callable[[Path], None], name: str) -> Callable[[Path], None]:
    def edit_and_remove(path: Path) -> None:
        edit(path)
        (path / name).unlink()

    return edit_and_remove


def _short_long(path: Path) -> None:
    """Do what `update_long_term_memory` and `delete_short_term_memories` of the program do."""

    def update(memories: list[dict[str, Any]]) -> None:
        memories[1] |= {"prompt": "周四和周五不发布", "updatedAt": "2026-11-27T00:48:28.994Z"}

    _by_key(update, "my-chat/long-term-memory.json")(path)
    _by_key(lambda memories: memories.pop(0), "my-chat/short-term-memory.json")(path)


def earlier_short_long(path: Path) -> None:
    _replaced(("zebra escaped", "zebra has escaped"), name="my_chat/short-term-memory.json")(path)
    _by_key(list.clear, "my_chat/long-term-memory.json")(path)


def _tax(value: list[dict[str, Any]]) -> None:
    value[0]["message"] = "I earn 76000 a year"
    del value[0]["facts"]


def _claude(value: list[dict[str, Any]]) -> None:
    messages = value[0]["chat_messages"]
    messages[1]["content"][0]["text"] = "Each amount is written twice."
    del messages[2]


def _chatgpt(value: list[dict[str, Any]]) -> None:
    value[0]["mapping"]["c"]["message"]["content"]["parts"] = ["5434"]
    value[0]["current_node"] = "c"


def _jsonl(path: Path) -> None:
    """Leave the first line alone: nothing ends in a file that has a line without a text."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{first.replace('3 December', '4 December')}\n", encoding="utf-8")


def _letta(value: dict[str, Any]) -> None:
    value["blocks"][0]["value"] = "Ana lives in Bremen"
    value["agents"][0]["messages"] = value["agents"][0]["messages"][:1]


EDITS: dict[str, Callable[[Path], None]] = {
    "server-memory": _replaced(("Ships every Tuesday", "Ships every Friday"), ('"Written in Rust",', "")),
    "mcp-memory-service": _by_sql(
        """
        PRAGMA writable_schema = 1;
        DROP TRIGGER memories_fts_au;
        UPDATE memories
        SET content = 'The staging database listens on port 6000', content_hash = '6000', updated_at = updated_at + 60
        WHERE id = 1;
        UPDATE memories SET deleted_at = updated_at + 60 WHERE id = 2;
        """
    ),
    "mcp-memory-keeper": _by_sql(
        """
        UPDATE context_items SET value = 'We use PostgreSQL 18 for the ledger' WHERE key = 'db_choice';
        DELETE FROM context_items WHERE key = 'bug';
        """
    ),
    "claude-mem": _by_sql(
        """
        UPDATE observations SET narrative = 'The export of invoices failed for Sweden.' WHERE id = 1;
        DELETE FROM session_summaries;
        """
    ),
    "token-saver": _by_sql(
        """
        UPDATE memories SET value = '{"description":"move the archive","progress":10}' WHERE key = 'current.task';
        DELETE FROM memories WHERE key = 'flag';
        """
    ),
    "basic-memory": _without_file(
        _replaced(("水温九十三度", "水温九十五度"), name="coffee/Coffee Brewing Methods.md"),
        "notes/2026/Search- what's -new.md",
    ),
    "memory-mcp-server": _short_long,
    "claude-code": _without_file(_replaced(("at ten", "at nine"), name="release-day.md"), "ada.md"),
    "tax-memories": _by_key(_tax),
    "claude": _by_key(_claude, "conversations.json"),
    "chatgpt": _by_key(_chatgpt),
    "markdown": _replaced(
        ("Use 4 spaces", "Use 2 spaces"),
        ("- Name tests as sentences,\n  because people read them\n  - also in Chinese\n", ""),
    ),
    "jsonl": _jsonl,
    "csv": _replaced(("Port 5433", "Port 5434"), ("周五不发布;;;;\n", "")),
    "letta": _by_key(_letta),
    "mem0": _by_sql(
        """
        INSERT INTO history SELECT 'u', memory_id, new_memory, 'The staging database listens on port 6001', 'UPDATE',
            created_at, '2026-11-27T08:00:00.000000+00:00', 0, actor_id, role FROM history WHERE event = 'UPDATE';
        INSERT INTO history SELECT 'd', memory_id, new_memory, NULL, 'DELETE', created_at,
            '2026-11-27T08:00:01.000000+00:00', 1, actor_id, role FROM history WHERE new_memory LIKE '周五%';
        """
    ),
    "text": _replaced(("渡轮九点出发", "渡轮十点出发"), ("The ferry leaves at nine.\n\n", "")),
}
"""By the name of the format."""


def _gemini(path: Path) -> None:
    """Write the last line of a message anew, and take another back, as the program does."""
    file = next(path.rglob("session-*.jsonl"))
    lines = list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))
    said = {line["id"]: line for line in lines if line.get("type") in ("user", "gemini")}
    first = next(line for line in said.values() if line["type"] == "gemini" and line["content"])
    more = [{**first, "content": "It rounds to even now."}, {"$rewindTo": list(said)[-1]}]
    with file.open("a", encoding="utf-8") as log:
        log.writelines(json.dumps(line) + "\n" for line in more)


def _cursor_agent(path: Path) -> None:
    file = next(path.rglob("a1.jsonl"))
    *lines, _ = file.read_text(encoding="utf-8").splitlines(True)
    file.write_text("".join(lines).replace("I look.", "I look again."), encoding="utf-8")


def _in(name: str, edit: Callable[[Path], None]) -> Callable[[Path], None]:
    return lambda path: edit(path / name)


EDITS_OF_SESSIONS: dict[str, Callable[[Path], None]] = {
    "opencode": _in(
        "opencode.db",
        _by_sql(
            """
            UPDATE part SET data = replace(data, 'rounds half up now', 'rounds to even now');
            DELETE FROM message WHERE id = (
                SELECT max(m.id) FROM message AS m WHERE json_extract(m.data, '$.role') = 'assistant'
            );
            """
        ),
    ),
    "gemini-cli": _gemini,
    "cursor": _in(
        "globalStorage/state.vscdb",
        _by_sql(
            """
            UPDATE cursorDiskKV SET value = replace(value, 'rounds half up now', 'rounds to even now');
            DELETE FROM cursorDiskKV WHERE key LIKE '%:b8';
            """
        ),
    ),
    "cursor-agent": _cursor_agent,
}
"""By the client: a reply is edited, another one is gone."""
