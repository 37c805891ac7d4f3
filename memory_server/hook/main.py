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
from memory_server.domain.effect import Effect
from memory_server.domain.moment import timestamp
from memory_server.domain.rules import Ruling
from memory_server.errors import MemoryServerError, NotMade
from memory_server.flags import EVERY_HOOK
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
from memory_server.sqlite.glance import Glance
from memory_server.storage.database import Database
from memory_server.where import Where

if TYPE_CHECKING:  # only an engine has it
    from memory_server.services.waking import WakingService

PATIENCE = 1.5
"""Seconds that a hook waits for a lock: a person waits for the hook."""

OF_A_LOOK = 0.5
"""Seconds that a look for rules on PostgreSQL may take."""

LATE = "the engine did not answer in time; where it was just starting, the next hook finds it"

UNJUDGED = "The rules for this memory could not be judged ({}). Ask the user before you do this."


Say = Callable[[Event, HookSettings], str | Ruling]
"""Gives what the model should know of an event, '' is nothing; or what the rules say to an act."""


def main(arguments: Sequence[str], environment: Mapping[str, str], data: bytes) -> bool:
    """Run the hook of the event that the first argument names, in this process, on what the client sent. Return True
    where the next act needs an engine: rules wait to be judged."""
    if arguments[:1] == [Name.BEFORE]:
        return _unjudged(arguments, environment, data, "no engine runs")
    answer = answered(arguments, environment, data, defaults.folder(), _say)
    with contextlib.suppress(OSError):  # the client has gone
        tell(answer)
    return False


def late(arguments: Sequence[str], environment: Mapping[str, str], data: bytes) -> None:
    """Write into the log that nothing was said, since an engine did not answer in time; an act is asked about."""
    with contextlib.suppress(OSError):  # the folder of the log cannot be written
        journal.failed(read(arguments[1:], environment).db, _now(), arguments[0], LATE)
    if arguments[:1] == [Name.BEFORE]:
        _unjudged(arguments, environment, data, "the engine did not answer in time")


def _unjudged(arguments: Sequence[str], environment: Mapping[str, str], data: bytes, reason: str) -> bool:
    """Let the client ask a person, where a rule stands that could not be judged. Return True where one does."""
    settings, text = read(arguments[1:], environment), data.decode("utf-8", "replace")
    is_off = bool(settings.off & {EVERY_HOOK, Name.BEFORE})
    ruling = Ruling() if is_off else unjudged(settings.db, reason)
    with contextlib.suppress(OSError):  # the client has gone
        tell(_decided(settings.client, ruling, text))
    return ruling.effect is not None


def unjudged(place: Where, reason: str) -> Ruling:
    """Return what is asked before an act where no rule could be judged; nothing where no rule stands."""
    try:
        stands = _stands(place)
    except NotMade:
        return Ruling()
    except MemoryServerError as error:
        with contextlib.suppress(OSError):  # the folder of the log cannot be written
            journal.failed(place, _now(), Name.BEFORE, f"the rules could not be read: {error}")
        return Ruling()
    return Ruling(Effect.ASK, UNJUDGED.format(reason)) if stands else Ruling()


def _stands(place: Where) -> bool:
    """Return True if a rule stands that a person has confirmed.

    Raises:
        MemoryServerError: that cannot be read, or not in time.
    """
    if isinstance(place, Path):
        if not place.exists():
            return False
        with Glance(place, stores.clock).read() as tx:
            return tx.rules.are_confirmed()
    with deadline.within(OF_A_LOOK), contextlib.closing(_database(place)) as database, database.read() as tx:
        return tx.rules.are_confirmed()


def answered(
    arguments: Sequence[str], environment: Mapping[str, str], data: bytes, folder: Path, say: Say
) -> str:
    """Return what the client puts into the model's context; never fails. What fails is a line of the log."""
    name = arguments[0] if arguments else ""
    settings, sent = read(arguments[1:], environment), data.decode("utf-8", "replace")
    answer = _decided(settings.client, Ruling(), sent) if name == Name.BEFORE else ""
    if settings.off & {EVERY_HOOK, name}:
        return answer
    failure = None
    try:
        event = events.read(Name(name), data.decode("utf-8"), folder)
        with deadline.within(PATIENCE):
            text = again.whole(partial(say, event, settings))
        answer = _formed(event, settings.client, text, sent) or answer
    except NotMade:  # a first session whose server has not started yet
        return answer
    except Exception as error:  # a hook that fails must not be seen: clients stop a prompt for less
        failure = f"{type(error).__name__}: {error}"
        if name == Name.BEFORE:
            answer = _decided(settings.client, unjudged(settings.db, failure), sent)
    with contextlib.suppress(OSError):  # the folder of the log cannot be written
        if failure is not None:
            journal.failed(settings.db, _now(), name, failure)
        else:
            journal.worked(settings.db, _now(), name)
    return answer


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


def _say(event: Event, settings: HookSettings) -> str:
    """Say it without an engine: nothing before a prompt, which needs an embedder and JavaScript."""
    with contextlib.closing(_database(settings.db)) as database:
        database.files.refuse_empty()
        return said(event, settings, database, None)


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
