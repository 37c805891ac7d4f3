"""At each prompt: what bears on it."""

from memory_server.domain.caller import Caller
from memory_server.hook import framing
from memory_server.hook.event import Event, Name
from memory_server.language import sentences
from memory_server.services.reminding import RemindingService
from memory_server.sqlite.database import Database

LONGEST = 600
"""Tokens of all that is said at a prompt."""


SUGGESTED = 120
"""Tokens of the line about what is not stored yet."""


def prompt(event: Event, database: Database, caller: Caller, records: bool) -> str:
    """What is known that bears on the prompt, and what was stated and is not stored; nothing where neither is."""
    service = RemindingService(database, records)
    missing = service.not_stored(Name.PROMPT, caller)
    room = framing.room(LONGEST) - (SUGGESTED if missing else 0)
    lines = service.remind(event.prompt, room, Name.PROMPT, caller)
    said = [framing.found(lines)] if lines else []
    if missing:
        line = sentences.shortened(missing, SUGGESTED - 20)
        said.append(f'Not stored yet: "{framing.escaped(line)}". Call memory_store if it should last.')
    return "\n".join(said)
