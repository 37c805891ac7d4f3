"""Projects as records, and by which name one of another file is known here."""

from collections.abc import Iterator

from memory_server.domain.exchange.records import ProjectRecord
from memory_server.sqlite.tx import Tx


def projects(tx: Tx, project: str | None = None) -> Iterator[ProjectRecord]:
    """All projects, or one, by name."""
    for id, name, folder, created_at in tx.rows(
        "SELECT id, name, folder, created_at FROM projects WHERE ? IS NULL OR name = ? ORDER BY name",
        (project, project),
    ):
        keys = tx.rows("SELECT kind, key FROM project_keys WHERE project_id = ? ORDER BY kind, key", (id,))
        yield ProjectRecord(name, folder, created_at, tuple((kind, key) for kind, key in keys))


def known_by(tx: Tx, record: ProjectRecord) -> str | None:
    """What the project with any of these remotes or folders is called here."""
    for kind, key in record.keys:
        if kind != "name":
            name = tx.value(
                """
                SELECT p.name FROM project_keys AS k JOIN projects AS p ON p.id = k.project_id
                WHERE k.kind = ? AND k.key = ?
                """,
                (kind, key),
            )
            if name is not None:
                return str(name)
    return None
