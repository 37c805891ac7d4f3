"""What a client tells a hook, and how it wants the answer: each client has its own words for the same."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Name(StrEnum):
    """The events, as Claude Code and Codex call them."""

    START = "SessionStart"
    PROMPT = "UserPromptSubmit"
    STOP = "Stop"
    COMPACT = "PreCompact"
    END = "SessionEnd"


@dataclass(frozen=True, slots=True)
class Event:
    """`source` says how a session began. `prompt` is the last that the user said, `reply` the assistant's last words.

    `again`: the assistant goes on because a hook of the same event asked for it.
    """

    name: Name
    session: str | None
    folder: Path
    prompt: str = ""
    reply: str = ""
    source: str = ""
    transcript: Path | None = None
    again: bool = False


def read(name: Name, text: str) -> Event:
    """The event of a JSON object. What is missing or of another type counts as not given.

    Raises:
        ValueError: it is no JSON object.
    """
    given = json.loads(text) if text.strip() else {}
    if not isinstance(given, dict):
        raise ValueError("what the client sent is no JSON object")
    roots = given.get("workspace_roots")
    folder = _text(given, "cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    transcript = _text(given, "transcript_path", "transcriptPath")
    return Event(
        name,
        _text(given, "session_id", "sessionId", "conversation_id") or None,
        Path(folder) if isinstance(folder, str) and Path(folder).is_absolute() else Path.cwd(),
        _text(given, "prompt"),
        _text(given, "last_assistant_message", "prompt_response", "text"),
        _text(given, "source"),
        Path(transcript) if transcript else None,
        given.get("stop_hook_active") is True,
    )


def answer(event: Event, client: str | None, text: str) -> str:
    """What the client puts into the model's context, in the client's form."""
    if client == "cursor":
        more = {"continue": True} if event.name is Name.PROMPT else {}
        return _json({**more, "additional_context": text})
    name = GEMINI.get(event.name, event.name) if client == "gemini" else event.name
    return _json({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


GEMINI = {Name.PROMPT: "BeforeAgent", Name.STOP: "AfterAgent", Name.COMPACT: "PreCompress"}
"""What Gemini CLI calls the events that it calls otherwise."""


def _text(given: Mapping[str, Any], *names: str) -> str:
    return next((given[name] for name in names if isinstance(given.get(name), str)), "")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
