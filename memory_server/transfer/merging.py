"""Merges another file into this one: what is new there is taken over, changed or deleted here as it was there."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memory_server.domain.caller import Caller
from memory_server.domain.exchange.records import OWN
from memory_server.errors import Invalid
from memory_server.sqlite import foreign, temporary
from memory_server.sqlite.database import Database as File
from memory_server.storage.database import Database
from memory_server.transfer.exporting import Export
from memory_server.transfer.importing import Imported, ImportService, Progress, Source


@dataclass(frozen=True, slots=True)
class MergeService:
    database: Database
    imports: ImportService
    clock: Callable[[], datetime]

    def merge(self, file: Path, caller: Caller, progress: Progress = lambda _done, _total: None) -> Imported:
        """Take over what is new in another file. That is only read: a copy of it is upgraded where it is older.

        Raises:
            Invalid: it is this file.
            Unavailable: it is of another program, newer than this program, damaged or being written all the time.
        """
        if not file.is_file():
            raise Invalid(
                f"{file} is a folder, not a file." if file.is_dir() else f"There is no file {file}."
            )
        if not file.stat().st_size:
            raise Invalid(f"{file} is empty. Nothing was merged.")
        if (
            self.database.path is not None
            and self.database.path.exists()
            and file.samefile(self.database.path)
        ):
            raise Invalid(f"{file} is this database itself.")
        with temporary.folder() as folder:
            path = foreign.copied(file, folder)
            copy = File(path, self.clock)
            done = foreign.make_ours(path, file, copy.migrations)
            try:
                copy.open()
                with copy.read() as tx:
                    everything = Export(tx, None, embeddings=False, deletions=True)
                    imported = self.imports.take(
                        Source(OWN, lambda: iter(everything), str(file.resolve())), None, caller, progress
                    )
                return replace(imported, conflicts=[*done, *imported.conflicts])
            finally:
                copy.close()
