"""The tables `projects` and `project_keys`: which project is meant, and what it is called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.errors import UniqueViolation

from memory_server.call import again
from memory_server.domain.project import Listed
from memory_server.postgres.tx import Tx
from memory_server.storage.projects import KeyKind, Known, kind_of

MOST = 500
"""Up to so many projects are read at once, in 0.5 ms. If there are more, each question is a statement."""


PEOPLE = 100
"""Persons whose projects a process remembers."""


def _known(row: tuple[int, str] | None) -> Known | None:
    return None if row is None else Known(*row)


class _Directory:
    """All projects with their names and keys: to find the right one takes several questions.

    `writes` is how many writes the transaction had sent when it read them.
    """

    def __init__(self, rows: Sequence[tuple[Any, ...]], writes: int) -> None:
        self.writes = writes
        self.is_whole = len(rows) <= MOST
        self.names: dict[str, Known] = {}
        self.keys: dict[tuple[str, str], Known] = {}
        for id, name, kinds, keys in rows:
            project = self.names[name] = Known(id, name)
            self.keys |= dict.fromkeys(zip(kinds, keys, strict=True), project)


@dataclass(slots=True)
class Projects:
    """The tables `projects` and `project_keys`: which project is meant, and what it is called.

    A call that would be repeated goes by the directory that this process read last, and waits for no other one. The
    transaction reads it all the same, and ends with Undone where it is another one now: see `Tx.refuse_outdated`.
    """

    tx: Tx
    _read: _Directory | None = None

    def find(self, name: str) -> Known | None:
        directory = self._directory()
        if directory is not None:
            return directory.names.get(name)
        return _known(self.tx.row("SELECT id, name FROM projects WHERE name = %s", (name,)))

    def find_by_key(self, key: str) -> Known | None:
        return self._find_by(kind_of(key), key)

    def find_by_former_name(self, name: str) -> Known | None:
        return self._find_by(KeyKind.NAME, name)

    def has_key(self, id: int, *kinds: KeyKind) -> bool:
        directory = self._directory()
        if directory is not None:
            return any(project.id == id and kind in kinds for (kind, _), project in directory.keys.items())
        key = self.tx.value(
            "SELECT 1 FROM project_keys WHERE project_id = %s AND kind = ANY(%s::text[]) LIMIT 1",
            (id, [kind.value for kind in kinds]),
        )
        return key is not None

    def names(self) -> list[str]:
        directory = self._directory()
        if directory is not None:
            return sorted(directory.names)
        return [name for (name,) in self.tx.rows("SELECT name FROM projects ORDER BY name")]

    def former_names(self) -> list[str]:
        directory = self._directory()
        if directory is not None:
            return sorted(key for kind, key in directory.keys if kind == KeyKind.NAME)
        rows = self.tx.rows(
            "SELECT key FROM project_keys WHERE kind = %s ORDER BY key", (KeyKind.NAME.value,)
        )
        return [key for (key,) in rows]

    def select(self) -> list[Listed]:
        rows = self.tx.rows(
            """
            SELECT
                p.name,
                ARRAY(SELECT key::text FROM project_keys WHERE project_id = p.id AND kind <> 'name' ORDER BY kind, key),
                ARRAY(SELECT key::text FROM project_keys WHERE project_id = p.id AND kind = 'name' ORDER BY key),
                p.folder,
                (SELECT count(*) FROM memories WHERE project = p.name),
                (SELECT count(*) FROM facts WHERE scope = 'project' AND owner = p.name),
                (SELECT count(*) FROM turns WHERE project = p.name)
            FROM projects AS p
            ORDER BY p.name
            """
        )
        return [
            Listed(name, tuple(keys), tuple(former), folder, *counts)
            for name, keys, former, folder, *counts in rows
        ]

    def insert(self, name: str) -> Known:
        directory = self._read if self._read is not None and self._read.writes == self.tx.writes else None
        try:
            (id,) = self.tx.one(
                "INSERT INTO projects (name, created_at) VALUES (%s, %s) RETURNING id", (name, self.tx.now)
            )
        except UniqueViolation:
            self.tx.refuse_outdated()  # another server has made it: the call is repeated, and finds it
            raise
        project = Known(id, name)
        if directory is not None:
            directory.names[name] = project
            directory.writes = self.tx.writes
        self.tx.directories.clear()
        return project

    def add_key(self, id: int, key: str) -> None:
        self.tx.directories.clear()
        self.tx.send(
            "INSERT INTO project_keys (kind, key, project_id) VALUES (%s, %s, %s)",
            (kind_of(key).value, key, id),
        )

    def is_in(self, id: int, folder: str | None) -> bool:
        return bool(
            self.tx.value(
                "SELECT folder IS NOT DISTINCT FROM %s::text FROM projects WHERE id = %s", (folder, id)
            )
        )

    def mark_folder(self, id: int, folder: str) -> None:
        self.tx.send(
            "UPDATE projects SET folder = %s WHERE id = %s AND folder IS DISTINCT FROM %s::text",
            (folder, id, folder),
        )

    def rename(self, id: int, name: str) -> None:
        self.tx.directories.clear()
        self.tx.send("UPDATE projects SET name = %s WHERE id = %s", (name, id))

    def hand_on(self, source: Known, target: Known) -> None:
        self.tx.directories.clear()
        self.tx.send("UPDATE project_keys SET project_id = %s WHERE project_id = %s", (target.id, source.id))
        self.tx.send(
            """
            UPDATE projects
            SET folder = (SELECT folder FROM projects WHERE id = %s)
            WHERE id = %s AND folder IS NULL
            """,
            (source.id, target.id),
        )

    def delete_empty(self) -> None:
        self.tx.directories.clear()
        self.tx.send(
            """
            DELETE FROM projects AS p
            WHERE NOT EXISTS (SELECT 1 FROM memories WHERE project = p.name)
                AND NOT EXISTS (SELECT 1 FROM facts WHERE scope = 'project' AND owner = p.name)
                AND NOT EXISTS (SELECT 1 FROM fact_history WHERE scope = 'project' AND owner = p.name)
                AND NOT EXISTS (SELECT 1 FROM turns WHERE project = p.name)
                AND NOT EXISTS (SELECT 1 FROM conversations WHERE name = substr('project:' || p.name, 1, 200))
                AND NOT EXISTS (
                    SELECT 1
                    FROM conversations
                    WHERE person IS NOT NULL AND name = person || chr(31) || substr('project:' || p.name, 1, 200)
                )
                AND NOT EXISTS (SELECT 1 FROM trash WHERE project_of_trash(kind, parts) = p.name)
            """
        )

    def _directory(self) -> _Directory | None:
        """All projects as they are now; None if there are more than MOST."""
        if self._read is None or self._read.writes != self.tx.writes:
            self._read = _Directory(self._rows(), self.tx.writes)
        return self._read if self._read.is_whole else None

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

    def _find_by(self, kind: KeyKind, key: str) -> Known | None:
        directory = self._directory()
        if directory is not None:
            return directory.keys.get((kind, key))
        return _known(
            self.tx.row(
                """
                SELECT p.id, p.name
                FROM project_keys AS k
                JOIN projects AS p ON p.id = k.project_id
                WHERE k.kind = %s AND k.key = %s
                """,
                (kind.value, key),
            )
        )
