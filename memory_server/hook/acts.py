"""Around each act of an assistant: what is known of this file or command, and what ended this error the last time."""

from dataclasses import replace
from typing import TYPE_CHECKING

from memory_server.domain.act import Act, Kind
from memory_server.domain.caller import Caller
from memory_server.domain.mending import seems_failed
from memory_server.hook import framing
from memory_server.hook.event import Event, Name
from memory_server.language.frame import framed
from memory_server.language.sentences import shortened
from memory_server.language.tokens import estimate
from memory_server.services.injections import InjectionService

if TYPE_CHECKING:  # only an engine has them
    from memory_server.services.acts import ActService
    from memory_server.services.mending import MendingService

LONGEST = 120
"""Tokens of all that is said around an act."""

LEFT, NOTES, OPEN = 250, 4, 2
"""Tokens of what a subagent or a shortened context is told of the work under way; its notes, and its open errors."""


def around(
    event: Event, act: Act, caller: Caller, acts: "ActService", mending: "MendingService", read_only: bool
) -> str:
    """Say what bears on an act, once in a session; what was done is remembered where an error is open."""
    room = LONGEST - framing.OF_AN_ACT
    has_failed = event.name is Name.FAILED or bool(event.code) or _seems_failed(event, act, caller.client)
    match event.name:
        case Name.BEFORE:
            mending.begun(act, caller)
            reminder = acts.remind(act, room, caller)
        case _ if act.kind is not Kind.RUNS:
            if event.name is Name.FAILED:
                mending.not_done(act, caller)
            return ""
        case _ if has_failed:
            reminder = mending.failed(act, event.output, caller)
        case _:
            mending.succeeded(act, caller, event.name)
            return ""
    if not reminder.text:
        return ""
    if not read_only:
        InjectionService(acts.database).record_reminder(reminder, event.name, caller)
    return framed(framing.ACT, reminder.text)


def under_way(event: Event, caller: Caller, acts: "ActService", mending: "MendingService") -> str:
    """Say what a subagent, or a session whose context was shortened, has under its hands: errors that nothing has
    ended, and what decides about the files of its session."""
    is_shortened = event.name is Name.START and event.source == "compact"
    session = event.session if is_shortened else event.parent if event.name is Name.SUBAGENT else None
    files, errors = mending.under_way(session) if session else ([], [])
    lines = [f"`{shortened(e.line.text, 25)}` fails: {shortened(e.error, 30)}" for e in errors[-OPEN:]]
    if files:
        act = Act(Kind.READS, "", paths=tuple(files))
        room = LEFT - framing.OF_AN_ACT - round(sum(map(estimate, lines)))
        lines += filter(None, [acts.remind(act, room, replace(caller, session=None), NOTES).text])
    return framed(framing.UNDER_WAY, "\n".join(lines)) if lines else ""


def _seems_failed(event: Event, act: Act, client: str | None) -> bool:
    """True where a client tells no exit code, or only that of the end of a pipe: Codex 0.169.0 tells none, Claude Code
    has an event of its own for what fails."""
    is_unknown = event.code is None and (client != "claude" or "|" in act.command)
    return is_unknown and seems_failed(event.output)
