"""Follows the transcripts of clients: takes in what a file has more than was read of it, and drops what is gone.

Their turns are known by their origin: the file, and the byte where they begin.
"""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from memory_server.domain.caller import Caller
from memory_server.domain.exchange.filing import Filing
from memory_server.domain.exchange.records import TurnRecord
from memory_server.domain.forgetting import Kind
from memory_server.domain.secrets import find_secret
from memory_server.importing import transcripts
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import taking
from memory_server.transfer.importing import Imported, Progress
from memory_server.transfer.taking.run import Outcome, Run

AT_ONCE = 100
"""Turns of one transaction: others write between two of them."""


@dataclass(frozen=True, slots=True)
class TranscriptService:
    database: Database

    def take(
        self,
        path: Path,
        project: str | None,
        caller: Caller,
        progress: Progress = lambda _done, _total: None,
    ) -> Imported:
        """Take in a transcript, or all of a folder; from now on hooks follow that folder. `progress` gets bytes."""
        named = None if project is None else projects.asked(project, caller)
        outcomes: Counter[Outcome] = Counter()
        files = {file: file.stat().st_size for file in transcripts.files(path)}
        done = 0
        for file, size in files.items():
            outcomes += self._read_on(file, Filing(caller, named))
            done += size
            progress(done, sum(files.values()))
        return Imported({"turn": outcomes}, (), ())

    def follow(self, path: Path, folder: Path, caller: Caller) -> None:
        """Take in what a transcript has more, and drop what is gone of the folder of its client."""
        if path.is_file():
            self._read_on(path, Filing(caller, None))
        self.drop_gone(folder, caller)

    def _read_on(self, path: Path, filing: Filing) -> Counter[Outcome]:
        """Take in the turns from the last one on that is here: that one may have grown.

        A turn that holds a credential which cannot be cut out is left out.
        """
        with self.database.read() as tx:
            start = _read_until(tx, path)
        run = Run(transcripts.NAME, filing, {}, set(), 0)
        outcomes: Counter[Outcome] = Counter()
        turns = transcripts.turns(path, start)
        while batch := list(islice(turns, AT_ONCE)):
            run.steps.clear()  # it is no event
            with self.database.write() as tx:
                outcomes.update(map(partial(_taken, run, tx), batch))
        return outcomes

    def drop_gone(self, folder: Path, caller: Caller) -> int:
        """Erase the turns of the transcripts of a folder that have been deleted; return how many there were.

        Where the folder itself is missing, it may be on a disk that is not there now.
        """
        if not folder.is_dir():
            return 0
        with self.database.write() as tx:
            gone = [path for path in map(Path, tx.turns.files(str(folder))) if not path.exists()]
            ids = [id for path in gone for id in _turns_of(tx, path)]
            tx.trash.put(Kind.TURN, ids, caller)
            tx.trash.erase([trashed.id for id in ids for trashed in tx.trash.select(Kind.TURN, item_id=id)])
        return len(ids)


def _taken(run: Run, tx: WriteTx, turn: TurnRecord) -> Outcome:
    if find_secret(turn.message, turn.summary):
        return Outcome.SECRET
    return taking.take(run, tx, turn)


def _read_until(tx: Tx, path: Path) -> int:
    """Return the byte where the last turn begins that was read of a file; 0 where none was."""
    last = tx.statements.value(
        """
        SELECT max(source_id)
        FROM origins
        WHERE kind = 'turn' AND source = :source AND source_id BETWEEN :first AND :last
        """,
        {"source": transcripts.NAME, "first": f"{path}#", "last": f"{path}#:"},
    )
    return 0 if last is None else int(str(last)[1 - transcripts.PLACE : -1])


def _turns_of(tx: Tx, path: Path) -> list[int]:
    rows = tx.statements.rows(
        """
        SELECT item_id
        FROM origins
        WHERE kind = 'turn' AND source = :source AND source_id BETWEEN :first AND :last
        """,
        {"source": transcripts.NAME, "first": f"{path}#", "last": f"{path}#:"},
    )
    return [id for (id,) in rows]
