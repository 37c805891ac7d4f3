"""A session of a client as turns. A turn is what the person typed and all that follows it: what the assistant said, the
commands it ran with their exit codes, and the files it changed.

It becomes two records, since each is found better alone. Their ids are the path of the session and a place in it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Refusal, TurnRecord
from memory_server.domain.secrets import redacted
from memory_server.domain.turn import TRANSCRIPT
from memory_server.importing.values import hashed, objects

PROMPT, COMMAND, FILES = 600, 100, 10
"""Characters that are kept of what the person typed, and of a command, the first and the last half of them; and files
of a turn."""

SUMMARY = 60
"""Characters at the beginning of a text that stand for it: they are embedded too, so they must say something."""

SHARE, LEAST, MOST = 150, 600, 3_000
"""Of how many bytes of a turn one character is kept of what the assistant said and did, two thirds of them said; at
least and at most how many. With its words a character takes four bytes here, so that a file takes 5 % of its size."""

LONGEST = 64 << 20
"""Bytes of a line, or a value of a database, that is read. A longer one holds an image or a whole log."""

PLACE = 14
"""Characters at the end of an id: `#`, 12 digits for the place, and `u` or `a`, for user or assistant."""

LONGEST_ID = 500

_PUT_THERE = ("<", "# AGENTS.md instructions", "Caveat: ", "[Request interrupted")
"""How a text of the user's begins that Claude Code or Codex has put there."""


@dataclass(slots=True)
class Turn:
    """A turn while it is read; `commands` and their exit codes are known by the id of the call, `size` is in bytes."""

    place: int
    at: str
    prompt: str
    folder: str
    session: str
    client: str
    size: int = 0
    replies: list[str] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    exits: dict[str, str] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Message:
    """A message of a session that is read whole; `commands` are pairs with an exit code, '' where none is told."""

    id: str
    role: str
    at: str = ""
    size: int = 0
    texts: list[str] = field(default_factory=list)
    commands: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is read whole. `path` names it: its file, or its id below the file that has several."""

    path: Path
    client: str
    id: str
    folder: str
    messages: Iterable[Message | Refusal]


def turns(session: Session) -> Iterator[TurnRecord | Refusal]:
    """Yield the turns of a session, and what cannot be read of it."""
    turn: Turn | None = None
    for message in session.messages:
        if isinstance(message, Refusal):
            yield message
            continue
        prompt = "\n".join(message.texts) if message.role == "user" else ""
        if prompt:
            if turn is not None:
                yield from records_of(session.path, turn)
            place = int(hashed(message.id), 16) % 10**12
            turn = Turn(place, message.at, prompt, session.folder, session.id, session.client)
        if turn is not None:
            _add(turn, message)
    if turn is not None:
        yield from records_of(session.path, turn)


def _add(turn: Turn, message: Message) -> None:
    turn.size += message.size
    if message.role == "assistant":
        turn.replies += message.texts
    for command, code in message.commands:
        id = f"{len(turn.commands)}"
        turn.commands[id], turn.exits[id] = command, code
    turn.files |= {within(file, turn.folder): None for file in message.files}


def records_of(path: Path, turn: Turn) -> Iterator[TurnRecord]:
    """Yield what the person typed; and what the assistant said with what it did, if it did anything."""
    if len(str(path)) + PLACE > LONGEST_ID:
        return
    room = min(MOST, max(LEAST, turn.size // SHARE))
    prompt = _shortened(redacted(turn.prompt), PROMPT)
    reply = _shortened(redacted("\n".join(turn.replies)), room * 2 // 3)
    message = "\n".join([*filter(None, [reply]), *_actions(turn, room // 3)])
    for role, text in (("user", prompt), ("assistant", message)):
        if text:
            yield TurnRecord(
                f"{path}#{turn.place:012}{role[0]}",
                text,
                text[:SUMMARY],
                project=turn.folder,
                session=turn.session,
                created_at=turn.at,
                created_by=f"{'user of ' if role == 'user' else ''}{turn.client} {TRANSCRIPT}",
            )


def within(file: str, folder: str) -> str:
    """Return a path as it is called inside the folder of its session."""
    return file.removeprefix(f"{folder}/") if folder else file


def text_of(values: dict[str, Any], name: str) -> str:
    """Return a value that is text, of which each character can be stored; '' where it is none."""
    value = values.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def object_of(text: object) -> dict[str, Any] | None:
    """Return the object that JSON holds, as text or as bytes; None where it holds none."""
    if isinstance(text, dict):
        return text
    try:
        value = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def blocks_of(content: object) -> list[dict[str, Any]]:
    """Return the blocks of a message, which is a text or a list of them."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def message_of(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the message, the call or the result of a line of Claude Code or Codex; nothing of a line that is no part
    of the conversation."""
    if any(entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary")):
        return {}
    name = {"user": "message", "assistant": "message", "response_item": "payload"}.get(text_of(entry, "type"))
    message = entry.get(name) if name else None
    if not isinstance(message, dict) or message.get("model") == "<synthetic>":
        return {}
    return message


def typed_in(entry: dict[str, Any]) -> str:
    """Return what the person typed; '' where a line holds none of it."""
    message = message_of(entry)
    if message.get("role") != "user":
        return ""
    return "\n".join(text for text in texts_of(message) if not text.startswith(_PUT_THERE))


def texts_of(message: dict[str, Any]) -> list[str]:
    """Return what is said in a message."""
    kinds = ("text", "input_text", "output_text")
    texts = (
        text_of(block, "text").strip()
        for block in blocks_of(message.get("content"))
        if block.get("type") in kinds
    )
    return [text for text in texts if text]


def _actions(turn: Turn, room: int) -> list[str]:
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
