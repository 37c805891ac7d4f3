"""Fills a new file with the rows of another database; it gets its name when it is finished."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import apsw

from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, Mend, Unavailable
from memory_server.sqlite import bm25, failures, migrate, pragmas, vectors
from memory_server.sqlite.copied import Copied, between
from memory_server.sqlite.health import Health
from memory_server.sqlite.tx import Tx
from memory_server.storage import packaged
from memory_server.storage.columns import TABLES, Table, listed
from memory_server.storage.copying import FOLLOWS, Key, Row
from memory_server.storage.tables.memory_counts import WritableMemoryCounts

ENDING = ".unfinished"
"""What stands behind the name of a file while it is filled."""

PATIENCE = 1000
"""Milliseconds to wait for another process that has the unfinished file open."""


class Filling:
    """Fills `NAME.unfinished`, which belongs to no program; each call is committed when it returns."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self._path = path
        self._unfinished = path.with_name(path.name + ENDING)
        self._clock = clock
        self._connection: apsw.Connection | None = None
        self._tx: Tx

    def begin(self, source: str) -> bool:
        if self._path.exists():
            raise Conflict(f"{self._path} is there already. Nothing was written.", Mend.EMPTY_TARGET)
        if not self._path.parent.is_dir():
            raise Unavailable(f"The folder of {self._path} does not exist.", Mend.USE_ANOTHER_FILE)
        with self._translated():
            os.close(os.open(self._unfinished, os.O_RDWR | os.O_CREAT, 0o600))
            connection = pragmas.connected(self._unfinished)
            self._connection = connection
            connection.set_busy_timeout(PATIENCE)
            connection.pragma("locking_mode", "exclusive")
            pragmas.enforce_foreign_keys(connection)
            pragmas.overwrite_deleted_text(connection)
            vectors.install(connection)
            bm25.install(connection)
            now = timestamp(self._clock())
            self._tx = Tx(connection, now)
            before = self._source()
            if before not in (None, source):
                raise Conflict(
                    f"{self._unfinished} is an unfinished copy of {before}, not of {source}. Nothing was written.",
                    Mend.EMPTY_TARGET,
                )
            connection.pragma("application_id", migrate.APPLICATION_ID)
            migrate.migrate(connection, None, packaged.load(packaged.folder()), now)
            with self._writing():
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS unfinished_copy (source TEXT PRIMARY KEY) STRICT"
                )
                connection.execute("INSERT OR IGNORE INTO unfinished_copy (source) VALUES (?)", (source,))
                connection.pragma("application_id", migrate.UNFINISHED_ID)
        return before is not None

    def count(self, table: Table) -> int:
        with self._translated():
            return Copied(self._tx).count(table)

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        with self._translated():
            return Copied(self._tx).rows(table, after, upto, limit)

    def highest_ids(self) -> Mapping[str, int]:
        with self._translated():
            return Copied(self._tx).highest_ids()

    def put(self, table: Table, after: Key | None, upto: Key | None, rows: Sequence[Row]) -> None:
        if table.name == "fact_history":
            upto = None  # later steps are written again: the last one of a fact is indexed
        where, values = between(table, after, upto)
        marks = ", ".join("?" for _ in table.columns)
        with self._translated(), self._writing():
            self._empty_following(table)
            self._tx.execute(f"DELETE FROM {table.name} {where}", values)
            self._tx.connection.executemany(
                f"INSERT INTO {table.name} ({listed(table.columns)}) VALUES ({marks})", rows
            )
            self._empty_following(table)
            if table.name == "short_term_memories":  # a trigger has taken the marks off
                keyed = [row[:1] for row in rows if row[table.columns.index("keyed")]]
                self._tx.connection.executemany(
                    "UPDATE short_term_memories SET keyed = 1 WHERE id = ?", keyed
                )

    def prepare(self) -> None:
        """Nothing to begin: triggers have made a part, and `finish` makes the rest."""

    def finish(self, highest_ids: Mapping[str, int]) -> None:
        with self._translated():
            with self._writing():
                self._derive()
                self._tx.connection.executemany(
                    "DELETE FROM sqlite_sequence WHERE name = ?", [(table.name,) for table in TABLES]
                )
                self._tx.connection.executemany(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", list(highest_ids.items())
                )
                self._tx.execute("UPDATE erasures SET asked = 0, done = 0")
            problems = [problem for problem in Health(self._tx).problems() if not problem.startswith("row ")]
            if problems:
                raise Unavailable(
                    f"The copy in {self._unfinished} is not sound: {problems[0]}.", Mend.COPY_AGAIN
                )
            with self._writing():
                self._tx.execute("DROP TABLE unfinished_copy")
                self._tx.connection.pragma("application_id", migrate.APPLICATION_ID)
            self.close()
        if self._path.exists():
            raise Conflict(
                f"{self._path} was made meanwhile. The copy is {self._unfinished}.", Mend.EMPTY_TARGET
            )
        migrate.flush(self._unfinished)
        self._unfinished.replace(self._path)
        migrate.flush(self._path.parent)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _source(self) -> str | None:
        """Name the database of which the file is an unfinished copy; None where it is none."""
        is_copy = self._tx.value("SELECT 1 FROM sqlite_schema WHERE name = 'unfinished_copy'")
        return None if is_copy is None else str(self._tx.value("SELECT source FROM unfinished_copy"))

    def _derive(self) -> None:
        """Rebuild derived rows that triggers have not made, or made too early."""
        self._tx.execute("DELETE FROM fact_words WHERE rowid NOT IN (SELECT id FROM facts)")
        self._tx.execute("DELETE FROM embedding_bits")
        self._tx.execute(
            """
            INSERT INTO embedding_bits (space_id, project, memory_id, type, importance, bits)
            SELECT e.space_id, ifnull(m.project, ''), m.id, m.type, m.importance, vec_quantize_binary(e.vector)
            FROM embeddings AS e
            JOIN memories AS m ON m.id = e.memory_id
            ORDER BY 1, 2, 3
            """
        )
        WritableMemoryCounts(self._tx).mend()

    def _empty_following(self, table: Table) -> None:
        if table.name in FOLLOWS:
            self._tx.execute(f"DELETE FROM {FOLLOWS[table.name]}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._tx.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._tx.connection.execute("COMMIT")
        finally:
            if self._tx.connection.in_transaction:
                self._tx.connection.execute("ROLLBACK")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except apsw.BusyError as error:
            raise Unavailable(f"Another process writes {self._unfinished} now.", Mend.TRY_AGAIN) from error
        except apsw.Error as error:
            raise failures.meaning(error, self._unfinished) from error
