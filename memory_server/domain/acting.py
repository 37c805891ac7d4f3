"""For whom the file is read and written. A face sets it around each call; every transaction asks for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from memory_server.domain.caller import Person

NOBODY: Final = ""
"""No face has said for whom."""

_acting: ContextVar[Person | str | None] = ContextVar("acting", default=NOBODY)


@contextmanager
def as_(person: Person | None) -> Iterator[None]:
    """What is done inside is done for this person; None is the owner of the file."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def person() -> Person | None:
    """The person for whom something is done; None for the owner of the file, and where nobody is named."""
    found = _acting.get()
    return found if isinstance(found, Person) else None


def is_named() -> bool:
    """Whether a face, or background work, has said for whom."""
    return _acting.get() != NOBODY
