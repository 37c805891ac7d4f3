"""Sessions of Cursor: those of the editor in `state.vscdb`, and those of `cursor-agent` in a file of lines each.

The editor keeps JSON by key in the table `cursorDiskKV`: `composerData:SESSION` lists the messages of a session, and
`bubbleId:SESSION:MESSAGE` is one; type 1 is the person. Where the table `composerHeaders` has no folder for a session,
`workspaceStorage` may name it. Layout after docs/cursor/storage-reference.md of michaeldhood/chatrxiv,
docs/vscdbRelation.md of pppp606/cursor-efficiency, and docs/registry/cursor.md of vshulcz/deja-vu.

The lines of `projects/NAME/agent-transcripts` tell no dates and no exit codes. The editor writes them too, so a session
that its database has is read there.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from memory_server.domain.exchange.records import Refusal
from memory_server.importing.opened import leads_out
from memory_server.importing.session import LONGEST, Message, Session, blocks_of, object_of, text_of
from memory_server.importing.values import file_moment, moment, objects
from memory_server.sqlite import foreign

Rows = Callable[..., list[Any]]

USER_FOLDERS = (
    ".config/Cursor/User",
    "Library/Application Support/Cursor/User",
    "AppData/Roaming/Cursor/User",
)
"""Where the editor keeps what belongs to its user, on Linux, macOS and Windows, from the home folder on."""

DATABASE, TRANSCRIPTS = "globalStorage/state.vscdb", "agent-transcripts"

_NEWEST = """
SELECT substr(key, 14)
FROM cursorDiskKV
WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL
ORDER BY CASE WHEN json_valid(value) THEN json_extract(value, '$.lastUpdatedAt') END DESC
"""

_WITH_MESSAGES = """
SELECT substr(key, 14)
FROM cursorDiskKV AS composer
WHERE key >= 'composerData:' AND key < 'composerData;' AND EXISTS (
    SELECT 1
    FROM cursorDiskKV AS bubble
    WHERE bubble.key >= 'bubbleId:' || substr(composer.key, 14) || ':'
        AND bubble.key < 'bubbleId:' || substr(composer.key, 14) || ';'
)
"""

_VALUE = "SELECT CAST(value AS BLOB) FROM {} WHERE key = :key AND length(value) <= :most"

_WRITES = frozenset(
    "edit_file edit_file_v2 search_replace write delete_file edit_notebook Write StrReplace Delete EditNotebook".split()
)
_PATHS = ("target_file", "relativeWorkspacePath", "file_path", "path", "target_notebook")
_TYPED = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def fits(path: Path) -> bool:
    if path.is_file() and path.suffix != ".jsonl":
        return "cursorDiskKV" in foreign.names(path)
    return bool(_databases(path)) or any(True for _ in _transcripts(path))


def read(path: Path) -> Iterator[Session | Refusal]:
    """Yield the sessions of a file or a folder, the newest first."""
    for database in _databases(path):
        yield from _of_database(database)
    files = list(_transcripts(path))
    in_editor = _in_editor(files[0]) if files else frozenset[str]()
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        if file.stem not in in_editor:
            yield Session(file, "cursor", file.stem, _folder_of(file), _lines(file))


def _databases(path: Path) -> list[Path]:
    if path.is_file():
        return [] if path.suffix == ".jsonl" else [path]
    candidates = (path / "state.vscdb", path / DATABASE, path / "User" / DATABASE)
    return [file for file in candidates if file.is_file()]


def _transcripts(path: Path) -> Iterator[Path]:
    """Yield the files of `cursor-agent`, without those of subagents."""
    patterns = [f"{prefix}{TRANSCRIPTS}/**/*.jsonl" for prefix in ("", "*/", "projects/*/")]
    if path.name == TRANSCRIPTS:
        patterns = ["**/*.jsonl"]
    files = [path] if path.is_file() else [file for pattern in patterns for file in path.glob(pattern)]
    for file in files:
        folders = [folder.name for folder in file.parents]
        if file.suffix != ".jsonl" or TRANSCRIPTS not in folders or "subagents" in folders:
            continue
        if file.is_file() and not leads_out(file, path):
            yield file


# The editor


def _of_database(path: Path) -> Iterator[Session | Refusal]:
    with foreign.in_place(path) as rows:
        folders, subagents = _headers(rows)
        folders = {**_workspaces(path.parent.parent / "workspaceStorage"), **folders}
        for (id,) in rows(_NEWEST):
            if id in subagents:
                continue
            composer = object_of(_value(rows, "cursorDiskKV", f"composerData:{id}"))
            if composer is None:
                yield Refusal(f"session {id}", "cannot be read")
            else:
                yield Session(path / id, "cursor", id, folders.get(id, ""), _bubbles(rows, id, composer))


def _value(rows: Rows, table: str, key: str) -> object:
    row = next(iter(rows(_VALUE.format(table), {"key": key, "most": LONGEST})), None)
    return row[0] if row else None


def _headers(rows: Rows) -> tuple[dict[str, str], set[str]]:
    """Return the folders of sessions, and the sessions of subagents, as far as the table of newer versions has them."""
    if not rows("SELECT 1 FROM sqlite_schema WHERE name = 'composerHeaders' AND type = 'table'"):
        return {}, set()
    folders, subagents = {}, set()
    for id, is_subagent, value in rows(
        "SELECT composerId, isSubagent, CAST(value AS BLOB) FROM composerHeaders"
    ):
        workspace = object_of((object_of(value) or {}).get("workspaceIdentifier")) or {}
        folder = text_of(object_of(workspace.get("uri")) or {}, "fsPath")
        if folder:
            folders[id] = folder
        if is_subagent:
            subagents.add(id)
    return folders, subagents


def _workspaces(storage: Path) -> dict[str, str]:
    """Return the folder of each session that the database of a workspace names."""
    folders: dict[str, str] = {}
    for file in storage.glob("*/workspace.json"):
        folder = _path(text_of(object_of(file.read_bytes()) or {}, "folder"))
        database = file.with_name("state.vscdb")
        if not folder or not database.is_file() or "ItemTable" not in foreign.names(database):
            continue
        with foreign.in_place(database) as rows:
            value = object_of(_value(rows, "ItemTable", "composer.composerData")) or {}
        folders |= {text_of(entry, "composerId"): folder for entry in objects(value.get("allComposers"))}
    return folders


def _path(address: str) -> str:
    """Return the path of `file://` and `vscode-remote://` addresses."""
    path = unquote(urlsplit(address).path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _bubbles(rows: Rows, session: str, composer: dict[str, Any]) -> Iterator[Message | Refusal]:
    for entry in objects(composer.get("fullConversationHeadersOnly")) or objects(
        composer.get("conversation")
    ):
        id = text_of(entry, "bubbleId")
        value = _value(rows, "cursorDiskKV", f"bubbleId:{session}:{id}") if "text" not in entry else entry
        if value is None:
            continue
        bubble = object_of(value)
        if bubble is None:
            yield Refusal(f"message {id} of session {session}", "cannot be read")
            continue
        at = moment(bubble.get("createdAt"), bubble.get("timestamp"), composer.get("createdAt"))
        size = len(value) if isinstance(value, bytes) else len(str(value))
        message = Message(id, "user" if bubble.get("type") == 1 else "assistant", at, size)
        message.texts += filter(None, [text_of(bubble, "text").strip()])
        _add_tool(message, object_of(bubble.get("toolFormerData")) or {})
        yield message


def _add_tool(message: Message, call: dict[str, Any]) -> None:
    """Add the command that a tool ran, or the file that it changed; nothing that the person refused."""
    arguments = {**(object_of(call.get("params")) or {}), **(object_of(call.get("rawArgs")) or {})}
    result, more = object_of(call.get("result")) or {}, object_of(call.get("additionalData")) or {}
    states = {text_of(call, "status"), text_of(more, "status")}
    if result.get("rejected") is True or states & {"rejected", "cancelled", "skipped"}:
        return
    code = next(
        (str(result[name]) for name in ("exitCodeV2", "exitCode") if isinstance(result.get(name), int)), ""
    )
    _add(message, text_of(call, "name"), arguments, code or ("failed" if "error" in states else ""))


def _add(message: Message, tool: str, arguments: dict[str, Any], code: str) -> None:
    command = text_of(arguments, "command")
    if command.strip() and (tool.startswith("run_terminal") or tool.lower() == "shell"):
        message.commands.append((command, code))
    elif tool in _WRITES and code != "failed":
        message.files += list(filter(None, (text_of(arguments, name) for name in _PATHS)))[:1]


# cursor-agent


def _lines(file: Path) -> Iterator[Message | Refusal]:
    """Yield the messages of a file of lines; a last line without an end is still being written."""
    at = file_moment(file.stat().st_mtime)
    with file.open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(LONGEST), b""), 1):
            entry = object_of(line)
            if entry is None:
                if line.endswith(b"\n") and line.strip():
                    yield Refusal(f"line {number} of session {file.stem}", "cannot be read")
                continue
            blocks = blocks_of((object_of(entry.get("message")) or {}).get("content"))
            message = Message(str(number), text_of(entry, "role"), at, len(line))
            texts = [text_of(block, "text").strip() for block in blocks if block.get("type") == "text"]
            message.texts += filter(None, map(_typed, texts) if message.role == "user" else texts)
            for block in blocks:
                if block.get("type") == "tool_use":
                    _add(message, text_of(block, "name"), object_of(block.get("input")) or {}, "")
            yield message


def _typed(text: str) -> str:
    """Return what the person typed of a text: it stands between tags where others stand before it."""
    typed = _TYPED.findall(text)
    return "\n".join(typed) if typed else "" if text.startswith("<") else text


def _in_editor(file: Path) -> frozenset[str]:
    """Return the sessions of which the editor's database has messages, beside the `.cursor` with a transcript."""
    home = next((folder.parent for folder in file.parents if folder.name == ".cursor"), None)
    databases = [home / folder / DATABASE for folder in USER_FOLDERS] if home else []
    ids: set[str] = set()
    for database in databases:
        if database.is_file() and "cursorDiskKV" in foreign.names(database):
            with foreign.in_place(database) as rows:
                ids |= {id for (id,) in rows(_WITH_MESSAGES)}
    return frozenset(ids)


def _folder_of(file: Path) -> str:
    """Return the folder of the project of a transcript, if the person has trusted it: its name is ambiguous."""
    folder = next(folder for folder in file.parents if folder.name == TRANSCRIPTS).parent
    trusted = folder / ".workspace-trusted"
    return text_of(object_of(trusted.read_bytes()) or {}, "workspacePath") if trusted.is_file() else ""
