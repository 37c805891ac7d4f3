"""At the start of a session: the briefing of its project."""

from memory_server.domain.caller import Caller
from memory_server.hook import framing
from memory_server.hook.event import Event
from memory_server.hook.settings import HookSettings
from memory_server.language.tokens import estimate
from memory_server.services.injections import InjectionService
from memory_server.services.resume import ResumeService, Wording
from memory_server.storage.database import Database

LONGEST = 2000
"""Tokens of all that is said at the start."""

WORDING = Wording("`recall`, `memory_search`", lambda _: 0.0)


EMPTIED = frozenset(["clear", "compact"])
"""The ways in which a session begins whose context no longer has what it was told before."""


AGAIN = frozenset(["resume", *EMPTIED])
"""The ways in which a session begins that is briefed although it was before. Else a second briefing is that of another
client's file: VS Code runs the hooks of Claude Code too."""


def start(event: Event, database: Database, caller: Caller, settings: HookSettings) -> str:
    """Brief the model on what is known of the project; say nothing where nothing is."""
    injections = InjectionService(database)
    if event.session and event.source not in AGAIN and injections.was_briefed(event.session):
        return ""
    resumed = ResumeService(database, settings.learns).resume(
        framing.room(LONGEST), frozenset(), WORDING, caller
    )
    if not resumed.briefing.said:
        return ""
    text = framing.briefing(resumed.briefing.text)
    if not settings.read_only and event.session:
        emptied = event.source in EMPTIED
        injections.record_briefing(event.session, event.name, resumed.briefing, estimate(text), emptied)
    return text
