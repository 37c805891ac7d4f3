"""Answers the hooks of clients with the services of an engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memory_server.app import Services
from memory_server.call import acting
from memory_server.hook import main
from memory_server.hook.event import Event
from memory_server.hook.settings import HookSettings


def answer(
    services: Services, arguments: Sequence[str], environment: Mapping[str, str], data: bytes, folder: Path
) -> str:
    """Return what a hook prints, of what the client sent it in a folder."""

    def say(event: Event, settings: HookSettings) -> str:
        return main.said(
            event, settings, services.database, services.reminding.remind, services.reminding.waking
        )

    with acting.as_(None):
        return main.answered(arguments, environment, data, folder, say)
