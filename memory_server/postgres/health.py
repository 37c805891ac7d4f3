"""Checks the rows of a tenant and the schema for what no constraint of the database holds."""

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg

from memory_server.postgres import migrate
from memory_server.postgres.spelling import Spelled
from memory_server.postgres.tx import Tx
from memory_server.storage import vectors
from memory_server.storage.columns import TABLES
from memory_server.storage.health import NAMED, is_readable_json
from memory_server.storage.tables.memory_counts import MemoryCounts

MOMENTS = {table.name: table.moments for table in TABLES if table.numbered and table.moments}
"""The columns that hold a moment or a day, by table. A test compares them with the schema."""

JSON = {table.name: table.json for table in TABLES if table.json}
"""The columns that hold JSON, by table."""

_MOMENT = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$"

_WORDS = {tables.source: tables.words for tables in vectors.TABLES.values()}

_WITHOUT_WORDS = " UNION ALL ".join(
    f"""
    SELECT count(*), '{table.replace("_", " ")} are not in the word index'
    FROM {table} AS t
    WHERE NOT EXISTS (SELECT FROM {words} AS w WHERE w.tenant_id = t.tenant_id AND w.id = t.id)
    """
    for table, words in {**_WORDS, "memory_parts": "memory_words"}.items()
)

_TOTALS = " UNION ALL ".join(
    f"SELECT '{words}' AS name, count(*) AS texts, coalesce(sum(length), 0) AS terms FROM {words}"
    for words in _WORDS.values()
)

_WRONG = f"""
    {_WITHOUT_WORDS}
    UNION ALL
    SELECT count(*), 'totals of word indexes are wrong'
    FROM ({_TOTALS}) AS counted
    LEFT JOIN word_totals AS kept ON kept.name = counted.name
    WHERE (coalesce(kept.texts, 0), coalesce(kept.terms, 0)) <> (counted.texts, counted.terms)
    UNION ALL
    SELECT count(*), 'keywords are of another conversation than their memory'
    FROM short_term_keywords AS k
    JOIN short_term_memories AS m ON m.tenant_id = k.tenant_id AND m.id = k.memory_id
    WHERE m.conversation_id <> k.conversation_id
    UNION ALL
    SELECT count(*), 'projects have items and no row'
    FROM (
        SELECT project AS name FROM memories
        UNION SELECT project FROM turns
        UNION SELECT owner FROM facts WHERE scope = 'project' AND person IS NULL
    ) AS used
    WHERE name <> '' AND NOT EXISTS (SELECT FROM projects WHERE projects.name = used.name)
"""
"""How many of what, where anything but none is wrong."""

_SCHEMA = """
    SELECT format('trigger %%s of %%s is switched off', tgname, relname)
    FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
    WHERE relnamespace = %(schema)s::regnamespace AND NOT tgisinternal AND tgenabled = 'D'
    UNION ALL
    SELECT format('index %%s is not valid', c.relname)
    FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid
    WHERE relnamespace = %(schema)s::regnamespace AND NOT indisvalid
    UNION ALL
    SELECT format('row-level security of %%s is switched off', c.relname)
    FROM pg_policy JOIN pg_class AS c ON c.oid = polrelid
    WHERE relnamespace = %(schema)s::regnamespace AND NOT relrowsecurity
"""

_NO_MOMENTS = " UNION ALL ".join(
    f"SELECT '{table}', id, '{column}' FROM {table} WHERE {column} !~ %(moment)s AND read_moment({column}) IS NULL"
    for table, columns in MOMENTS.items()
    for column in columns
)


@dataclass(frozen=True, slots=True)
class Health:
    """The table of `tx.health`: see `storage.health.Health`."""

    tx: Tx

    def problems(self) -> list[str]:
        applied = {version for (version,) in self.tx.rows("SELECT version FROM migrations")}
        problems = [
            f"migration {migration.name} is missing"
            for migration in migrate.load()
            if migration.version not in applied
        ]
        problems += [line for (line,) in self.tx.rows(_SCHEMA, {"schema": migrate.SCHEMA})]
        problems += [f"{number} {what}" for number, what in self.tx.rows(_WRONG) if number]
        problems += MemoryCounts(Spelled(self.tx)).wrong()
        bad: dict[str, list[str]] = {}
        for table, id, column in self.tx.rows(_NO_MOMENTS, {"moment": _MOMENT}):
            bad.setdefault(table, []).append(f"row {id} of {table}: {column} is no date")
        for table in JSON:
            bad.setdefault(table, []).extend(self._unreadable(table))
        for table, rows in bad.items():
            problems += rows[:NAMED]
            if len(rows) > NAMED:
                problems.append(f"{len(rows) - NAMED} more rows of {table} are as bad")
        return problems

    def libraries(self) -> dict[str, str]:
        version, server, vector = self.tx.one(
            """
            SELECT
                (SELECT max(version) FROM migrations), current_setting('server_version'),
                (SELECT extversion FROM pg_extension WHERE extname = 'vector')
            """
        )
        return {
            "schema": f"version {version}",
            "postgresql": f"{server} (psycopg {psycopg.__version__})",
            "vectors": f"pgvector {vector}",
        }

    def _unreadable(self, table: str) -> Iterator[str]:
        columns = JSON[table]
        for id, *texts in self.tx.rows(f"SELECT id, {', '.join(columns)} FROM {table}"):
            for column, text in zip(columns, texts, strict=True):
                if text is not None and not is_readable_json(text):
                    yield f"row {id} of {table}: {column} is JSON that clients cannot read"
