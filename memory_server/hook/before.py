"""`memory-server hook PreToolUse` where no engine answers: this process judges the act by the rules of its project."""

import contextlib
from collections.abc import Mapping, Sequence

from memory_server import defaults
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect
from memory_server.domain.rules import Ruling
from memory_server.hook.answering import answered, late, opened
from memory_server.hook.event import Event
from memory_server.hook.output import tell
from memory_server.hook.settings import HookSettings

SECONDS = 3.0
"""Seconds in which the rules are read and judged by a new worker: on an idle machine it takes 0.3."""


def main(arguments: Sequence[str], environment: Mapping[str, str], data: bytes, is_late: bool) -> bool:
    """Print what the rules say to an act. Return True where the next act needs an engine: the database has rules.

    `is_late`: an engine runs that did not answer in time. It may still judge the act, and logs it then.
    """
    rulings = []

    def say(event: Event, settings: HookSettings) -> str | Ruling:
        ruling = _ruling(event, settings, is_late or settings.read_only)
        if ruling is None:
            return ""
        rulings.append(ruling)
        return ruling if ruling.effect in (Effect.ASK, Effect.DENY) else ruling.text

    if is_late:
        late(arguments, environment)
    answer = answered(arguments, environment, data, defaults.folder(), say, SECONDS)
    with contextlib.suppress(OSError):  # the client has gone
        tell(answer)
    return bool(rulings)


def _ruling(event: Event, settings: HookSettings, only_looks: bool) -> Ruling | None:
    """Return what the rules say to an act; None where the database has no rule."""
    if event.act is None:
        return None
    with contextlib.closing(opened(settings.db)) as database:
        database.files.refuse_empty()
        with database.read() as tx:
            if not tx.rules.stand():
                return None
        from memory_server import judges  # most databases have no rule

        if settings.zone:
            defaults.use_zone(settings.zone)
        caller = Caller(settings.client, event.session, settings.here(event.folder), folder=event.folder)
        with judges.ruling(database, settings.zone) as service:
            return service.looked(event.act, caller) if only_looks else service.judged(event.act, caller)
