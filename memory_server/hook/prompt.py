"""At each prompt: the prompts that it wakes, and what bears on it."""

import os
from functools import partial

from memory_server.domain.caller import Caller
from memory_server.domain.injection import Reminder
from memory_server.hook import asking, framing, place
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings
from memory_server.hook.wire import Question
from memory_server.language import sentences
from memory_server.services.injections import InjectionService
from memory_server.services.suggesting import SuggestingService
from memory_server.storage.database import Database
from memory_server.triggers import once

LONGEST = 600
"""Tokens of all that is said at a prompt."""


SUGGESTED = 120
"""Tokens of the line about what is not stored yet."""


def prompt(event: Event, settings: HookSettings, database: Database, caller: Caller) -> str:
    """Say what is known that bears on the prompt, and what was stated and is not stored."""
    records = not settings.read_only
    missing = SuggestingService(database).not_stored(Name.PROMPT, caller) if records else None
    room = framing.room(LONGEST) - (SUGGESTED if missing else 0)
    reminder = (
        _reminder(event.prompt, room, settings, database, caller) if event.prompt.strip() else Reminder()
    )
    if records:
        InjectionService(database).record_reminder(reminder, Name.PROMPT, caller)
    texts = [framing.found(reminder.text)] if reminder.text else []
    if missing:
        line = sentences.shortened(missing, SUGGESTED - 20)
        texts.append(f'Not stored yet: "{framing.escaped(line)}". Call memory_store if it should last.')
    return "\n".join(texts)


def _reminder(prompt: str, room: int, settings: HookSettings, database: Database, caller: Caller) -> Reminder:
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
