"""Reads and writes projects as records, and finds the name by which a project of another database is known here."""

from collections.abc import Iterable, Iterator

from memory_server.domain.exchange.records import ProjectRecord
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import reading, writing
from memory_server.transfer.shapes import PROJECT


def read(tx: Tx, project: str | None = None) -> Iterator[ProjectRecord]:
    """Yield all projects, or the one with a name, by name."""
    yield from (record for _, record in rows(tx, project))


def rows(tx: Tx, project: str | None = None) -> Iterator[tuple[int, ProjectRecord]]:
    """Yield the same with the id of each row."""
    keys: dict[int, list[tuple[str, str]]] = {}
    for id, kind, key in tx.statements.rows(
        "SELECT project_id, kind, key FROM project_keys ORDER BY kind, key"
    ):
        keys.setdefault(id, []).append((kind, key))
    where, values = reading.of_project("name", project)
    for id, *row in tx.statements.rows(
        f"SELECT id, {PROJECT.listed()} FROM projects {where} ORDER BY name", values
    ):
        yield id, PROJECT.make(row, keys=tuple(keys.get(id, ())))


def known_by(tx: Tx, record: ProjectRecord) -> str | None:
    """Return the name here of the project with any of these remotes or folders."""
    for kind, key in record.keys:
        if kind != "name":
            name = tx.statements.value(
                """
                SELECT p.name
                FROM project_keys AS k
                JOIN projects AS p ON p.id = k.project_id
                WHERE k.kind = :kind AND k.key = :key
                """,
                {"kind": kind, "key": key},
            )
            if name is not None:
                return str(name)
    return None


def put(tx: WriteTx, record: ProjectRecord) -> bool:
    """Insert a project, or give it the keys that no other project has; return whether anything changed."""
    changed = _put_row(tx, record)
    id = tx.statements.value("SELECT id FROM projects WHERE name = :name", {"name": record.name})
    keys = [(kind, key) for kind, key in record.keys if kind != "name" or tx.projects.find(key) is None]
    return changed + _add_keys(tx, id, keys) > 0


def rewrite(tx: WriteTx, id: int, record: ProjectRecord) -> None:
    """Give a project the folder, the age and the keys of a record."""
    writing.update(tx, "projects", id, {"folder": record.folder, "created_at": record.created_at})
    tx.statements.send("DELETE FROM project_keys WHERE project_id = :id", {"id": id})
    _add_keys(tx, id, record.keys)


def _add_keys(tx: WriteTx, id: int, keys: Iterable[tuple[str, str]]) -> int:
    """Give a project the keys that no other one has; return their number."""
    return sum(
        tx.statements.change(
            "INSERT INTO project_keys (kind, key, project_id) VALUES (:kind, :key, :id) ON CONFLICT DO NOTHING",
            {"kind": kind, "key": key, "id": id},
        )
        for kind, key in keys
    )


def _put_row(tx: WriteTx, record: ProjectRecord) -> int:
    """Insert a project, or let it be as old as the older, with a folder; return the number of rows that changed."""
    return tx.statements.change(
        """
        INSERT INTO projects (name, folder, created_at)
        VALUES (:name, :folder, :created_at)
        ON CONFLICT (name) DO UPDATE SET
            folder = coalesce(projects.folder, excluded.folder),
            created_at = CASE
                WHEN excluded.created_at < projects.created_at THEN excluded.created_at
                ELSE projects.created_at
            END
        WHERE projects.folder IS NULL AND excluded.folder IS NOT NULL OR projects.created_at > excluded.created_at
        """,
        {"name": record.name, "folder": record.folder, "created_at": record.created_at or tx.now},
    )
