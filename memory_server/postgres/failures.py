"""Translates the driver's exceptions, by type, into errors that say what mends them."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from memory_server.errors import Conflict, Invalid, MemoryServerError, Mend, Unavailable, Undone, Written

NEWER = "MS001"
"""The SQLSTATE that the function `refuse_newer` raises."""

UNFINISHED = "MS002"
"""The SQLSTATE that `refuse_unfinished` raises; its message names the database of which the tenant is an unfinished
copy."""


MOVED = "MS003"
"""The SQLSTATE that it raises for a tenant that has moved; its message is the new address."""


REFUSING = frozenset([NEWER, UNFINISHED, MOVED])
"""They refuse a whole transaction, not the statement alone that raised them."""


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Translate the driver's errors of a block: see `meaning`."""
    try:
        yield
    except psycopg.Error as error:
        raise meaning(error, place) from error


def meaning(error: psycopg.Error, place: str) -> MemoryServerError:
    """Translate an error of the driver into one that says what mends it. `place` names the database without a
    password.
    """
    if error.sqlstate == UNFINISHED:
        return unfinished(place, str(error.diag.message_primary))
    if error.sqlstate == MOVED:
        return moved(place, str(error.diag.message_primary))
    broken = _broken_rule(error)
    if broken is not None:
        return broken
    match error:
        case errors.DeadlockDetected() | errors.SerializationFailure():
            return _undone(
                f"This call conflicted with another program in {place}, so PostgreSQL rolled it back."
            )
        case errors.LockNotAvailable():
            return _again(f"Other servers have kept {place} busy for longer than this call waits.")
        case errors.QueryCanceled():  # by `statement_timeout`, or by an administrator
            return _again(f"PostgreSQL stopped a statement in {place} ({_first_line(error)}).")
        case errors.DiskFull():
            return _again(f"The disk of {place} is full. Space must be freed.")
        case errors.ReadOnlySqlTransaction():
            text = f"The database {place} is read-only, as a replica is."
            return Unavailable(text, Mend.USE_ANOTHER_FILE, written=Written.NOTHING)
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return _again(f"The database {place} cannot be reached ({_first_line(error)}).")
    text = f"The database {place} failed ({type(error).__name__}: {_first_line(error)})."
    return Unavailable(text, written=Written.NOTHING)


def _broken_rule(error: psycopg.Error) -> Invalid | Conflict | None:
    """Return the error for a write that the database does not take as it is; None for any other error."""
    match error:
        case psycopg.DataError() if "NUL" in str(error):
            return Invalid("The text holds the character U+0000, which PostgreSQL cannot keep. Leave it out.")
        case errors.IntegrityError():
            text = f"The write breaks a rule of the database: {_first_line(error)}."
        case errors.InsufficientPrivilege() if "row-level security" in str(error):
            text = "The write breaks a rule of the database: it would be somebody else's."
        case _:
            return None
    return Conflict(text, written=Written.NOTHING)


def is_refusal(error: psycopg.Error) -> bool:
    """True if PostgreSQL has refused a statement, and with it all later ones up to the end of the transaction.

    After any other error it is unknown what was done before it: PostgreSQL may report that it ends the connection
    after it has committed, and the driver may fail over the missing answers.
    """
    return isinstance(error, errors.PipelineAborted) or error.diag.severity_nonlocalized == "ERROR"


def _again(text: str) -> Unavailable:
    """Make the error for a call of which nothing was written, and that can be tried again."""
    return Unavailable(text, Mend.TRY_AGAIN, written=Written.NOTHING)


def _undone(text: str) -> Undone:
    """Make the error for a transaction that was rolled back because of what others did."""
    return Undone(text, Mend.TRY_AGAIN, written=Written.NOTHING)


def busy(place: str, seconds: float) -> Unavailable:
    """Make the error for a call that waited in vain: others used every connection, or were opening the database."""
    return _again(f"Other calls have kept {place} busy for {seconds:.1f} s.")


def outdated() -> Undone:
    """Another server renamed or joined projects while a transaction went by their former names."""
    return _undone("Another server renamed or joined projects meanwhile.")


def lost(error: psycopg.Error, place: str) -> Undone:
    """Make the error for a connection that broke before the command to commit."""
    return _undone(f"The connection to {place} broke ({_first_line(error)}).")


def untold(error: psycopg.Error, place: str) -> Unavailable:
    """Make the error for a connection that broke between the command to commit and its answer."""
    return Unavailable(
        f"The connection to {place} broke while this was being written ({_first_line(error)}).",
        Mend.LOOK_FIRST,
        written=Written.UNKNOWN,
    )


def on_one_machine(warning: str, place: str) -> Unavailable:
    """Make the error for a commit that was done on the primary, and for whose replica an operator let nobody wait."""
    return Unavailable(
        f"{place} has this on one machine, and no replica has said so too ({warning}).",
        Mend.LOOK_FIRST,
        written=Written.UNKNOWN,
    )


def newer(error: psycopg.Error, place: str, newest: int) -> Unavailable:
    """Make the error for a schema that another server has brought forward; `newest` is the version of this program."""
    return Unavailable(
        f"A newer version of the program has upgraded {place}: {error.diag.message_primary}, and this program knows "
        f"versions up to {newest}. Nothing was changed.",
        Mend.UPGRADE,
    )


def unfinished(place: str, source: str) -> Unavailable:
    return Unavailable(f"{place} is an unfinished copy of {source}.", Mend.COPY_AGAIN)


def moved(place: str, target: str) -> Undone:
    """Make the error for a tenant that is in another database now: repeated, the call goes there."""
    return _undone(f"{place} has moved to {target}.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
