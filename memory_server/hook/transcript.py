"""The last turn of a conversation, from the file in which Claude Code or Codex keeps it: a JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_server.domain.message import Message

READ = 1_000_000
"""Bytes at the end of the file that are read: tool results between the prompt and the answer can be long."""


def last_turn(path: Path) -> list[Message]:
    """Return what the user said last, and the assistant after it last; nothing where neither can be found."""
    texts: dict[str, str] = {}
    for role, text in _said(path):
        texts.setdefault(role, text)
        if role == "user":
            break
    return [Message(role, texts[role]) for role in ("user", "assistant") if role in texts]


def folder_of(path: Path) -> Path:
    """Return the folder in which a client keeps all its transcripts."""
    return next((folder for folder in path.parents if folder.name in ("projects", "sessions")), path.parent)


def _said(path: Path) -> Iterator[tuple[str, str]]:
    """Yield who said what, the latest first."""
    for line in reversed(_lines(path)):
        try:
            entry = json.loads(line)
        except ValueError:  # the first line may be cut
            continue
        message = _message(entry) if isinstance(entry, dict) else None
        if message is not None:
            yield message


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - READ))
        return file.read().decode("utf-8", "replace").splitlines()


def _message(entry: dict[str, Any]) -> tuple[str, str] | None:
    """Return who said what in an entry; None where it is no message of the conversation itself."""
    if entry.get("isMeta") or entry.get("isSidechain"):
        return None
    named = {"user": "message", "assistant": "message", "response_item": "payload"}.get(
        str(entry.get("type"))
    )
    message = entry.get(named) if named else None
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(message, dict) or role not in ("user", "assistant"):
        return None
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    kinds = ("text", "input_text", "output_text")
    texts = [part["text"] for part in parts if isinstance(part, dict) and part.get("type") in kinds]
    text = "\n".join(text for text in texts if isinstance(text, str)).strip()
    # What begins with a tag was put there by the client: surroundings, commands, reminders.
    return None if not text or (role == "user" and text.startswith("<")) else (role, text)
