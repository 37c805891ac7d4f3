"""Transcripts of clients; they are only read. Claude Code and Codex write a file a session, a JSON object a line.

The place of a turn is the byte where it begins, so that a file that has grown is read on from its last turn.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Record, TurnRecord
from memory_server.importing import sessions
from memory_server.importing.opened import Format, Opened, leads_out
from memory_server.importing.session import (
    LONGEST,
    Turn,
    blocks_of,
    message_of,
    object_of,
    records_of,
    text_of,
    texts_of,
    typed_in,
    within,
)
from memory_server.importing.values import moment

NAME = "transcript"

_FIRST = 5
"""Lines that tell whether a file is a transcript."""

_EXIT = re.compile(r"(?:[Ee]xit code:?|exited with code|\"exit_code\":) *(-?\d{1,10})")
_CHANGED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_SHELLS = frozenset(["Bash", "PowerShell", "exec_command", "shell", "shell_command", "local_shell"])


def fits(opened: Opened) -> bool:
    return sessions.fits(opened.path) or any(True for _ in files(opened.path))


def records(opened: Opened) -> Iterator[Record]:
    if sessions.fits(opened.path):
        yield from sessions.records(opened.path)
        return
    for path in files(opened.path):
        yield from turns(path)


def files(path: Path) -> Iterator[Path]:
    """Yield the transcripts of a folder, or a file if it is one; the newest first, since they are embedded in this
    order, and asked for soonest.
    """
    paths = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    of_lines = [file for file in paths if file.is_file() and file.suffix == ".jsonl"]
    for file in sorted(of_lines, key=lambda file: file.stat().st_mtime, reverse=True):
        if not leads_out(file, path) and _is_transcript(file):
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
    turn: Turn | None = None
    folder, session = "", path.stem[-36:]
    for place, entry in entries(path, start):
        payload = entry.get("payload")
        folder = text_of(payload if isinstance(payload, dict) else entry, "cwd") or folder
        if place < start:  # the first line, which alone may name the folder
            continue
        prompt = typed_in(entry)
        if prompt:
            if turn is not None:
                yield from records_of(path, turn)
            client = "codex" if "payload" in entry else "claude-code"
            turn = Turn(place, moment(entry.get("timestamp")), prompt, folder, session, client)
        elif turn is not None:
            turn.size = place - turn.place
            _take(turn, entry)
    if turn is not None:
        yield from records_of(path, turn)


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
                entry = object_of(line)
                if entry is not None:
                    yield place, entry
                if first < start:
                    break


def _skip_line(file: Any) -> None:
    while (piece := file.readline(LONGEST)) and not piece.endswith(b"\n"):
        pass


def _take(turn: Turn, entry: dict[str, Any]) -> None:
    """Add what a line says, runs, changes, or how it ended."""
    message = message_of(entry)
    if message.get("role") == "assistant":
        turn.replies += texts_of(message)
    for block in [message, *blocks_of(message.get("content"))]:
        id = text_of(block, "call_id") or text_of(block, "id") or text_of(block, "tool_use_id")
        match block.get("type"):
            case "tool_use":
                _call(turn, id, text_of(block, "name"), block.get("input"))
            case "function_call" | "custom_tool_call":
                written = block.get("arguments") or block.get("input")
                arguments = (
                    object_of(written.encode("utf-8", "replace")) if isinstance(written, str) else None
                )
                _call(turn, id, text_of(block, "name"), arguments or {"input": written})
            case "tool_result":
                failed = "Exit code ?" if block.get("is_error") else "Exit code 0"
                _ended(turn, text_of(block, "tool_use_id"), block.get("content"), failed)
            case "function_call_output" | "custom_tool_call_output":
                _ended(turn, id, block.get("output"), "")


def _call(turn: Turn, id: str, tool: str, arguments: object) -> None:
    """Add the command that a call of a tool runs, or the files that it changes."""
    values = arguments if isinstance(arguments, dict) else {}
    command = values.get("command") or values.get("cmd") or values.get("input")
    if isinstance(command, list):
        command = (
            command[-1] if command[:1] and str(command[0]).endswith("sh") else " ".join(map(str, command))
        )
    command = command if isinstance(command, str) else ""
    patched = _CHANGED.findall(command)
    written = [] if tool == "Read" else [text_of(values, "file_path"), text_of(values, "notebook_path")]
    turn.files |= dict.fromkeys(
        within(file.strip(), turn.folder) for file in [*patched, *written] if file.strip()
    )
    if tool in _SHELLS and command.strip() and not patched:
        turn.commands[id] = command


def _ended(turn: Turn, id: str, output: object, otherwise: str) -> None:
    """Add the exit code of a command: the one that its result tells, else the usual one."""
    text = output if isinstance(output, str) else json.dumps(output)
    code = _EXIT.search(text[:400]) or _EXIT.match(otherwise)
    turn.exits[id] = code[1] if code else "failed" if otherwise.endswith("?") else ""


FORMAT = Format(NAME, "transcripts of Claude Code, Codex, opencode, Cursor or Gemini CLI", fits, records)
