"""Reads what a client tells a hook, and forms the answer: each client has its own words for the same."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from memory_server.domain import act
from memory_server.domain.act import Act
from memory_server.domain.effect import Effect
from memory_server.domain.rules import Ruling
from memory_server.errors import Invalid, NotFound
from memory_server.flags import HOOKS
from memory_server.hook import written
from memory_server.language.nearest import meant


class Name(StrEnum):
    """The events, as Claude Code and Codex call them."""

    START = "SessionStart"
    PROMPT = "UserPromptSubmit"
    SUBAGENT = "SubagentStart"
    BEFORE = written.BEFORE
    WROTE = written.EVENT
    FAILED = written.FAILED
    STOP = "Stop"
    COMPACT = "PreCompact"
    END = "SessionEnd"


@dataclass(frozen=True, slots=True)
class Event:
    """`source` says how a session began. `prompt` is the last that the user said, `reply` the assistant's last words.

    `session`: a subagent is a session of its own, under its own name, since its context holds nothing of its session's,
    which is `parent`.
    `written`: the file that a tool of the client has just read or written. `tool` has run, with these `arguments`, and
    returned the texts of `output`, or failed with them. `act` is what it does, where that is a command or concerns a
    file; a command has ended with `code`, where the client tells it.
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
    written: Path | None = None
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    act: Act | None = None
    code: int | None = None
    parent: str | None = None


def sent(word: str, data: bytes, working_folder: Path) -> Event:
    """Read the event of a name, of what a client has sent.

    Raises:
        NotFound: there is no such event.
        Invalid: what was sent is no JSON object.
    """
    if word not in HOOKS:
        near = meant(word, HOOKS)
        raise NotFound(
            f"There is no hook `{word}`. Did you mean `{near}`?" if near else f"There is no hook `{word}`."
        )
    try:
        return read(Name(word), data.decode("utf-8"), working_folder)
    except ValueError as error:
        raise Invalid("What the client sent is no JSON object in UTF-8.") from error


def read(name: Name, text: str, working_folder: Path) -> Event:
    """Read an event, in `working_folder` where it names none. What is of another type counts as missing.

    Raises:
        ValueError: it is no JSON object.
    """
    members = json.loads(text) if text.strip() else {}
    if not isinstance(members, dict):
        raise ValueError("what the client sent is no JSON object")
    roots = members.get("workspace_roots")
    folder = _text(members, "cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    transcript = _text(members, "transcript_path", "transcriptPath")
    tool, arguments = _call(members)
    written_file = _text(arguments, "file_path")
    is_absolute = isinstance(folder, str) and Path(folder).is_absolute()
    folder = Path(folder) if is_absolute else working_folder
    response = members.get("tool_response", members.get("error", ""))
    return Event(
        name,
        _text(members, "agent_id", "session_id", "sessionId", "conversation_id") or None,
        folder,
        _text(members, "prompt"),
        _text(members, "last_assistant_message", "prompt_response", "text"),
        _text(members, "source"),
        Path(transcript) if transcript else None,
        members.get("stop_hook_active") is True,
        Path(written_file) if written_file and name is Name.WROTE else None,
        tool,
        arguments,
        "\n".join(written.texts(response))[: written.MOST],
        act.read(tool, arguments, folder),
        act.exit_code(response),
        (_text(members, "session_id", "sessionId") or None) if _text(members, "agent_id") else None,
    )


def _call(members: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool that is called, and its arguments. Before a command and before a file is read, Cursor names
    neither of them so."""
    tool, arguments = _text(members, "tool_name"), members.get("tool_input")
    if isinstance(arguments, dict):
        return tool, arguments
    for cursors_tool, name in (("Shell", "command"), ("Read", "file_path")):
        if text := _text(members, name):
            return tool or cursors_tool, {name: text}
    return tool, {}


def client_of(name: str | None, text: str) -> str | None:
    """Return the client that has sent a text: Cursor may run the hooks of Claude Code too."""
    return CURSOR if '"cursor_version"' in text else name


def decision(client: str | None, ruling: Ruling, text: str) -> str:
    """Form what stops an act, or lets the client ask a person; '' lets it pass. Where the client cannot ask, the model
    has to. `text` is what it sent. Cursor takes silence for a no.
    """
    if ruling.effect in (None, Effect.SAY):
        return _json({"permission": "allow"}) if client == CURSOR else ""
    reason = ruling.text
    asks = ruling.effect is Effect.ASK
    if asks and (client in NEVER_ASKING or (client == CURSOR and CURSOR_ASKS not in text)):
        asks, reason = False, f"{reason}\nAsk the user first. {LIFTED}"
    if client == CURSOR:
        return _json(
            {"permission": "ask" if asks else "deny", "user_message": reason, "agent_message": reason}
        )
    if client == "gemini":
        return _json({"decision": "deny", "reason": reason})
    hook = {"permissionDecision": "ask" if asks else "deny", "permissionDecisionReason": reason}
    return _json({"hookSpecificOutput": {"hookEventName": Name.BEFORE, **hook}})


CURSOR = "cursor"
CURSOR_ASKS = '"beforeShellExecution"'
"""The event at which Cursor lets a person decide: at others it lets pass what it should ask about."""

NEVER_ASKING = frozenset(["codex", "opencode", "gemini"])
"""Clients whose hooks cannot let a person decide: what would be asked there is denied."""

UNTOLD = frozenset([CURSOR, "gemini"])
"""Clients whose model reads nothing that is said before an act, unless the act is denied."""

LIFTED = "A person lifts a rule with `memory-server rules off NAME`."


def answer(event: Event, client: str | None, text: str) -> str:
    """Form what the client puts into the model's context."""
    if client == CURSOR:
        more = {"continue": True} if event.name is Name.PROMPT else {}
        return _json({**more, "additional_context": text})
    name = GEMINI.get(event.name, event.name) if client == "gemini" else event.name
    return _json({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


GEMINI = {
    Name.PROMPT: "BeforeAgent",
    Name.BEFORE: "BeforeTool",
    Name.STOP: "AfterAgent",
    Name.COMPACT: "PreCompress",
}
"""The names of Gemini CLI for events that it names otherwise."""


def _text(members: Mapping[str, Any], *names: str) -> str:
    return next((members[name] for name in names if isinstance(members.get(name), str)), "")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
