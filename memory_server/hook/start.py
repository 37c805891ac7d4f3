"""At the start of a session, and of a subagent in it: the briefing of its project."""

from typing import TYPE_CHECKING

from memory_server.domain.caller import Caller
from memory_server.hook import framing
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings
from memory_server.language.frame import framed
from memory_server.language.tokens import estimate
from memory_server.services.injections import InjectionService
from memory_server.services.resume import ResumeService, Wording
from memory_server.services.trusting import TrustService
from memory_server.storage.database import Database

if TYPE_CHECKING:  # only an engine has it
    from memory_server.services.waking import WakingService

LONGEST = 2000
"""Tokens of all that is said at the start of a session."""

OF_A_SUBAGENT = 600
"""The same for a subagent: it has one task and a short life."""

WAITING = "\nWaits until the user confirms it: {} (`memory-server review`)."
"""The line about texts from outside, the last one."""

OF_WAITING = 60
"""Tokens of that line."""

WORDING = Wording("`recall`", lambda _: 0.0)


EMPTIED = frozenset(["clear", "compact"])
"""The ways in which a session begins whose context no longer has what it was told before."""


AGAIN = frozenset(["resume", *EMPTIED])
"""The ways in which a session begins that is briefed although it was before. Else a second briefing is that of another
client's file: VS Code runs the hooks of Claude Code too."""


def start(
    event: Event,
    database: Database,
    caller: Caller,
    settings: HookSettings,
    waking: "WakingService | None" = None,
) -> str:
    """Brief the model on what is known of the project, on reminders that are due and on what waits to be confirmed.

    Say nothing where nothing is.
    """
    is_subagent, injections = event.name is Name.SUBAGENT, InjectionService(database)
    if event.session and event.source not in AGAIN and injections.was_briefed(event.session):
        return ""
    reminders = None if waking is None or is_subagent else waking.reminders(not settings.read_only)
    resumed = ResumeService(database, settings.learns, reminders).resume(
        framing.room(OF_A_SUBAGENT if is_subagent else LONGEST - OF_WAITING), frozenset(), WORDING, caller
    )
    waiting = "" if is_subagent else TrustService(database).lately(caller)
    if not resumed.briefing.shown and not waiting:
        return ""
    text = framed(framing.BRIEFING, resumed.briefing.text + (WAITING.format(waiting) if waiting else ""))
    if not settings.read_only and event.session:
        emptied = event.source in EMPTIED
        injections.record_briefing(event.session, Name.START, resumed.briefing, estimate(text), emptied)
    return text
