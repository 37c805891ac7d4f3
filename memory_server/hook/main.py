"""`memory-server hook EVENT`: reads what happened from standard input, and prints what the model should know now.

Whatever fails, it exits with 0 and prints nothing: a memory must never keep a person from working. What failed is a
line in the log that `memory-server doctor` shows.
"""

import contextlib
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from memory_server import stores
from memory_server.call import again, deadline
from memory_server.domain.caller import Caller
from memory_server.domain.moment import timestamp
from memory_server.errors import NotMade
from memory_server.hook import event as events
from memory_server.hook import journal
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings, read
from memory_server.storage.database import Database
from memory_server.where import Where

PATIENCE = 1.5
"""Seconds that a hook waits for a lock: a person waits for the hook."""

EVERY = "all"
"""The word that turns off every event."""


def main(arguments: Sequence[str]) -> int:
    """Run the hook of the event that the first argument names. Always 0."""
    name = arguments[0] if arguments else ""
    settings = read(arguments[1:])
    answer, failure = "", None
    try:
        answer = _answer(Name(name), settings)
    except NotMade:  # a first session whose server has not started yet
        return 0
    except Exception as error:  # a hook that fails must not be seen: clients stop a prompt for less
        failure = f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):  # the client has gone, or the folder of the log cannot be written
        _tell(answer)
        if failure is not None:
            journal.failed(settings.db, _now(), name, failure)
        elif not settings.off & {EVERY, name}:
            journal.worked(settings.db, _now(), name)
    return 0


def _tell(answer: str) -> None:
    """Print it without a buffer: what a client does not take would be tried again at exit, and fail."""
    left = answer.encode("utf-8")
    while left:
        left = left[os.write(sys.stdout.fileno(), left) :]


def _answer(name: Name, settings: HookSettings) -> str:
    if settings.off & {EVERY, name.value}:
        return ""
    event = events.read(name, "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8"))
    with deadline.within(PATIENCE):
        database = _database(settings.db)
        database.files.refuse_empty()
        text = again.whole(partial(_text, event, settings, database))
        database.close()
    return events.answer(event, settings.client, text) + "\n" if text else ""


def _database(place: Where) -> Database:
    """Open the database; a hook never creates it."""
    database = stores.at(place, _clock)
    database.refuse_new()
    return database


def _clock() -> datetime:
    return datetime.now(UTC)


def _text(event: Event, settings: HookSettings, database: Database) -> str:
    caller = Caller(settings.client, event.session or settings.session, settings.here(event.folder))
    match event.name:
        case Name.START:
            from memory_server.hook.start import start

            return start(event, database, caller, settings)
        case Name.PROMPT:
            from memory_server.hook.prompt import prompt

            return prompt(event, settings, database, caller)
        case _ if settings.read_only:
            return ""
        case _:
            from memory_server.hook.keep import keep

            keep(event, database, caller, settings.learns)
            return ""


def _now() -> str:
    return timestamp(_clock())
