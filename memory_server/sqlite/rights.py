"""Row-level security in the file: decides for every statement of every module what a person sees and changes.

The connection of a transaction for a person has a TEMP VIEW of the name of each table: SQLite looks for a name in
`temp` first. So each statement that reads a table by its bare name reads what the person sees, and each that would
write by the bare name fails. Statements that write name `main.` and the table: there TEMP TRIGGERS stand guard. A row
that the person does not see is passed over, as if it did not exist, and no row can become one that the person does not
see. Only those who have the right to it change a shared fact, and only the person who alone has written a row erases
it: see `Right.changes` and `Right.erases`. The triggers of the file itself see its own tables, whoever acts. A table
that is not named here shows nothing to a person.

Connections for the owner of the file have none of this.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import apsw

from memory_server.domain import rights
from memory_server.domain.caller import Person
from memory_server.storage.vectors import TABLES

PUBLIC: Final = frozenset(
    {
        "migrations",
        "character_forms",
        "spaces",
        "erasures",
        "server_days",
        "bits_changes",
        "vector_changes",
        "sqlite_sequence",
    }
)
"""Tables that hold nothing of anybody."""

INDEXES: Final = frozenset(tables.words for tables in TABLES.values())
"""Word indexes. MATCH works on no view: a statement that queries them must append `Tx.seen` for each row."""

_INSIDE: Final = re.compile(f"({'|'.join(INDEXES)})(_\\w+)?")

NOBODY: Final = "0"
"""The condition of what no person sees."""

_ACTING: Final = """
    CREATE TEMP TABLE acting (name TEXT NOT NULL, everywhere INTEGER NOT NULL, shares INTEGER NOT NULL);
    CREATE TEMP TABLE acting_projects (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
"""The person of the transaction, and the projects of that person; `everywhere`: all projects; `shares`: may change
shared facts."""


def _project(column: str) -> str:
    """A project of the person. Repeats `domain.rights.has`."""
    return (
        f"({column} <> '' AND ((SELECT everywhere FROM acting)"
        f" OR {column} IN (SELECT name FROM acting_projects)))"
    )


def _own(project: str) -> str:
    """Repeats `domain.rights.sees`; a test holds both equal."""
    return f"(r.person = (SELECT name FROM acting) OR (r.person IS NULL AND {_project(project)}))"


_ALONE = "(r.person = (SELECT name FROM acting))"


def _of(table: str, column: str) -> str:
    return f"EXISTS (SELECT 1 FROM {table} AS seen WHERE seen.id = r.{column})"


@dataclass(frozen=True, slots=True)
class Right:
    """The rows `r` of a table that a person sees, those of them that the person changes and deletes, and with which
    writer.

    `parents`: the tables to which the row belongs, by the column that has the id there: with one of those it goes
    away. `guarded`: statements of a person may write it. `derived` are columns that triggers alone write.
    """

    sees: str
    parents: Mapping[str, str] | None = None
    guarded: bool = False
    derived: frozenset[str] = frozenset()
    enters: str = ""
    """Which rows NEW may be inserted, where others than those that the person sees may."""
    changes: str = ""
    """Which rows the person may insert, update and delete, where not all. To count an access is no update."""
    erases: str = ""
    """Which rows the person may delete, where not all."""
    signs: str = ""
    """Which rows the person may insert, by their writer."""
    resigns: str = NOBODY
    """To which row the writer of another one may be changed."""


def _part(table: str, column: str = "memory_id", guarded: bool = False) -> Right:
    return Right(_of(table, column), {column: table}, guarded)


_WROTE = "(r.writer IS (SELECT name FROM acting))"
_WROTE_OR_NOBODY = f"(r.writer IS NULL OR {_WROTE})"
_SHARES = "(r.scope <> 'shared' OR (SELECT shares FROM acting))"
_COUNTED = frozenset({"access_count", "accessed_at"})


def _twin(table: str, id: str, twin_id: str, condition: str = "1") -> str:
    """The thing is in another table too: in the trash before it is deleted, in its own before it is restored."""
    return f"EXISTS (SELECT 1 FROM main.{table} AS t WHERE t.{twin_id} = r.{id} AND {condition})"


_IN_TRASH = _twin("trash", "id", "item_id", "t.kind = 'memory'")
_SIGNED_IN_TRASH = _twin("trash", "id", "item_id", "t.kind = 'memory' AND t.writer = r.writer")
_RESTORED = f"(r.kind = 'memory' AND {_twin('memories', 'item_id', 'id')})"
_SIGNED_BEFORE = _twin("memories", "item_id", "id", "t.writer = r.writer")
_SIGNED_EARLIER = """EXISTS (
    SELECT 1
    FROM main.fact_history AS h
    WHERE h.scope = r.scope AND h.owner = r.owner AND h.key = r.key AND h.writer = r.writer
)"""
"""The step that deletes a value has the writer of the value."""
_WROTE_ALL = """NOT EXISTS (
    SELECT 1
    FROM main.fact_history AS h
    WHERE h.scope = r.scope AND h.owner = r.owner AND h.key = r.key AND h.writer IS NOT (SELECT name FROM acting)
)"""

_FACT = f"""(
    r.scope = 'shared'
    OR r.person = (SELECT name FROM acting)
    OR (r.scope = 'project' AND r.person IS NULL AND {_project("r.owner")})
)"""

RIGHTS: Final[Mapping[str, Right]] = {
    "memories": Right(
        _own("r.project"),
        guarded=True,
        derived=frozenset({"replaced"}),
        erases=f"({_WROTE} OR {_IN_TRASH})",
        signs=f"({_WROTE_OR_NOBODY} OR {_SIGNED_IN_TRASH})",
        resigns="r.writer IS NULL",
    ),
    "turns": Right(_ALONE, guarded=True),
    "facts": Right(_FACT, guarded=True, changes=_SHARES, signs=_WROTE, resigns=_WROTE),
    "fact_history": Right(
        _FACT,
        guarded=True,
        changes=_SHARES,
        erases=_WROTE_ALL,
        signs=f"({_WROTE_OR_NOBODY} OR {_SIGNED_EARLIER})",
    ),
    "conversations": Right(_ALONE, guarded=True),
    "memory_uses": Right(_ALONE, guarded=True),
    "open_questions": Right(_ALONE, guarded=True),
    "trash": Right(
        _own("json_extract(r.parts, '$.memories[0].project')"),
        guarded=True,
        erases=f"({_WROTE} OR {_RESTORED})",
        signs=f"({_WROTE_OR_NOBODY} OR {_SIGNED_BEFORE})",
    ),
    "projects": Right(_project("r.name"), guarded=True),
    "memory_counts": Right(
        f"(r.person = (SELECT name FROM acting) OR (r.person = '' AND {_project('r.project')}))"
    ),
    # What belongs to one of these is seen with it.
    "project_keys": Right(_of("projects", "project_id")),
    "memory_history": _part("memories", guarded=True),
    "memory_anchors": _part("memories", guarded=True),
    "fact_anchors": _part("facts", "fact_id"),
    "memory_parts": _part("memories"),
    "likely_updates": _part("memories", guarded=True),
    "edges": Right(
        f"{_of('memories', 'source_id')} AND {_of('memories', 'target_id')}",
        {},
        True,
        # With a memory that was deleted, its edges come back, also those to what the person does not see.
        enters="EXISTS (SELECT 1 FROM memories WHERE id IN (NEW.source_id, NEW.target_id))",
    ),
    "digested": Right(_of("memories", "digest_id")),
    "changes": Right(
        f"({_of('memories', 'memory_id')} OR {_of('long_term_memories', 'long_term_id')})",
        {"memory_id": "memories", "long_term_id": "long_term_memories"},
        True,
    ),
    "short_term_memories": _part("conversations", "conversation_id", guarded=True),
    "short_term_keywords": _part("conversations", "conversation_id"),
    "long_term_memories": _part("conversations", "conversation_id", guarded=True),
    "wakes": _part("long_term_memories", guarded=True),
    "rules": _part("long_term_memories", guarded=True),
    "rule_hits": _part("long_term_memories", guarded=True),
    "embeddings": _part("memories"),
    "embedding_bits": _part("memories"),
    "embedding_queue": _part("memories"),
    "part_embeddings": Right(_of("memory_parts", "part_id")),
    "token_vectors": _part("memories"),
    "turn_embeddings": _part("turns", "turn_id"),
    "turn_token_vectors": _part("turns", "turn_id"),
    "turn_message_embeddings": _part("turns", "turn_id"),
    "turn_embedding_queue": _part("turns", "turn_id"),
    "fact_embeddings": _part("facts", "fact_id"),
    "fact_token_vectors": _part("facts", "fact_id"),
    "fact_embedding_queue": _part("facts", "fact_id"),
    "short_term_embeddings": _part("short_term_memories"),
    "short_term_embedding_queue": _part("short_term_memories"),
    # Of the file's own alone: what hooks and imports do, the problems of jobs, and what only triggers use.
    "hook_captures": Right(NOBODY),
    "hook_injections": Right(NOBODY),
    "job_problems": Right(NOBODY),
    "origins": Right(NOBODY),
    "events": Right(NOBODY),
    "event_steps": Right(NOBODY),
    "memory_overwritten": Right(NOBODY),
    "tokens": Right(NOBODY),
    "call_counts": Right(NOBODY),
}
"""Every table that holds something of somebody."""


def install(connection: apsw.Connection) -> None:
    """Make a connection one for persons. It shows nothing before `act`."""
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(_ACTING)
    for name, right in _shadowed(connection):
        quoted = '"' + name.replace('"', '""') + '"'
        connection.execute(
            f"CREATE TEMP VIEW {quoted} AS SELECT r.* FROM main.{quoted} AS r WHERE {right.sees}"
        )
    for name, right in RIGHTS.items():
        if right.guarded:
            for trigger in (*_guards(connection, name, right), *_refusals(connection, name, right)):
                connection.execute(trigger)


def act(connection: apsw.Connection, person: Person) -> None:
    """Show the connection from now on what this person sees."""
    everywhere = person.projects is None
    connection.execute("DELETE FROM temp.acting; DELETE FROM temp.acting_projects")
    connection.execute(
        "INSERT INTO temp.acting VALUES (?, ?, ?)", (person.name, everywhere, rights.shares(person))
    )
    connection.executemany(
        "INSERT INTO temp.acting_projects VALUES (?)", [(name,) for name in person.projects or ()]
    )


def is_ours(table: str) -> bool:
    """True for a table of ours, also one inside a word index."""
    return table in RIGHTS or table in PUBLIC or _INSIDE.fullmatch(table) is not None


def _shadowed(connection: apsw.Connection) -> Iterator[tuple[str, Right]]:
    """Yield every table and view of the file but the public ones, with its right."""
    rows = connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    for name in (str(name) for (name,) in rows):
        if name not in PUBLIC and not _INSIDE.fullmatch(name):
            yield name, RIGHTS.get(name, Right(NOBODY))


def _guards(connection: apsw.Connection, table: str, right: Right) -> Iterator[str]:
    """Yield the triggers that protect the rows of a table."""
    hidden = f"NOT EXISTS (SELECT 1 FROM {table} WHERE id = OLD.id)"
    wrong = f"NOT EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)"
    refuse = "BEGIN SELECT RAISE (ABORT, 'it would be somebody else''s'); END"
    columns = _columns(connection, table, right.derived)
    yield (
        f"CREATE TEMP TRIGGER {table}_pass_over BEFORE UPDATE OF {columns} ON main.{table} WHEN {hidden}"
        " BEGIN SELECT RAISE (IGNORE); END"
    )
    entering = f"NOT {right.enters}" if right.enters else wrong
    yield f"CREATE TEMP TRIGGER {table}_insert AFTER INSERT ON main.{table} WHEN {entering} {refuse}"
    yield f"CREATE TEMP TRIGGER {table}_update AFTER UPDATE OF {columns} ON main.{table} WHEN {wrong} {refuse}"
    has_parent = " OR ".join(  # a row goes with its parent, whoever sees it
        f"EXISTS (SELECT 1 FROM main.{parent} WHERE id = OLD.{column})"
        for column, parent in (right.parents or {}).items()
    )
    if has_parent or right.parents is None:
        yield (
            f"CREATE TEMP TRIGGER {table}_keep BEFORE DELETE ON main.{table}"
            f" WHEN {hidden} AND ({has_parent or 'true'}) BEGIN SELECT RAISE (IGNORE); END"
        )


def _refusals(connection: apsw.Connection, table: str, right: Right) -> Iterator[str]:
    """Yield the triggers that refuse to change, erase or sign rows of other people."""
    if right.changes:
        columns = _columns(connection, table, right.derived | _COUNTED)
        why = "this person may not change shared facts"
        for event in ("INSERT", f"UPDATE OF {columns}", "DELETE"):
            row = "NEW" if event == "INSERT" else "OLD"
            yield _refusal(
                f"{table}_{event[:6]}_shared", event, table, f"NOT {_of_row(right.changes, row)}", why
            )
    if right.erases:
        condition = f"{_sees(table)} AND NOT {_of_row(right.erases, 'OLD')}"
        yield _refusal(f"{table}_erase", "DELETE", table, condition, "somebody else has written it")
    if right.signs:
        why = "its writer would be somebody else"
        yield _refusal(f"{table}_sign", "INSERT", table, f"NOT {_of_row(right.signs, 'NEW')}", why)
        changed = f"NEW.writer IS NOT OLD.writer AND NOT {_of_row(right.resigns, 'NEW')}"
        yield _refusal(f"{table}_resign", "UPDATE OF writer", table, changed, why)


def _refusal(name: str, event: str, table: str, condition: str, why: str) -> str:
    return (
        f"CREATE TEMP TRIGGER {name} BEFORE {event} ON main.{table} WHEN {condition}"
        f" BEGIN SELECT RAISE (ABORT, '{why}'); END"
    )


def _sees(table: str) -> str:
    return f"EXISTS (SELECT 1 FROM {table} WHERE id = OLD.id)"


def _of_row(condition: str, row: str) -> str:
    return re.sub(r"\br\.", f"{row}.", condition)


def _columns(connection: apsw.Connection, table: str, without: frozenset[str]) -> str:
    rows = connection.execute(f"SELECT name FROM main.pragma_table_info('{table}')").fetchall()
    return ", ".join(f'"{name}"' for (name,) in rows if name not in without)
