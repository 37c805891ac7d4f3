"""Answers one hook: never fails, and writes into the log what did.

Whatever fails, the hook exits with 0 and prints nothing: a memory must never keep a person from working. Only an act
that rules could not judge is asked about.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from memory_server import stores
from memory_server.call import again, deadline
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect
from memory_server.domain.moment import timestamp
from memory_server.domain.rules import Ruling
from memory_server.errors import MemoryServerError, NotMade
from memory_server.flags import EVERY_HOOK
from memory_server.hook import event as events
from memory_server.hook import journal
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings, read
from memory_server.storage.database import Database
from memory_server.where import Where

PATIENCE = 1.5
"""Seconds that a hook waits for a lock: a person waits for the hook."""

OF_A_LOOK = 0.5
"""Seconds that a look for rules may take."""

LATE = "the engine did not answer in time; where it was just starting, the next hook finds it"

UNJUDGED = (
    "The rules of this project could not be judged ({}). Ask the user before you do this. "
    "`memory-server doctor` says what is wrong."
)

Say = Callable[[Event, HookSettings], str | Ruling]
"""Gives what the model should know of an event, '' is nothing; or what the rules say to an act."""


def answered(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    data: bytes,
    folder: Path,
    say: Say,
    seconds: float = PATIENCE,
) -> str:
    """Return what the client puts into the model's context; never fails. What fails is a line of the log."""
    name = arguments[0] if arguments else ""
    settings, sent = read(arguments[1:], environment), data.decode("utf-8", "replace")
    answer = _decided(settings.client, Ruling(), sent) if name == Name.BEFORE else ""
    if settings.off & {EVERY_HOOK, name}:
        return answer
    failure = None
    try:
        event = events.sent(name, data, folder)
        folder = event.folder
        with deadline.within(seconds):
            text = again.whole(partial(say, event, settings))
        answer = _formed(event, settings.client, text, sent) or answer
    except NotMade:  # a first session whose server has not started yet
        return answer
    except Exception as error:  # a hook that fails must not be seen: clients stop a prompt for less
        failure = f"{type(error).__name__}: {error}"
        if name == Name.BEFORE:
            answer = _decided(settings.client, _unjudged(settings, folder, error), sent)
    with contextlib.suppress(OSError):  # the folder of the log cannot be written
        if failure is not None:
            journal.failed(settings.db, now(), name, failure)
        else:
            journal.worked(settings.db, now(), name)
    return answer


def late(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Write into the log that an engine did not answer in time."""
    with contextlib.suppress(OSError):  # the folder of the log cannot be written
        journal.failed(read(arguments[1:], environment).db, now(), arguments[0], LATE)


def opened(place: Where) -> Database:
    """Open the database; a hook never creates it."""
    database = stores.at(place, stores.clock)
    database.refuse_new()
    return database


def now() -> str:
    return timestamp(stores.clock())


def _unjudged(settings: HookSettings, folder: Path, error: Exception) -> Ruling:
    """Return what is asked before an act that could not be judged.

    Nothing where no rule of its project stops any, or where PostgreSQL cannot be reached: its outage, or a laptop on a
    train, must not stop the work of all.
    """
    try:
        stops = _stops(settings, folder)
    except NotMade:
        return Ruling()
    except MemoryServerError as unreadable:
        stops, error = isinstance(settings.db, Path), unreadable
    return Ruling(Effect.ASK, UNJUDGED.format(error)) if stops else Ruling()


def _stops(settings: HookSettings, folder: Path) -> bool:
    """Return True if a rule of the project asks or denies.

    Raises:
        MemoryServerError: that cannot be read, or not in time.
    """
    from memory_server.services import ruling  # few hooks fail
    from memory_server.sqlite.glance import Glance

    place, caller = settings.db, Caller(project=settings.here(folder))
    if isinstance(place, Path) and not place.exists():
        return False
    database = Glance(place, stores.clock) if isinstance(place, Path) else opened(place)
    with deadline.within(OF_A_LOOK), contextlib.closing(database), database.read() as tx:
        return any(rule.present is not Effect.SAY for rule in ruling.standing(tx, caller))


def _formed(event: Event, client: str | None, answer: str | Ruling, sent: str) -> str:
    if isinstance(answer, Ruling):
        return _decided(client, answer, sent)
    client = events.client_of(client, sent)
    is_told = answer and not (event.name is Name.BEFORE and client in events.UNTOLD)
    return events.answer(event, client, answer) + "\n" if is_told else ""


def _decided(client: str | None, ruling: Ruling, sent: str) -> str:
    """Form what the rules say, of what the client has sent; '' where nothing has to be said."""
    decision = events.decision(events.client_of(client, sent), ruling, sent)
    return decision + "\n" if decision else ""
