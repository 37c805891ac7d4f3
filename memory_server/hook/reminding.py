"""Reminding by a hook without an engine: from a server that runs, else by words."""

import os
from collections.abc import Callable
from functools import partial

from memory_server.domain.caller import Caller
from memory_server.domain.injection import Reminder
from memory_server.hook import asking, place
from memory_server.hook.settings import HookSettings
from memory_server.hook.wire import Question
from memory_server.storage.database import Database
from memory_server.triggers import once

Remind = Callable[[str, int, Caller], Reminder]
"""Gives what a prompt brings to mind, in so many tokens."""


def from_words(
    settings: HookSettings, database: Database, prompt: str, room: int, caller: Caller
) -> Reminder:
    """From a server that runs, else by words, and by triggers that compare no meanings."""
    if not settings.no_socket:
        question = Question(place.name_of(settings.db), prompt, room, caller)
        answer = asking.ask(settings.db, question)
        if answer is not None:
            return answer
    from memory_server.services import by_words
    from memory_server.services.reminding import RemindingService
    from memory_server.services.waking import WakingService

    waking = WakingService(database, once.judge, _chance)
    return RemindingService(database, waking, partial(by_words.find, database)).remind(prompt, room, caller)


def _chance() -> float:
    return int.from_bytes(os.urandom(6)) / 2**48
