"""Answers the hooks of clients with the services of an engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memory_server.app import Services
from memory_server.call import acting
from memory_server.domain.act import Act
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect
from memory_server.domain.rules import Ruling
from memory_server.engine.witness import Witness
from memory_server.hook import answering, main, written
from memory_server.hook import event as events
from memory_server.hook.acts import around, under_way
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

    def say(event: Event, settings: HookSettings) -> str | Ruling:
        project = settings.here(event.folder)
        witness.hear(event, project)
        if event.written is not None:
            services.ground.read(event.written, project)
        memories, stamp = _memories(event), witness.stamp(event.session, project)
        caller = Caller(settings.client, event.session, project, stamp=stamp, folder=event.folder)
        if memories is not None and not settings.read_only:
            services.following.follow(memories, caller)
        if event.act is not None:
            ruling = _judged(services, event.name, event.act, caller)
            if ruling.effect in (Effect.ASK, Effect.DENY) or settings.client in events.UNTOLD:
                return ruling
            notes = around(event, event.act, caller, services.acts, services.mending, settings.read_only)
            return "\n".join(filter(None, [ruling.text, notes]))
        reminding = services.reminding
        judge = services.judging.judge
        text = main.said(event, settings, services.database, reminding.remind, reminding.waking, judge, stamp)
        return "\n".join(filter(None, [text, under_way(event, caller, services.acts, services.mending)]))

    with acting.as_(None):
        return answering.answered(arguments, environment, data, folder, say)


def _judged(services: Services, name: Name, act: Act, caller: Caller) -> Ruling:
    """Return what the rules say before an act; after it, mark that it ran."""
    if name is Name.BEFORE:
        return services.ruling.judged(act, caller)
    if name is Name.WROTE:
        services.ruling.ran(act, caller)
    return Ruling()


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
