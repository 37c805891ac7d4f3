"""Sessions of Gemini CLI: a file each in `chats` of a project. Earlier versions wrote a JSON object; newer ones
write lines, of which one may replace a message (by its id), all of them (`$set`), or take back those from one on
(`$rewindTo`).
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Refusal
from memory_server.importing.opened import leads_out
from memory_server.importing.session import LONGEST, Message, Session, blocks_of, object_of, text_of
from memory_server.importing.values import moment, objects

_WRITES = frozenset(["write_file", "replace", "edit"])
_EXIT = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_PUT_THERE = ("/", "?", "<session_context>", "<hook_context>")
"""How a message of the user's begins that the program does not take for one: a command of its own, or what it adds."""

_ROOT, _PROJECTS = ".project_root", "projects.json"
"""The files that name the folder of a project: beside its chats, and for all projects in the home of the program."""


def fits(path: Path) -> bool:
    return any(True for _ in _files(path))


def read(path: Path) -> Iterator[Session | Refusal]:
    """Yield the sessions of a file or a folder, the newest first."""
    for file in sorted(_files(path), key=lambda file: file.stat().st_mtime, reverse=True):
        session = _session(file)
        if session is None:
            yield Refusal(f"session {file.stem}", "cannot be read")
        elif session.get("kind") != "subagent":
            id = text_of(session, "sessionId")
            yield Session(file, "gemini-cli", id, _folder(file), _messages(session))


def _files(path: Path) -> Iterator[Path]:
    """Yield the files of sessions. A session that was resumed lies in lines beside its earlier object."""
    patterns = ("*.json*", "chats/*.json*", "*/chats/*.json*", "tmp/*/chats/*.json*")
    files = [path] if path.is_file() else [file for pattern in patterns for file in path.glob(pattern)]
    for file in files:
        if file.parent.name != "chats" or not file.name.startswith("session-") or not file.is_file():
            continue
        if leads_out(file, path):
            continue
        if file.suffix == ".jsonl" or (file.suffix == ".json" and not file.with_suffix(".jsonl").exists()):
            yield file


def _session(file: Path) -> dict[str, Any] | None:
    """Return a session with its `messages`; None where the file holds none."""
    if file.stat().st_size > LONGEST:
        return None
    if file.suffix == ".json":
        session = object_of(file.read_bytes())
    else:
        session = _replayed(filter(None, map(object_of, file.read_bytes().split(b"\n"))))
    return session if session and text_of(session, "sessionId") else None


def _replayed(lines: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the session that lines tell: the last line of a message counts."""
    session: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    dates: dict[str, object] = {}  # a session that is resumed writes its messages anew, with the date of that
    for line in lines:
        patch = object_of(line.get("$set"))
        if "$rewindTo" in line:
            ids = list(messages)
            first = ids.index(line["$rewindTo"]) if line["$rewindTo"] in messages else 0
            messages = {id: messages[id] for id in ids[:first]}
        elif text_of(line, "id"):
            messages[text_of(line, "id")] = line
            dates.setdefault(text_of(line, "id"), line.get("timestamp"))
        else:
            session |= patch or line
            if "messages" in (patch or line):
                messages = {
                    text_of(message, "id"): message for message in objects((patch or line)["messages"])
                }
    dated = [
        {**message, "timestamp": dates.get(id, message.get("timestamp"))} for id, message in messages.items()
    ]
    return {**session, "messages": dated}


def _messages(session: dict[str, Any]) -> Iterator[Message]:
    entries = objects(session.get("messages"))
    outputs = dict(_outputs(entries))
    for entry in entries:
        role = {"user": "user", "gemini": "assistant"}.get(text_of(entry, "type"), "")
        text = _text(entry.get("displayContent") or entry.get("content"))
        if not role or (role == "user" and text.startswith(_PUT_THERE)):
            continue
        message = Message(text_of(entry, "id"), role, moment(entry.get("timestamp")), len(str(entry)))
        message.texts += filter(None, [text])
        for call in objects(entry.get("toolCalls")) or _parts(entry, "functionCall"):
            _add(message, call, outputs.get(text_of(call, "id")))
        yield message


def _parts(entry: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the calls, or their responses, in the content of a message: a session that was resumed has them there."""
    parts = (object_of(part.get(kind)) for part in objects(entry.get("content")))
    return [part for part in parts if part is not None]


def _outputs(entries: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what each call of a tool returned, by its id."""
    for entry in entries:
        results = (
            _parts({"content": call.get("result")}, "functionResponse")
            for call in objects(entry.get("toolCalls"))
        )
        for response in chain(_parts(entry, "functionResponse"), *results):
            returned = object_of(response.get("response")) or {}
            yield text_of(response, "id"), text_of(returned, "output") or text_of(returned, "error")


def _add(message: Message, call: dict[str, Any], output: str | None) -> None:
    """Add the command that a call of a tool ran, or the file that it changed. A shell does not tell code 0."""
    arguments = object_of(call.get("args")) or {}
    name, command = text_of(call, "name"), text_of(arguments, "command")
    failed = call.get("status") in ("error", "cancelled")
    if name == "run_shell_command" and command.strip():
        code = _EXIT.search(output or "")
        message.commands.append(
            (command, code[1] if code else "failed" if failed else "" if output is None else "0")
        )
    elif name in _WRITES and not failed:
        message.files += filter(None, [text_of(arguments, "file_path")])


def _text(content: object) -> str:
    """Return what a message says: a text, or the texts of its parts."""
    return "\n".join(filter(None, (text_of(block, "text").strip() for block in blocks_of(content))))


def _folder(file: Path) -> str:
    """Return the folder of the project in whose `chats` a file lies; '' where nothing names it."""
    of_project = file.parent.parent
    root = of_project / _ROOT
    if root.is_file():
        return root.read_text("utf-8", "replace").strip()
    registry = of_project.parent.parent / _PROJECTS
    projects = (object_of(registry.read_bytes()) or {}).get("projects") if registry.is_file() else None
    names = projects.items() if isinstance(projects, dict) else ()
    return next((str(folder) for folder, name in names if name == of_project.name), "")
