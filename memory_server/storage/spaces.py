"""The table `spaces`, and how many texts each space has yet to embed."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from memory_server.domain.embedding import Embedded, Space
from memory_server.storage.statements import HasStatements
from memory_server.storage.vectors import TABLES, KnownSpace, Waiting, WritableEmbeddings, first_missing

_FIELDS = [field.name for field in fields(Space)]
_COLUMNS = ", ".join(_FIELDS)


def _known(row: Sequence[Any]) -> KnownSpace:
    """Read a row of id, state and _COLUMNS; a file has 0 and 1 for flags."""
    named = dict(zip(_FIELDS, row[2:], strict=True))
    flags = {name: bool(named[name]) for name in ("chinese", "lexical")}
    return KnownSpace(row[0], row[1], Space(**{**named, **flags}))


class Whole(HasStatements, Protocol):
    """The transaction, as far as the spaces need it."""

    @property
    def embeddings(self) -> WritableEmbeddings: ...


@dataclass(frozen=True, slots=True)
class Spaces:
    tx: Whole

    def select(self) -> list[KnownSpace]:
        """Return every space that is in use, the active one first."""
        rows = self.tx.statements.rows(
            f"""
            SELECT id, state, {_COLUMNS}
            FROM spaces
            WHERE state <> 'retired'
            ORDER BY state = 'active' DESC, id
            """
        )
        return list(map(_known, rows))

    def in_use(self, id: int) -> bool:
        """True while the space is not retired."""
        is_there = self.tx.statements.value(
            "SELECT 1 FROM spaces WHERE id = :id AND state <> 'retired'", {"id": id}
        )
        return is_there is not None

    def waiting(self, id: int, kind: Embedded, limit: int) -> list[Waiting]:
        """Return the rows that wait for their embedding, oldest first."""
        tables = TABLES[kind]
        rows = self.tx.statements.rows(
            f"""
            SELECT
                m.id, {first_missing(kind, "q.space_id")},
                {", ".join(f"CAST(m.{column} AS BLOB)" for column in tables.columns)}
            FROM {tables.queue} AS q
            JOIN {tables.source} AS m ON m.id = q.{tables.id}
            WHERE q.space_id = :id
            ORDER BY m.id
            LIMIT :limit
            """,
            {"id": id, "limit": limit},
        )
        return [Waiting.of_row(kind, row_id, texts, start) for row_id, start, *texts in rows]

    def count_waiting(self, id: int, *kinds: Embedded) -> int:
        """Count the rows that wait for their embedding: of these kinds, or of all."""
        counts = [
            f"(SELECT count(*) FROM {TABLES[kind].queue} WHERE space_id = :id)" for kind in kinds or Embedded
        ]
        return int(self.tx.statements.value(f"SELECT {' + '.join(counts)}", {"id": id}))

    def count_embedded(self, id: int, project: str | None = None) -> int:
        """Count the memories of a project ('' is none), or of all, that do not wait for an embedding."""
        stored, waiting = "", ""
        if project is not None:
            stored = "WHERE project = :project"
            waiting = """
                AND EXISTS (
                    SELECT 1 FROM memories AS m WHERE m.id = q.memory_id AND coalesce(m.project, '') = :project
                )
            """
        count = self.tx.statements.value(
            f"""
            SELECT
                (SELECT coalesce(sum(number), 0) FROM memory_counts {stored})
                - (SELECT count(*) FROM embedding_queue AS q WHERE q.space_id = :id {waiting})
            """,
            {"id": id, "project": project},
        )
        return int(count)


@dataclass(frozen=True, slots=True)
class WritableSpaces(Spaces):
    def __post_init__(self) -> None:
        """Import the class of the vectors with the first read: within a write no file may be left to open."""
        _ = self.tx.embeddings

    def open(self, space: Space) -> KnownSpace:
        """Return the space in use with this fingerprint; where there is none, open it and queue all texts for it.

        The first space is active at once; a later one is building until `activate`.
        """
        known_spaces = self.select()
        for known_space in known_spaces:
            if known_space.space.fingerprint == space.fingerprint:
                return known_space
        state = "building" if known_spaces else "active"
        (id,) = self.tx.statements.one(
            f"""
            INSERT INTO spaces (state, created_at, {_COLUMNS})
            VALUES (:state, :now, {", ".join(f":{name}" for name in _FIELDS)})
            ON CONFLICT (fingerprint) DO UPDATE SET state = excluded.state
            RETURNING id
            """,
            {"state": state, "now": self.tx.now, **{name: getattr(space, name) for name in _FIELDS}},
        )
        for tables in TABLES.values():
            self.tx.statements.send(
                f"""
                INSERT INTO main.{tables.queue} (space_id, {tables.id}, queued_at)
                SELECT :id, id, :now FROM {tables.source} WHERE true
                ON CONFLICT (space_id, {tables.id}) DO UPDATE SET queued_at = excluded.queued_at
                """,
                {"id": id, "now": self.tx.now},
            )
        self.tx.embeddings.make_index(space.dimensions)
        return KnownSpace(id, state, space)

    def activate(self, id: int) -> None:
        """Let searches use this space from now on, and delete the vectors of the one before it."""
        self._retire("state <> 'retired' AND id <> :id", {"id": id})
        self.tx.statements.send("UPDATE spaces SET state = 'active' WHERE id = :id", {"id": id})

    def abandon(self) -> None:
        """Retire the spaces that are building and that no process fills: remains of a switch that was abandoned."""
        self._retire("state = 'building' AND coalesce(lease_until, '') < :now", {"now": self.tx.now})

    def _retire(self, clause: str, values: dict[str, Any]) -> None:
        for (id,) in self.tx.statements.rows(f"SELECT id FROM spaces WHERE {clause}", values):
            self.tx.embeddings.delete_all(id)
            self.tx.statements.send("UPDATE spaces SET state = 'retired' WHERE id = :id", {"id": id})

    def lease(self, id: int, holder: str, until: str) -> bool:
        """Take or renew the right to fill a space; false while another process holds it.

        A lease that ends later than `until` was taken before the clock was set back, and counts as ended.
        """
        return bool(
            self.tx.statements.change(
                """
                UPDATE spaces
                SET lease_holder = :holder, lease_until = :until
                WHERE id = :id AND (
                    lease_holder IS NULL OR lease_holder = :holder OR lease_until < :now OR lease_until > :until
                )
                """,
                {"id": id, "holder": holder, "until": until, "now": self.tx.now},
            )
        )

    def release(self, id: int, holder: str) -> None:
        """End the lease, so that another process may go on at once."""
        self.tx.statements.send(
            "UPDATE spaces SET lease_holder = NULL, lease_until = NULL WHERE id = :id AND lease_holder = :holder",
            {"id": id, "holder": holder},
        )
