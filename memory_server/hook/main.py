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
from memory_server.hook import event as events
from memory_server.hook import journal, settings
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings
from memory_server.storage.database import Database
from memory_server.where import Where

PATIENCE = 1.5
"""Seconds that a hook waits for a lock: a person waits for the hook."""

EVERY = "all"
"""What turns off every event."""


def main(arguments: Sequence[str]) -> int:
    """Run the hook of the event that the first argument names. Always 0."""
    name = arguments[0] if arguments else ""
    given = settings.read(arguments[1:])
    said, failure = "", None
    try:
        said = _answer(Name(name), given)
    except Exception as error:  # a hook that fails must not be seen: clients stop a prompt for less
        failure = f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):  # the client has gone, or the folder of the log cannot be written
        _tell(said)
        if failure is not None:
            journal.failed(given.db, _now(), name, failure)
        elif not given.off & {EVERY, name}:
            journal.worked(given.db, _now(), name)
    return 0


def _tell(said: str) -> None:
    """Print it without a buffer: what a client does not take would be tried again at exit, and fail."""
    left = said.encode("utf-8")
    while left:
        left = left[os.write(sys.stdout.fileno(), left) :]


def _answer(name: Name, given: HookSettings) -> str:
    if given.off & {EVERY, name.value}:
        return ""
    event = events.read(name, "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8"))
    with deadline.within(PATIENCE):
        database = _database(given.db)
        database.files.refuse_empty()
        text = again.whole(partial(_text, event, given, database))
        database.close()
    return events.answer(event, given.client, text) + "\n" if text else ""


def _database(place: Where) -> Database:
    """Of a hook, a database that is not there is no reason to make one."""
    database = stores.at(place, _clock)
    database.refuse_new()
    return database


def _clock() -> datetime:
    return datetime.now(UTC)


def _text(event: Event, given: HookSettings, database: Database) -> str:
    caller = Caller(given.client, event.session or given.session, given.here(event.folder))
    match event.name:
        case Name.START:
            from memory_server.hook.start import start

            return start(event, database, caller, given)
        case Name.PROMPT:
            from memory_server.hook.prompt import prompt

            return prompt(event, given, database, caller)
        case _ if given.read_only:
            return ""
        case _:
            from memory_server.hook.keep import keep

            keep(event, database, caller, given.learns)
            return ""


def _now() -> str:
    return timestamp(_clock())
