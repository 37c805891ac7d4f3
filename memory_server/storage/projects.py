"""The tables `projects` and `project_keys`: which project is meant, and what it is called."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memory_server.domain.project import Listed
from memory_server.project.address import is_path
from memory_server.storage.statements import HasStatements, Row


class KeyKind(StrEnum):
    """The kinds of keys by which a project is known besides its name."""

    REMOTE = "remote"
    FOLDER = "folder"
    NAME = "name"


def kind_of(key: str) -> KeyKind:
    """The kind of a key that is no name."""
    return KeyKind.FOLDER if is_path(key) else KeyKind.REMOTE


@dataclass(frozen=True, slots=True)
class Known:
    """A project."""

    id: int
    name: str


AT_ONCE = 5_000
"""Memories that move in one transaction: about 0.1 s, so that other writes wait little."""


class AllProjects:
    """All projects with their names and keys: to find the right one takes several questions."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """A row is the id and the name of a project, the kinds of its keys, and the keys."""
        self.names: dict[str, Known] = {}
        self.keys: dict[tuple[str, str], Known] = {}
        for id, name, kinds, keys in rows:
            project = self.names[name] = Known(id, name)
            self.keys |= dict.fromkeys(zip(kinds, keys, strict=True), project)


class Directory(Protocol):
    """All projects as the process holds them, where to ask for one takes a way to another machine."""

    def read(self) -> AllProjects | None:
        """Return all projects as they are now; None where each is to be asked for."""
        ...


class WritableDirectory(Directory, Protocol):
    def forget(self) -> None:
        """Forget what was read: the projects change."""
        ...

    def insert(self, name: str) -> Known:
        """Insert a project."""
        ...


class Whole(HasStatements, Protocol):
    """The transaction, as far as the projects need it."""

    @property
    def directory(self) -> WritableDirectory: ...


@dataclass(frozen=True, slots=True)
class Projects:
    tx: Whole

    def find(self, name: str) -> Known | None:
        """Return the project of exactly this name."""
        every = self.tx.directory.read()
        if every is not None:
            return every.names.get(name)
        return _known(
            self.tx.statements.row("SELECT id, name FROM projects WHERE name = :name", {"name": name})
        )

    def find_by_key(self, key: str) -> Known | None:
        """Return the project of this address of a remote, or of this path."""
        return self._find_by(kind_of(key), key)

    def find_by_former_name(self, name: str) -> Known | None:
        return self._find_by(KeyKind.NAME, name)

    def _find_by(self, kind: KeyKind, key: str) -> Known | None:
        every = self.tx.directory.read()
        if every is not None:
            return every.keys.get((kind, key))
        return _known(
            self.tx.statements.row(
                """
                SELECT p.id, p.name
                FROM project_keys AS k
                JOIN projects AS p ON p.id = k.project_id
                WHERE k.kind = :kind AND k.key = :key
                """,
                {"kind": kind.value, "key": key},
            )
        )

    def has_key(self, id: int, *kinds: KeyKind) -> bool:
        """Return True if a project is known by any key of these kinds."""
        every = self.tx.directory.read()
        if every is not None:
            return any(project.id == id and kind in kinds for (kind, _), project in every.keys.items())
        rows = self.tx.statements.rows("SELECT kind FROM project_keys WHERE project_id = :id", {"id": id})
        return any(kind in kinds for (kind,) in rows)

    def names(self) -> list[str]:
        every = self.tx.directory.read()
        if every is not None:
            return sorted(every.names)
        return [name for (name,) in self.tx.statements.rows("SELECT name FROM projects ORDER BY name")]

    def former_names(self) -> list[str]:
        every = self.tx.directory.read()
        if every is not None:
            return sorted(key for kind, key in every.keys if kind == KeyKind.NAME)
        rows = self.tx.statements.rows("SELECT key FROM project_keys WHERE kind = 'name' ORDER BY key")
        return [key for (key,) in rows]

    def select(self) -> list[Listed]:
        """Return all projects by name."""
        keys: dict[tuple[int, bool], list[str]] = defaultdict(list)
        for id, kind, key in self.tx.statements.rows(
            "SELECT project_id, kind, key FROM project_keys ORDER BY kind, key"
        ):
            keys[id, kind == KeyKind.NAME].append(key)
        rows = self.tx.statements.rows(
            """
            SELECT
                p.id, p.name, p.folder,
                (SELECT count(*) FROM memories WHERE project = p.name),
                (SELECT count(*) FROM facts WHERE scope = 'project' AND owner = p.name),
                (SELECT count(*) FROM turns WHERE project = p.name)
            FROM projects AS p
            ORDER BY p.name
            """
        )
        return [
            Listed(name, tuple(keys[id, False]), tuple(keys[id, True]), folder, *counts)
            for id, name, folder, *counts in rows
        ]

    def is_in(self, id: int, folder: str | None) -> bool:
        """Return True if this is the root in which a project was used last."""
        return bool(
            self.tx.statements.value(
                "SELECT folder IS NOT DISTINCT FROM :folder FROM projects WHERE id = :id",
                {"folder": folder, "id": id},
            )
        )


@dataclass(frozen=True, slots=True)
class WritableProjects(Projects):
    def insert(self, name: str) -> Known:
        return self.tx.directory.insert(name)

    def add_key(self, id: int, key: str) -> None:
        self.tx.directory.forget()
        self.tx.statements.send(
            "INSERT INTO main.project_keys (kind, key, project_id) VALUES (:kind, :key, :id)",
            {"kind": kind_of(key).value, "key": key, "id": id},
        )

    def mark_folder(self, id: int, folder: str) -> None:
        self.tx.statements.send(
            "UPDATE main.projects SET folder = :folder WHERE id = :id AND folder IS DISTINCT FROM :folder",
            {"folder": folder, "id": id},
        )

    def rename(self, id: int, name: str) -> None:
        """Rename a project. A trigger lets every row follow, and keeps the old name as a former one."""
        self.tx.directory.forget()
        self.tx.statements.send(
            "UPDATE main.projects SET name = :name WHERE id = :id", {"name": name, "id": id}
        )

    def hand_on(self, source: Known, target: Known) -> None:
        """Let the folder, the remotes and the former names of one project lead to another one from now on."""
        self.tx.directory.forget()
        ids = {"source": source.id, "target": target.id}
        self.tx.statements.send(
            "UPDATE main.project_keys SET project_id = :target WHERE project_id = :source", ids
        )
        self.tx.statements.send(
            """
            UPDATE main.projects
            SET folder = (SELECT folder FROM projects WHERE id = :source)
            WHERE id = :target AND folder IS NULL
            """,
            ids,
        )

    def delete_empty(self) -> None:
        """Forget the projects of which nothing is left, not even in the trash or in the history of facts."""
        rows = self.tx.statements.rows(
            """
            SELECT name, id
            FROM projects AS p
            WHERE NOT EXISTS (SELECT 1 FROM memories WHERE project = p.name)
                AND NOT EXISTS (SELECT 1 FROM facts WHERE scope = 'project' AND owner = p.name)
                AND NOT EXISTS (SELECT 1 FROM fact_history WHERE scope = 'project' AND owner = p.name)
                AND NOT EXISTS (SELECT 1 FROM turns WHERE project = p.name)
                AND NOT EXISTS (SELECT 1 FROM conversations WHERE name = substr('project:' || p.name, 1, 200))
                AND NOT EXISTS (
                    SELECT 1
                    FROM conversations
                    WHERE person IS NOT NULL AND name = person || char(31) || substr('project:' || p.name, 1, 200)
                )
            """
        )
        in_trash = self._in_trash() if rows else set()
        self.tx.directory.forget()
        self.tx.statements.send_each(
            "DELETE FROM main.projects WHERE id = :id",
            [{"id": id} for name, id in rows if name not in in_trash],
        )

    def _in_trash(self) -> set[str]:
        """Return the projects of what was deleted."""
        rows = self.tx.statements.rows(
            """
            SELECT json_extract(parts, '$.memories[0].project') FROM trash WHERE kind = 'memory'
            UNION
            SELECT json_extract(parts, '$.turns[0].project') FROM trash WHERE kind = 'turn'
            """
        )
        return {name for (name,) in rows}


def _known(row: Row | None) -> Known | None:
    return None if row is None else Known(*row)
