"""Transcripts of Claude Code and Codex: a file a session, a JSON object a line. They are only read.

A turn is what the person typed and all that follows it: what the assistant said, the commands it ran with their exit
codes, and the files it changed. It becomes two records, since each is found better alone. Their ids are the path of
the file and the byte where the turn begins, so that a file that has grown is read on from its last turn.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Record, TurnRecord
from memory_server.domain.secrets import redacted
from memory_server.domain.turn import TRANSCRIPT
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import moment

NAME = "transcript"

PROMPT, COMMAND, FILES = 600, 100, 10
"""Characters that are kept of what the person typed, and of a command, the first and the last half of them; and files
of a turn."""

SUMMARY = 60
"""Characters at the beginning of a text that stand for it: they are embedded too, so they must say something."""

SHARE, LEAST, MOST = 150, 600, 3_000
"""Of how many bytes of a turn one character is kept of what the assistant said and did, two thirds of them said; at
least and at most how many. With its words a character takes four bytes here, so that a file takes 5 % of its size."""

LONGEST = 64 << 20
"""Bytes of a line that is read. A longer one holds an image or a whole log."""

PLACE = 14
"""Characters at the end of an id: `#`, the byte where the turn begins, and `u` or `a`, for user or assistant."""

_ID = 500
"""Characters of an id at most."""

_FIRST = 5
"""Lines that tell whether a file is a transcript."""

_EXIT = re.compile(r"(?:[Ee]xit code:?|exited with code|\"exit_code\":) *(-?\d{1,10})")
_CHANGED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_SHELLS = frozenset(["Bash", "PowerShell", "exec_command", "shell", "shell_command", "local_shell"])
_PUT_THERE = ("<", "# AGENTS.md instructions", "Caveat: ", "[Request interrupted")
"""How a text of the user's begins that the client has put there."""


@dataclass(slots=True)
class _Turn:
    """A turn while its lines are read; `commands` and their exit codes are known by the id of the call."""

    start: int
    end: int
    at: str
    prompt: str
    folder: str
    session: str
    client: str
    replies: list[str] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    exits: dict[str, str] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)


def fits(opened: Opened) -> bool:
    return any(True for _ in files(opened.path))


def records(opened: Opened) -> Iterator[Record]:
    for path in files(opened.path):
        yield from turns(path)


def files(path: Path) -> Iterator[Path]:
    """Yield the transcripts of a folder, or a file if it is one; the newest first, since they are embedded in this
    order, and asked for soonest.
    """
    paths = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    sessions = [file for file in paths if file.is_file() and file.suffix == ".jsonl"]
    for file in sorted(sessions, key=lambda file: file.stat().st_mtime, reverse=True):
        if _is_transcript(file):
            yield file


def _is_transcript(path: Path) -> bool:
    """True if one of the first lines is of a session."""
    first = islice((entry for _, entry in entries(path, 0)), _FIRST)
    return any(
        isinstance(entry.get("sessionId"), str)
        or (entry.get("type") in ("session_meta", "response_item") and isinstance(entry.get("payload"), dict))
        for entry in first
    )


def turns(path: Path, start: int = 0) -> Iterator[TurnRecord]:
    """Yield the turns of a transcript from the one on that begins at a byte. The last one may still grow."""
    turn: _Turn | None = None
    folder, session = "", path.stem[-36:]
    if len(str(path)) + PLACE > _ID:
        return
    for place, entry in entries(path, start):
        payload = entry.get("payload")
        folder = _text(payload if isinstance(payload, dict) else entry, "cwd") or folder
        if place < start:  # the first line, which alone may name the folder
            continue
        prompt = _prompt(entry)
        if prompt:
            if turn is not None:
                yield from _records(path, turn)
            client = "codex" if "payload" in entry else "claude-code"
            turn = _Turn(place, place, moment(entry.get("timestamp")), prompt, folder, session, client)
        elif turn is not None:
            turn.end = place
            _take(turn, entry)
    if turn is not None:
        yield from _records(path, turn)


