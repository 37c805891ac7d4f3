"""Repeats a call that the database has rolled back, if nothing of it has been committed."""

import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from memory_server.call import deadline
from memory_server.errors import Undone

logger = logging.getLogger(__name__)

TIMES: Final = 4
"""How often a call is tried at most. The second try nearly always succeeds."""

PAUSE: Final = 0.1
"""Seconds before the second try; twice as many before each further one."""

Result = TypeVar("Result")


@dataclass(slots=True)
class _Call:
    once: bool = False


_call: ContextVar[_Call | None] = ContextVar("call", default=None)


def forbid() -> None:
    """Do not repeat this call: a part of it is committed or will be written later, and would be written twice."""
    call = _call.get()
    if call is not None:
        call.once = True


def is_possible() -> bool:
    """True if this call is repeated where it raises Undone now."""
    call = _call.get()
    return call is not None and not call.once


def whole(action: Callable[[], Result]) -> Result:
    """The result of a whole call. If the database rolls the call back, it is repeated, up to TIMES tries in all.

    A service may read, embed and then write, so only the code that began the whole call can repeat it. A call that has
    committed something, or has left something to be written later, is not repeated.

    Raises:
        Undone: each try was rolled back, the time of the call is over, or a part of it is committed.
    """
    pause = PAUSE
    for _ in range(TIMES - 1):
        call = _Call()
        token = _call.set(call)
        try:
            return action()
        except Undone as error:
            if call.once or deadline.left() < pause:
                raise
            logger.info("a call was rolled back and is repeated: %s", error)
        finally:
            _call.reset(token)
        time.sleep(pause)
        pause *= 2
    return action()
