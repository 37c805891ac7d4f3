"""The tables `projects` and `project_keys`: which project is meant, and what it is called."""

from dataclasses import dataclass

from memory_server.domain.project import Listed
from memory_server.sqlite.tx import Tx
from memory_server.storage.projects import KeyKind, Known, kind_of


def _known(row: tuple[int, str] | None) -> Known | None:
    return None if row is None else Known(*row)


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()


@dataclass(frozen=True, slots=True)
class Projects:
    tx: Tx

    def find(self, name: str) -> Known | None:
        return _known(self.tx.row("SELECT id, name FROM projects WHERE name = ?", (name,)))

    def find_by_key(self, key: str) -> Known | None:
        return self._find_by(kind_of(key), key)

    def find_by_former_name(self, name: str) -> Known | None:
        return self._find_by(KeyKind.NAME, name)

    def has_key(self, id: int, *kinds: KeyKind) -> bool:
        kinds_of_project = [
            kind for (kind,) in self.tx.rows("SELECT kind FROM project_keys WHERE project_id = ?", (id,))
        ]
        return any(kind in kinds_of_project for kind in kinds)

    def names(self) -> list[str]:
        return [name for (name,) in self.tx.rows("SELECT name FROM projects ORDER BY name")]

    def former_names(self) -> list[str]:
        return [
            key
            for (key,) in self.tx.rows("SELECT key FROM project_keys WHERE kind = ?", (KeyKind.NAME.value,))
        ]

    def select(self) -> list[Listed]:
        rows = self.tx.rows(
            """
            SELECT
                p.name,
                (SELECT group_concat(key, char(10)) FROM project_keys WHERE project_id = p.id AND kind <> 'name'),
                (SELECT group_concat(key, char(10)) FROM project_keys WHERE project_id = p.id AND kind = 'name'),
                p.folder,
                (SELECT count(*) FROM memories WHERE project = p.name),
                (SELECT count(*) FROM facts WHERE scope = 'project' AND owner = p.name),
                (SELECT count(*) FROM turns WHERE project = p.name),
                p.id
            FROM projects AS p
            ORDER BY p.name
            """
        )
        return [
            Listed(name, _lines(keys), _lines(former), folder, *counts)
            for name, keys, former, folder, *counts, _ in rows
        ]

    def insert(self, name: str) -> Known:
        row = self.tx.one(
            "INSERT INTO main.projects (name, created_at) VALUES (?, ?) RETURNING id", (name, self.tx.now)
        )
        return Known(row[0], name)

    def add_key(self, id: int, key: str) -> None:
        self.tx.execute(
            "INSERT INTO main.project_keys (kind, key, project_id) VALUES (?, ?, ?)",
            (kind_of(key).value, key, id),
        )

    def is_in(self, id: int, folder: str | None) -> bool:
        return bool(self.tx.value("SELECT folder IS ? FROM projects WHERE id = ?", (folder, id)))

    def mark_folder(self, id: int, folder: str) -> None:
        self.tx.execute(
            "UPDATE main.projects SET folder = ? WHERE id = ? AND folder IS NOT ?", (folder, id, folder)
        )

    def rename(self, id: int, name: str) -> None:
        self.tx.execute("UPDATE main.projects SET name = ? WHERE id = ?", (name, id))

    def hand_on(self, source: Known, target: Known) -> None:
        self.tx.send("UPDATE project_keys SET project_id = ? WHERE project_id = ?", (target.id, source.id))
        self.tx.send(
            """
            UPDATE projects
            SET folder = (SELECT folder FROM projects WHERE id = ?)
            WHERE id = ? AND folder IS NULL
            """,
            (source.id, target.id),
        )

    def delete_empty(self) -> None:
        rows = self.tx.rows(
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
        deleted = self._in_trash() if rows else set()
        for name, id in rows:
            if name not in deleted:
                self.tx.execute("DELETE FROM main.projects WHERE id = ?", (id,))

    def _in_trash(self) -> set[str]:
        """The projects of what was deleted."""
        rows = self.tx.rows(
            """
            SELECT json_extract(parts, '$.memories[0].project') FROM trash WHERE kind = 'memory'
            UNION
            SELECT json_extract(parts, '$.turns[0].project') FROM trash WHERE kind = 'turn'
            """
        )
        return {name for (name,) in rows}

    def _find_by(self, kind: KeyKind, key: str) -> Known | None:
        return _known(
            self.tx.row(
                """
                SELECT p.id, p.name
                FROM project_keys AS k
                JOIN projects AS p ON p.id = k.project_id
                WHERE k.kind = ? AND k.key = ?
                """,
                (kind.value, key),
            )
        )
