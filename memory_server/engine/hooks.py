"""Answers the hooks of clients with the services of an engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memory_server.app import Services
from memory_server.call import acting
from memory_server.domain.caller import Caller
from memory_server.engine.witness import Witness
from memory_server.hook import event as events
from memory_server.hook import main, written
from memory_server.hook.acts import around
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings, read


def answer(
    services: Services,
    witness: Witness,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    data: bytes,
    folder: Path,
) -> str:
    """Return what a hook prints, of what the client sent it in a folder."""

    def say(event: Event, settings: HookSettings) -> str:
        project = settings.here(event.folder)
        witness.hear(event, project)
        if event.written is not None:
            services.ground.read(event.written, project)
        memories, stamp = _memories(event), witness.stamp(event.session, project)
        caller = Caller(settings.client, event.session, project, stamp=stamp, folder=event.folder)
        if memories is not None and not settings.read_only:
            services.following.follow(memories, caller)
        if event.act is not None:
            return around(event, event.act, caller, services.acts, services.mending, settings.read_only)
        reminding = services.reminding
        judge = services.judging.judge
        return main.said(event, settings, services.database, reminding.remind, reminding.waking, judge, stamp)

    with acting.as_(None):
        return main.answered(arguments, environment, data, folder, say)


def hear(
    witness: Witness, arguments: Sequence[str], environment: Mapping[str, str], data: bytes, folder: Path
) -> None:
    """Take in what the client told a hook.

    Raises:
        ValueError: it is no event.
    """
    event = events.read(events.Name(arguments[0]), data.decode(), folder)
    witness.hear(event, read(arguments[1:], environment).here(event.folder))


def _memories(event: Event) -> Path | None:
    """Return the folder of memories that may have changed: of the file that was written, else beside the transcript."""
    match event.name:
        case Name.PROMPT:
            return None
        case Name.WROTE:
            folder = event.written.parent if event.written else None
            return folder if folder and folder.name == written.MEMORIES else None
        case _:
            return event.transcript and event.transcript.parent / written.MEMORIES
