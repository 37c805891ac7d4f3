"""Sessions that are read whole: those of opencode, Cursor and Gemini CLI, which change what they wrote earlier."""

from collections.abc import Iterator
from pathlib import Path

from memory_server.domain.exchange.records import Refusal, TurnRecord
from memory_server.importing import cursor, gemini, opencode
from memory_server.importing.session import turns

_READERS = ((opencode.fits, opencode.read), (cursor.fits, cursor.read), (gemini.fits, gemini.read))


def fits(path: Path) -> bool:
    return any(fits(path) for fits, _ in _READERS)


def records(path: Path) -> Iterator[TurnRecord | Refusal]:
    """Yield the turns of a file or a folder, those of the newest session first, and what cannot be read of it."""
    read = next(read for fits, read in _READERS if fits(path))
    for session in read(path):
        if isinstance(session, Refusal):
            yield session
        else:
            yield from turns(session)
