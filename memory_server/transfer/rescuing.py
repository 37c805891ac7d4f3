"""Rescues what can be read of a damaged file into a new one, and says what is lost.

A draft with the rows is copied as every database is: what is derived, such as words, is made anew, and so are vectors
and keywords.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memory_server import stores
from memory_server.domain.moment import timestamp
from memory_server.errors import Unavailable
from memory_server.sqlite import salvage, temporary
from memory_server.sqlite.salvage import Rescued
from memory_server.storage import packaged
from memory_server.transfer import copying


def rescue(source: Path, target: Path, clock: Callable[[], datetime], progress: copying.Progress) -> Rescued:
    """Write what can be read of a file into a new one.

    Raises:
        Unavailable: there is nothing of ours in it, or it is newer than this program.
        Conflict: the target is there already.
    """
    with temporary.folder() as folder:
        draft = folder / "draft.db"
        rescued = salvage.fill(draft, source, packaged.load(packaged.folder()), timestamp(clock()))
        if not rescued.rows:
            raise Unavailable(f"Nothing of this program can be read in {source}.")
        database = stores.at(draft, clock)
        try:
            copying.copy(database, str(source), stores.filling(target, clock), progress)
        finally:
            database.close()
    return rescued
