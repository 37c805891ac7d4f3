"""Sessions of opencode: a SQLite file in its data folder; before version 1.2, JSON files below `storage`.

What it puts into a message itself is marked as synthetic, and a subagent's session has a parent: both are left out, and
so are its own summaries and what the person has taken back.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Refusal
from memory_server.importing.session import LONGEST, Message, Session, object_of, text_of
from memory_server.importing.values import moment
from memory_server.sqlite import foreign

_SESSIONS = """
SELECT id, CAST(directory AS BLOB), CASE WHEN json_valid(revert) THEN json_extract(revert, '$.messageID') END
FROM session
WHERE parent_id IS NULL AND id = ifnull(:session, id)
ORDER BY time_updated DESC
"""

_PARTS = """
SELECT
    m.id,
    CAST(CASE
        WHEN json_valid(m.data) THEN json_object(
            'role', json_extract(m.data, '$.role'), 'time', json_extract(m.data, '$.time'),
            'summary', json(CASE json_type(m.data, '$.summary') WHEN 'true' THEN 'true' ELSE 'false' END)
        )
    END AS BLOB),
    CAST(CASE
        WHEN p.data IS NULL THEN '{}'
        WHEN length(p.data) <= :most AND json_valid(p.data) THEN json_object(
            'type', json_extract(p.data, '$.type'), 'text', json_extract(p.data, '$.text'),
            'synthetic', json_extract(p.data, '$.synthetic'), 'ignored', json_extract(p.data, '$.ignored'),
            'tool', json_extract(p.data, '$.tool'), 'files', json_extract(p.data, '$.files'),
            'state', json_object(
                'status', json_extract(p.data, '$.state.status'), 'input', json_extract(p.data, '$.state.input'),
                'metadata', json_object('exit', json_extract(p.data, '$.state.metadata.exit'))
            )
        )
    END AS BLOB),
    ifnull(length(p.data), 0)
FROM message AS m
LEFT JOIN part AS p ON p.message_id = m.id
WHERE m.session_id = :session
ORDER BY m.time_created, m.id, p.id
"""
"""The output of a tool, which is most of a part, stays in the file."""

_WRITES = frozenset(["edit", "write", "multiedit"])

Part = tuple[object, object, object, int]
"""The id of its message, what is told of that, the part itself, and the size of it. Both are JSON."""


def fits(path: Path) -> bool:
    database = _database(path)
    if database is not None:
        return {"session", "message", "part"} <= foreign.names(database)
    return bool(_databases(path)) or (path / "storage/session").is_dir()


def read(path: Path) -> Iterator[Session | Refusal]:
    """Yield the sessions of a file, or of the data folder, the newest first; or one of a file, whose id ends the path.

    A database has the sessions of `storage` too.
    """
    database = _database(path)
    databases = _databases(path) if database is None else [database]
    for file in databases:
        yield from _of_database(file, None if file != path.parent else path.name)
    if not databases:
        yield from _of_files(path / "storage")


def _database(path: Path) -> Path | None:
    """Return the file that a path names, or in which it names a session."""
    return next((file for file in (path, path.parent) if file.is_file()), None)


def _databases(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("opencode*.db") if file.is_file())


def _of_database(path: Path, session: str | None) -> Iterator[Session]:
    with foreign.in_place(path) as rows:
        for id, folder, reverted in rows(_SESSIONS, {"session": session}):
            parts: list[Part] = rows(_PARTS, {"session": id, "most": LONGEST})
            name = bytes(folder or b"").decode("utf-8", "replace")
            yield Session(
                path / str(id), "opencode", str(id), name, _messages(str(id), parts, str(reverted or ""))
            )


def _of_files(storage: Path) -> Iterator[Session | Refusal]:
    """Yield the sessions that lie in files: one for the session, for each message, and for each part of a message."""
    files = sorted(storage.glob("session/*/*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files:
        session = object_of(file.read_bytes())
        if session is None:
            yield Refusal(f"session {file.stem}", "cannot be read")
        elif not session.get("parentID"):
            reverted = text_of(object_of(session.get("revert")) or {}, "messageID")
            parts = _parts_of_files(storage, file.stem)
            yield Session(
                file,
                "opencode",
                file.stem,
                text_of(session, "directory"),
                _messages(file.stem, parts, reverted),
            )


def _parts_of_files(storage: Path, session: str) -> Iterator[Part]:
    for file in sorted((storage / "message" / session).glob("*.json")):
        about = file.read_bytes()
        parts = sorted((storage / "part" / file.stem).glob("*.json"))
        for part in parts:
            yield file.stem, about, part.read_bytes(), part.stat().st_size


def _messages(session: str, parts: Iterable[Part], reverted: str) -> Iterator[Message | Refusal]:
    """Yield the messages of a session until the one that the person has taken back."""
    message: Message | None = None
    for id_there, about, data, size in parts:
        id = str(id_there)
        if reverted and id >= reverted:
            break
        of_message, part = object_of(about), object_of(data)
        if of_message is None or part is None:
            yield Refusal(f"message {id} of session {session}", "cannot be read")
            continue
        if message is None or message.id != id:
            if message is not None:
                yield message
            time = of_message.get("time")
            message = Message(
                id,
                "" if of_message.get("summary") is True else text_of(of_message, "role"),
                moment(time.get("created") if isinstance(time, dict) else None),
            )
        _add(message, part, size)
    if message is not None:
        yield message


def _add(message: Message, part: dict[str, Any], size: int) -> None:
    """Add a part of a message: what it says, a command, or the files that it changes."""
    message.size += size
    state = object_of(part.get("state")) or {}
    arguments = object_of(state.get("input")) or {}
    tool, files = text_of(part, "tool"), part.get("files")
    match part.get("type"):
        case "text" if not part.get("synthetic") and not part.get("ignored"):
            message.texts += filter(None, [text_of(part, "text").strip()])
        case "tool" if tool == "bash" and text_of(arguments, "command").strip():
            message.commands.append((text_of(arguments, "command"), _exit(state)))
        case "tool" if tool in _WRITES:
            message.files += filter(None, [text_of(arguments, "filePath")])
        case "patch" if isinstance(files, list):
            message.files += [file for file in files if isinstance(file, str)]


def _exit(state: dict[str, Any]) -> str:
    code = (object_of(state.get("metadata")) or {}).get("exit")
    return str(code) if isinstance(code, int) else "failed" if state.get("status") == "error" else ""
