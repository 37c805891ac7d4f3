"""The last turn of a conversation, from the file in which Claude Code or Codex keeps it: a JSON object a line."""

from collections.abc import Iterator
from pathlib import Path

from memory_server.domain.message import Message
from memory_server.importing.session import message_of, object_of, texts_of, typed_in

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
        entry = object_of(line) or {}  # the first line may be cut
        message = message_of(entry)
        if text := typed_in(entry):
            yield "user", text
        elif message.get("role") == "assistant" and (texts := texts_of(message)):
            yield "assistant", "\n".join(texts)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - READ))
        return file.read().decode("utf-8", "replace").splitlines()
