"""`memory-server hook EVENT`: reads what happened from standard input, and prints what the model should know now.

Whatever fails, it exits with 0 and prints nothing: a memory must never keep a person from working. What failed is a
line in the log that `memory-server doctor` shows.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server import defaults, stores
from memory_server.call import again, deadline
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.moment import timestamp
from memory_server.errors import NotMade
from memory_server.hook import event as events
from memory_server.hook import journal
from memory_server.hook.event import Event, Name
from memory_server.hook.keep import keep
from memory_server.hook.output import tell
from memory_server.hook.prompt import Remind, prompt
from memory_server.hook.settings import HookSettings, read
from memory_server.hook.start import start
from memory_server.language import lasting
from memory_server.language.told import Judge
from memory_server.storage.database import Database
from memory_server.where import Where

if TYPE_CHECKING:  # only an engine has it
    from memory_server.services.waking import WakingService

PATIENCE = 1.5
"""Seconds that a hook waits for a lock: a person waits for the hook."""

LATE = "the engine did not answer in time; where it was just starting, the next hook finds it"

EVERY = "all"
"""The word that turns off every event."""


Say = Callable[[Event, HookSettings], str]
"""Gives what the model should know of an event; '' is nothing."""


def main(arguments: Sequence[str], environment: Mapping[str, str], data: bytes) -> int:
    """Run the hook of the event that the first argument names, in this process, on what the client sent. Always 0."""
    answer = answered(arguments, environment, data, defaults.folder(), _say)
    with contextlib.suppress(OSError):  # the client has gone
        tell(answer)
    return 0


def late(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Write into the log that nothing was said, since an engine did not answer in time."""
    with contextlib.suppress(OSError):  # the folder of the log cannot be written
        journal.failed(read(arguments[1:], environment).db, _now(), arguments[0], LATE)


def answered(
    arguments: Sequence[str], environment: Mapping[str, str], data: bytes, folder: Path, say: Say
) -> str:
    """Return what the client puts into the model's context; never fails. What fails is a line of the log."""
    name = arguments[0] if arguments else ""
    settings = read(arguments[1:], environment)
    if settings.off & {EVERY, name}:
        return ""
    answer, failure = "", None
    try:
        event = events.read(Name(name), data.decode("utf-8"), folder)
        with deadline.within(PATIENCE):
            text = again.whole(partial(say, event, settings))
        answer = events.answer(event, settings.client, text) + "\n" if text else ""
    except NotMade:  # a first session whose server has not started yet
        return ""
    except Exception as error:  # a hook that fails must not be seen: clients stop a prompt for less
        failure = f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):  # the folder of the log cannot be written
        if failure is not None:
            journal.failed(settings.db, _now(), name, failure)
        else:
            journal.worked(settings.db, _now(), name)
    return answer


def _say(event: Event, settings: HookSettings) -> str:
    """Say it without an engine: nothing before a prompt, which needs an embedder and JavaScript."""
    database = _database(settings.db)
    database.files.refuse_empty()
    text = said(event, settings, database, None)
    database.close()
    return text


def _database(place: Where) -> Database:
    """Open the database; a hook never creates it."""
    database = stores.at(place, stores.clock)
    database.refuse_new()
    return database


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


def _now() -> str:
    return timestamp(stores.clock())
