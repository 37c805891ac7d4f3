"""All projects of a tenant, as this process read them last."""

from dataclasses import dataclass
from typing import Any

from psycopg.errors import UniqueViolation

from memory_server.call import again
from memory_server.postgres.tx import Tx
from memory_server.storage.projects import AllProjects, Known

MOST = 500
"""Up to so many projects are read at once, in 0.5 ms. If there are more, each question is a statement."""


PEOPLE = 100
"""Persons whose projects a process remembers."""


@dataclass(slots=True)
class Directory:
    """The table of `tx.directory`: see `storage.projects.WritableDirectory`.

    A call that would be repeated goes by the projects that this process read last, and waits for no other ones. The
    transaction reads them all the same, and ends with Undone where they are others now: see `Tx.refuse_outdated`.
    """

    tx: Tx
    _every: AllProjects | None = None
    _writes: int = -1
    """Number of writes that the transaction had sent when it read the projects."""

    def read(self) -> AllProjects | None:
        if self._writes != self.tx.writes:
            rows, self._writes = self._rows(), self.tx.writes
            self._every = AllProjects(rows) if len(rows) <= MOST else None
        return self._every

    def forget(self) -> None:
        self.tx.directories.clear()

    def insert(self, name: str) -> Known:
        is_current = self._writes == self.tx.writes
        try:
            (id,) = self.tx.one(
                "INSERT INTO projects (name, created_at) VALUES (%s, %s) RETURNING id", (name, self.tx.now)
            )
        except UniqueViolation:
            self.tx.refuse_outdated()  # another server has made it: the call is repeated, and finds it
            raise
        project = Known(id, name)
        if is_current:
            self._writes = self.tx.writes
            if self._every is not None:
                self._every.names[name] = project
        self.forget()
        return project

    def _rows(self) -> list[tuple[Any, ...]]:
        answer = self.tx.ask(
            """
            SELECT
                p.id, p.name,
                ARRAY(SELECT kind::text FROM project_keys WHERE project_id = p.id ORDER BY kind, key),
                ARRAY(SELECT key::text FROM project_keys WHERE project_id = p.id ORDER BY kind, key)
            FROM projects AS p
            ORDER BY p.id
            LIMIT %s
            """,
            (MOST + 1,),
        )
        rows = self.tx.directories.get(self.tx.owner)
        if rows is not None and not self.tx.writes and again.is_possible():
            self.tx.unchecked.append((answer, rows))
            return rows
        rows = answer.rows()
        if len(self.tx.directories) >= PEOPLE:
            self.tx.directories.clear()
        self.tx.directories[self.tx.owner] = rows
        return rows
