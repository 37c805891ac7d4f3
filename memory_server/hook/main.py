"""`memory-server hook EVENT` without an engine: prints what the model should know now. Acts are in `before.py`."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server import defaults
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.hook.answering import answered, opened
from memory_server.hook.event import Event, Name
from memory_server.hook.keep import keep
from memory_server.hook.output import tell
from memory_server.hook.prompt import Remind, prompt
from memory_server.hook.settings import HookSettings
from memory_server.hook.start import start
from memory_server.language import lasting
from memory_server.language.told import Judge
from memory_server.storage.database import Database

if TYPE_CHECKING:  # only an engine has it
    from memory_server.services.waking import WakingService


def main(arguments: Sequence[str], environment: Mapping[str, str], data: bytes) -> None:
    """Run the hook of the event that the first argument names, in this process, on what the client sent."""
    answer = answered(arguments, environment, data, defaults.folder(), _say)
    with contextlib.suppress(OSError):  # the client has gone
        tell(answer)


def _say(event: Event, settings: HookSettings) -> str:
    """Say it without an engine: nothing before a prompt, which needs an embedder and JavaScript."""
    with contextlib.closing(opened(settings.db)) as database:
        database.files.refuse_empty()
        return said(event, settings, database, None)


def said(
    event: Event,
    settings: HookSettings,
    database: Database,
    remind: Remind | None,
    waking: "WakingService | None" = None,
    judge: Judge = lasting.by_words,
    stamp: trust.Stamp = trust.unknown,
) -> str:
    """Say what the model should know of an event. `remind` gives what a prompt brings to mind, and `waking` judges
    which reminders are due, where an engine can. `judge` tells what of a turn should last, and `stamp` who said
    first what is kept.
    """
    caller = Caller(
        settings.client,
        event.session or settings.session,
        settings.here(event.folder),
        folder=event.folder,
        stamp=stamp,
    )
    match event.name:
        case Name.START | Name.SUBAGENT:
            return start(event, database, caller, settings, waking)
        case Name.PROMPT:
            return "" if remind is None else prompt(event, settings, database, caller, remind)
        case Name.BEFORE | Name.WROTE | Name.FAILED:
            return ""
        case _ if settings.read_only:
            return ""
        case _:
            keep(event, database, caller, settings.learns, judge, isinstance(settings.db, Path))
            return ""
