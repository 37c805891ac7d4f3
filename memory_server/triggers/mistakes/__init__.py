"""Mistakes that JavaScript keeps silent about, found in the source of a trigger before it runs.

Each module knows one subject and yields what it finds. What is always a mistake is refused; what may be meant so is a
warning. Each says what to write instead.
"""

from memory_server.errors import TriggerRejected
from memory_server.triggers.mistakes import dates, functions, keys, logic, messages, ranges
from memory_server.triggers.reading import Mistake, Refused, SourceReading


def warnings(source: str) -> tuple[str, ...]:
    """Say what is probably a mistake.

    Raises:
        TriggerRejected: something is one for certain.
    """
    reading = SourceReading.of(source)
    mistakes: list[Mistake] = [
        mistake
        for subject in (functions, messages, dates, logic, ranges, keys)
        for mistake in subject.mistakes(reading)
    ]
    for mistake in mistakes:
        if isinstance(mistake, Refused):
            raise TriggerRejected(mistake.text)
    return tuple(dict.fromkeys(mistake.text for mistake in mistakes))
