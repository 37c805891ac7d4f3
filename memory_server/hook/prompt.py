"""At each prompt: what bears on it."""

from memory_server.domain.caller import Caller
from memory_server.hook import framing
from memory_server.hook.event import Event, Name
from memory_server.services.reminding import RemindingService
from memory_server.sqlite.database import Database

LONGEST = 600
"""Tokens of all that is said at a prompt."""


def prompt(event: Event, database: Database, caller: Caller, records: bool) -> str:
    """What is known that bears on the prompt; nothing where nothing is likely to."""
    service = RemindingService(database, records)
    lines = service.remind(event.prompt, framing.room(LONGEST), Name.PROMPT, caller)
    return framing.found(lines) if lines else ""