def entries(path: Path, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the first line, and those from a byte on, each with its place. What is no JSON object is left out, and so
    is a last line without an end: it is still being written.
    """
    with path.open("rb") as file:
        for first in sorted({0, start}):
            file.seek(first)
            while True:
                place = file.tell()
                line = file.readline(LONGEST)
                if not line.endswith(b"\n"):
                    if len(line) < LONGEST:
                        break
                    _skip_line(file)
                    continue
                entry = _object(line)
                if entry is not None:
                    yield place, entry
                if first < start:
                    break


def _skip_line(file: Any) -> None:
    while (piece := file.readline(LONGEST)) and not piece.endswith(b"\n"):
        pass


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the message, the call or the result of a line; nothing of a line that is no part of the conversation."""
    if any(entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary")):
        return {}
    name = {"user": "message", "assistant": "message", "response_item": "payload"}.get(_text(entry, "type"))
    message = entry.get(name) if name else None
    if not isinstance(message, dict) or message.get("model") == "<synthetic>":
        return {}
    return message


def _prompt(entry: dict[str, Any]) -> str:
    """Return what the person typed; '' where a line holds none of it."""
    message = _message(entry)
    if message.get("role") != "user":
        return ""
    texts = [text for text in _texts(message) if not text.startswith(_PUT_THERE)]
    return "\n".join(texts)


def _take(turn: _Turn, entry: dict[str, Any]) -> None:
    """Add what a line says, runs, changes, or how it ended."""
    message = _message(entry)
    if message.get("role") == "assistant":
        turn.replies += _texts(message)
    for block in [message, *_blocks(message)]:
        id = _text(block, "call_id") or _text(block, "id") or _text(block, "tool_use_id")
        match block.get("type"):
            case "tool_use":
                _call(turn, id, _text(block, "name"), block.get("input"))
            case "function_call" | "custom_tool_call":
                written = block.get("arguments") or block.get("input")
                arguments = _object(written.encode("utf-8", "replace")) if isinstance(written, str) else None
                _call(turn, id, _text(block, "name"), arguments or {"input": written})
            case "tool_result":
                failed = "Exit code ?" if block.get("is_error") else "Exit code 0"
                _ended(turn, _text(block, "tool_use_id"), block.get("content"), failed)
            case "function_call_output" | "custom_tool_call_output":
                _ended(turn, id, block.get("output"), "")


def _call(turn: _Turn, id: str, tool: str, arguments: object) -> None:
    """Add the command that a call of a tool runs, or the files that it changes."""
    values = arguments if isinstance(arguments, dict) else {}
    command = values.get("command") or values.get("cmd") or values.get("input")
    if isinstance(command, list):
        command = (
            command[-1] if command[:1] and str(command[0]).endswith("sh") else " ".join(map(str, command))
        )
    command = command if isinstance(command, str) else ""
    patched = _CHANGED.findall(command)
    written = [] if tool == "Read" else [_text(values, "file_path"), _text(values, "notebook_path")]
    turn.files |= dict.fromkeys(
        _within(file.strip(), turn.folder) for file in [*patched, *written] if file.strip()
    )
    if tool in _SHELLS and command.strip() and not patched:
        turn.commands[id] = command


def _ended(turn: _Turn, id: str, output: object, otherwise: str) -> None:
    """Add the exit code of a command: the one that its result tells, else the usual one."""
    text = output if isinstance(output, str) else json.dumps(output)
    code = _EXIT.search(text[:400]) or _EXIT.match(otherwise)
    turn.exits[id] = code[1] if code else "failed" if otherwise.endswith("?") else ""


def _within(file: str, folder: str) -> str:
    return file.removeprefix(f"{folder}/") if folder else file


def _records(path: Path, turn: _Turn) -> Iterator[TurnRecord]:
    """Yield what the person typed; and what the assistant said with what it did, if it did anything."""
    room = min(MOST, max(LEAST, (turn.end - turn.start) // SHARE))
    prompt = _shortened(redacted(turn.prompt), PROMPT)
    reply = _shortened(redacted("\n".join(turn.replies)), room * 2 // 3)
    message = "\n".join([*filter(None, [reply]), *_actions(turn, room // 3)])
    for role, text in (("user", prompt), ("assistant", message)):
        if text:
            yield TurnRecord(
                f"{path}#{turn.start:012}{role[0]}",
                text,
                text[:SUMMARY],
                project=turn.folder,
                session=turn.session,
                created_at=turn.at,
                created_by=f"{'user of ' if role == 'user' else ''}{turn.client} {TRANSCRIPT}",
            )


def _actions(turn: _Turn, room: int) -> list[str]:
    """Return the commands and the files of a turn, a line each; the last ones if not all have room, and one always."""
    lines = [
        f"$ {_shortened(redacted(' '.join(command.split())), COMMAND)}"
        + (f" (exit {turn.exits[id]})" if turn.exits.get(id) else "")
        for id, command in turn.commands.items()
    ]
    if turn.files:
        lines.append(f"changed: {', '.join(list(turn.files)[:FILES])}")
    left = room
    fitting: list[str] = []
    for line in reversed(lines):
        left -= len(line)
        if left < 0 and fitting:
            break
        fitting.insert(0, line)
    return fitting


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [block for block in blocks if isinstance(block, dict)]


def _texts(message: dict[str, Any]) -> list[str]:
    kinds = ("text", "input_text", "output_text")
    texts = (_text(block, "text").strip() for block in _blocks(message) if block.get("type") in kinds)
    return [text for text in texts if text]


def _text(values: dict[str, Any], name: str) -> str:
    """Return a value that is text, of which each character can be stored; '' where it is none."""
    value = values.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


FORMAT = Format(NAME, "transcripts of Claude Code and Codex", fits, records)
