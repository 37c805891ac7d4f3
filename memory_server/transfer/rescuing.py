"""Rescues what can be read of a damaged file into a new one, and says what is lost.

A draft with the rows is copied as every database is: what is derived, such as words, is made anew, and so are vectors
and keywords.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memory_server import stores
from memory_server.domain.moment import timestamp
from memory_server.errors import MemoryServerError, Unavailable, Written
from memory_server.sqlite import filling, salvage, temporary
from memory_server.sqlite.salvage import Rescued
from memory_server.storage import packaged
from memory_server.storage.database import Database
from memory_server.transfer import copying


def rescue(source: Path, target: Path, clock: Callable[[], datetime], progress: copying.Progress) -> Rescued:
    """Write what can be read of a file into a new one, or leave none.

    Raises:
        Unavailable: there is nothing of ours in it, or it is newer than this program.
        Conflict: the target is there already.
    """
    with temporary.folder() as folder:
        draft = folder / "draft.db"
        rescued = salvage.fill(draft, source, packaged.load(packaged.folder()), timestamp(clock()))
        if not rescued.rows:
            if rescued.ours:
                raise Unavailable(f"Too much of {source} is missing: none of its rows can be read.")
            raise Unavailable(f"Nothing of this program can be read in {source}.")
        database = stores.at(draft, clock)
        try:
            _copy(database, source, target, clock, progress)
        finally:
            database.close()
    return rescued


def _copy(
    draft: Database, source: Path, target: Path, clock: Callable[[], datetime], progress: copying.Progress
) -> None:
    """Copy the draft; one that is not finished goes away, unless it was there before."""
    unfinished = target.with_name(target.name + filling.ENDING)
    was_there = unfinished.exists()
    try:
        copying.copy(draft, str(source), stores.filling(target, clock), progress)
    except BaseException as error:
        if not was_there:
            unfinished.unlink(missing_ok=True)
        if isinstance(error, MemoryServerError):  # its mend is one of `copy`
            raise type(error)(error.problem.text, written=Written.NOTHING) from error
        raise
