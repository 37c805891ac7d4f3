"""At each prompt: the prompts that it wakes, and what bears on it."""

import shlex
from collections.abc import Callable

from memory_server.domain import plain_rules
from memory_server.domain.caller import Caller
from memory_server.domain.injection import Reminder
from memory_server.hook import framing
from memory_server.hook.event import Event, Name
from memory_server.hook.settings import HookSettings
from memory_server.language import sentences
from memory_server.language.frame import escaped, framed
from memory_server.services.correcting import CorrectingService, Correction
from memory_server.services.injections import InjectionService
from memory_server.services.suggesting import SuggestingService
from memory_server.storage.database import Database

LONGEST = 600
"""Tokens of all that is said at a prompt."""


SUGGESTED = 120
"""Tokens of the line about what is not stored yet."""

Remind = Callable[[str, int, Caller], Reminder]
"""Gives what a prompt brings to mind, in so many tokens."""


def prompt(event: Event, settings: HookSettings, database: Database, caller: Caller, remind: Remind) -> str:
    """Say what is known that bears on the prompt, and what was stated and is not stored."""
    records = not settings.read_only
    missing = SuggestingService(database).not_stored(Name.PROMPT, caller) if records else None
    room = framing.room(LONGEST) - (SUGGESTED if missing else 0)
    reminder = remind(event.prompt, room, caller) if event.prompt.strip() else Reminder()
    if records:
        InjectionService(database).record_reminder(reminder, Name.PROMPT, caller)
    texts = [framed(framing.REMINDER, reminder.text)] if reminder.text else []
    if records and (correction := CorrectingService(database).corrected(event.prompt, caller)):
        texts.append(_corrected(correction))
    if records and (offer := _offered(event.prompt, database)):
        texts.append(offer)
    if missing:
        line = sentences.shortened(missing, SUGGESTED - 20)
        texts.append(f'Not stored yet: "{escaped(line)}". Call memory_store if it should last.')
    return "\n".join(texts)


def _offered(text: str, database: Database) -> str:
    """Say how what the user forbids can be held before acts; '' where it forbids nothing, or a rule of that name is
    there."""
    rule = plain_rules.of_words(text)
    if rule is None:
        return ""
    with database.read() as tx:
        if tx.rules.is_named(rule.name):
            return ""
    command = escaped(f"memory-server rules add {shlex.quote(rule.reason)}")
    return f"The user states a rule. Offer to hold it before acts: they confirm it by running `{command}`."


def _corrected(correction: Correction) -> str:
    name = escaped(correction.name)
    thing = f"the fact {name}" if correction.is_fact else name
    value = f" ({escaped(correction.value)})" if correction.value else ""
    call = "write_memory" if correction.is_fact else "memory_update"
    if correction.is_sure:
        return f"The user corrects {thing}{value}. Call {call} to change it."
    return f"The user may change {thing}{value}. If so, call {call}."
