"""Checks the file: SQLite's own checks, missing triggers and tables, and the rows of every table."""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from memory_server.sqlite import checks, migrate, schema, vectors
from memory_server.sqlite.tx import Tx
from memory_server.storage import columns, packaged
from memory_server.storage.columns import Table, table
from memory_server.storage.health import NAMED, is_readable_json
from memory_server.storage.tables.memory_counts import MemoryCounts

TABLES: tuple[Table, ...] = (
    *columns.TABLES,
    table("bits_changes", "id"),
    table("character_forms", "form folded", "form"),
    table("embedding_bits", "memory_id project type", "memory_id"),
    table("erasures", "what", "what"),
    table("job_problems", "job process problem at", "job"),
    table("memory_counts", "project type person", "project"),
    table("memory_overwritten", "id project type person"),
    table("memory_parts", "id"),
    table("token_vectors", "space_id text_id", "space_id text_id"),
    table("turn_token_vectors", "space_id turn_id", "space_id turn_id"),
    table("fact_token_vectors", "space_id fact_id", "space_id fact_id"),
    table("migrations", "version name applied_at", "version", numbers="version"),
    table("server_days", "day", "day", numbers="day"),
    table("vector_changes", "id source"),
)
"""All tables of a file with their texts: those that a copy takes along, and those that a file makes itself. A test
compares them with the schema."""


def _shown(id: bytes | None) -> str:
    """Return the id of a row as text; a damaged file has rows without one."""
    return "?" if id is None else id.decode(errors="replace")


def _is_readable_json(text: bytes | None) -> bool:
    """True if clients can read the JSON. Bytes that are not UTF-8 are reported elsewhere; a damaged file has rows
    without any.
    """
    return text is not None and is_readable_json(text.decode(errors="replace"))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Health:
    """The table of `tx.health`: see `storage.health.Health`."""

    tx: Tx

    def problems(self) -> list[str]:
        problems = [*checks.unwritable(self.tx.connection), *checks.damage(self.tx.connection)]
        problems += [f"foreign key: {row}" for row in self.tx.rows("PRAGMA foreign_key_check")]
        applied = packaged.applied(packaged.load(packaged.folder()), migrate.version_of(self.tx.connection))
        problems += [f"{row} is missing" for row in schema.difference(self.tx.connection, applied).missing]
        unindexed = self.tx.value(
            "SELECT count(*) FROM memories WHERE id NOT IN (SELECT rowid FROM memory_words)"
        )
        if unindexed:
            problems.append(f"{unindexed} memories are not in the word index")
        problems += MemoryCounts(self.tx).wrong()
        for declared in TABLES:
            bad = list(self._bad(declared))
            problems += bad[:NAMED]
            if len(bad) > NAMED:
                problems.append(f"{len(bad) - NAMED} more rows of {declared.name} are as bad")
        return problems

    def libraries(self) -> dict[str, str]:
        connection = self.tx.connection
        return {
            "schema": f"version {migrate.version_of(connection)}",
            "sqlite": f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})",
            "journal": f"{connection.pragma('journal_mode')}, synchronous {connection.pragma('synchronous')}",
            "vectors": vectors.engine(connection),
        }

    def _bad(self, table: Table) -> Iterator[str]:
        """Yield a line for each row and column of a table that a person should mend. The id of a row may itself be
        unreadable.
        """
        if self.tx.value(f"SELECT 1 FROM {table.name} LIMIT 1") is None:
            return
        named = f"CAST({table.id} AS BLOB)"
        for column in table.texts:
            texts = f'SELECT {named}, CAST("{column}" AS BLOB) FROM {table.name}'
            rows = self.tx.rows(texts)
            # All at once, since nearly all files are sound.
            if not _is_utf8(b"\0".join(text for _, text in rows if text is not None)):
                bad = (id for id, text in rows if text is not None and not _is_utf8(text))
                yield from (f"row {_shown(id)} of {table.name}: {column} is not UTF-8" for id in bad)
        for column in table.moments:
            wrong = f"{column} IS NOT NULL AND julianday({column}) IS NULL"
            for (id,) in self.tx.rows(f"SELECT {named} FROM {table.name} WHERE {wrong}"):
                yield f"row {_shown(id)} of {table.name}: {column} is no date"
        for column in table.json:
            is_needed = (
                f"""(SELECT "notnull" FROM pragma_table_info('{table.name}') WHERE name = '{column}')"""
            )
            has_json = f"({column} IS NOT NULL OR {is_needed})"
            for id, text in self.tx.rows(
                f"SELECT {named}, CAST({column} AS BLOB) FROM {table.name} WHERE {has_json}"
            ):
                if not _is_readable_json(text):
                    yield f"row {_shown(id)} of {table.name}: {column} is JSON that clients cannot read"
