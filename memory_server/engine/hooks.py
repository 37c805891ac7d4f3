"""Answers the hooks of clients with the services of an engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memory_server.app import Services
from memory_server.call import acting
from memory_server.domain.caller import Caller
from memory_server.hook import main
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings

MEMORIES = "memory"
"""The folder beside its transcripts in which Claude Code keeps what it remembers of a project."""


def answer(
    services: Services, arguments: Sequence[str], environment: Mapping[str, str], data: bytes, folder: Path
) -> str:
    """Return what a hook prints, of what the client sent it in a folder."""

    def say(event: Event, settings: HookSettings) -> str:
        if event.transcript is not None and event.name is not Name.PROMPT and not settings.read_only:
            caller = Caller(settings.client, event.session, settings.here(event.folder))
            services.following.follow(event.transcript.parent / MEMORIES, caller)
        return main.said(
            event, settings, services.database, services.reminding.remind, services.reminding.waking
        )

    with acting.as_(None):
        return main.answered(arguments, environment, data, folder, say)
