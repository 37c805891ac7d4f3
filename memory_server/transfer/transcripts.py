"""Follows the transcripts of clients: takes in what a file has more than was read of it, and drops what is gone.

Their turns are known by their origin: the file, and the byte where they begin.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memory_server.domain.caller import Caller
from memory_server.domain.exchange.filing import Filing
from memory_server.domain.exchange.records import TurnRecord
from memory_server.domain.forgetting import Kind
from memory_server.domain.secrets import find_secret
from memory_server.importing import sessions, transcripts
from memory_server.importing.session import PLACE
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.transfer import taking
from memory_server.transfer.importing import Source
from memory_server.transfer.taking.run import Run

AT_ONCE = 100
"""Turns of one transaction: others write between two of them."""


@dataclass(frozen=True, slots=True)
class TranscriptService:
    """`one_machine` is off where several machines share the memory: a file that is not here may be on another one."""

    database: Database
    one_machine: bool

    def source(self, path: Path) -> Source:
        """Return what a transcript, or all of a folder, have more than was read of them: from their last turn on.

        Sessions that their client changes afterwards are read whole, and what they have no more ends.
        """
        if sessions.fits(path):
            return Source(transcripts.NAME, lambda: sessions.records(path), str(path), ends=self.one_machine)
        return Source(transcripts.NAME, lambda: self._unread(path), str(path), ends=False)

    def _unread(self, path: Path) -> Iterator[TurnRecord]:
        if sessions.fits(path):
            yield from (record for record in sessions.records(path) if isinstance(record, TurnRecord))
            return
        for file in transcripts.files(path):
            with self.database.read() as tx:
                start = _read_until(tx, file)
            yield from transcripts.turns(file, start)

    def follow(self, path: Path, folder: Path, caller: Caller) -> None:
        """Take in what a transcript has more, and drop what is gone of the folder of its client."""
        run = Run(transcripts.NAME, Filing(caller, None), str(path))
        turns = self._unread(path)
        while _stands(path) and (batch := list(islice(turns, AT_ONCE))):
            run.steps.clear()  # it is no event
            with self.database.write() as tx:
                for turn in batch:
                    if not find_secret(turn.message, turn.summary):  # one that could not be cut out
                        taking.take(run, tx, turn)
        self.drop_gone(folder, caller)

    def drop_gone(self, folder: Path, caller: Caller) -> int:
        """Erase the turns of the transcripts of a folder that have been deleted; return how many there were.

        Where the folder itself is missing, it may be on a disk that is not there now.
        """
        if not self.one_machine or not folder.is_dir():
            return 0
        with self.database.write() as tx:
            gone = [path for path in map(Path, tx.turns.files(str(folder))) if not _stands(path)]
            ids = [id for path in gone for id, _ in _turns_of(tx, path)]
            tx.trash.put(Kind.TURN, ids, caller)
            tx.trash.erase([trashed.id for id in ids for trashed in tx.trash.select(Kind.TURN, item_id=id)])
        return len(ids)


def _stands(path: Path) -> bool:
    """True if the file of a session is there; in one that has several, a session ends with the next import."""
    return path.exists() or path.parent.is_file()


def _read_until(tx: Tx, path: Path) -> int:
    """Return the byte where the last turn begins that was read of a file; 0 where none was."""
    last = max((source_id for _, source_id in _turns_of(tx, path)), default=None)
    return 0 if last is None else int(last[1 - PLACE : -1])


def _turns_of(tx: Tx, path: Path) -> list[tuple[int, str]]:
    """Return the turns of a file, each with its id there."""
    return tx.statements.rows(
        """
        SELECT item_id, source_id
        FROM origins
        WHERE kind = 'turn' AND source = :source AND source_id BETWEEN :first AND :last
        """,
        {"source": transcripts.NAME, "first": f"{path}#", "last": f"{path}#:"},
    )
