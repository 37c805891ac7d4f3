"""The person for whom the file is read and written. A face sets it around each call; every transaction reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from memory_server.domain.caller import Person

NOBODY: Final = ""
"""No face has named a person."""

_acting: ContextVar[Person | str | None] = ContextVar("acting", default=NOBODY)


@contextmanager
def as_(person: Person | None) -> Iterator[None]:
    """Runs the block for this person; None is the owner of the file."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def person() -> Person | None:
    """The person of the current call; None for the owner of the file, and where nobody is named."""
    acting = _acting.get()
    return acting if isinstance(acting, Person) else None


def is_named() -> bool:
    """True if a face or a background job has named the person, or the owner."""
    return _acting.get() != NOBODY
