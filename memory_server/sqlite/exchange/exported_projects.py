"""Projects as records, and by which name one of another file is known here."""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.domain.exchange.records import ProjectRecord
from memory_server.sqlite.tx import Tx


@dataclass(frozen=True, slots=True)
class ExportedProjects:
    """Projects as records, and by which name one of another file is known here."""

    tx: Tx

    def projects(self, project: str | None = None) -> Iterator[ProjectRecord]:
        for id, name, folder, created_at in self.tx.rows(
            "SELECT id, name, folder, created_at FROM projects WHERE ? IS NULL OR name = ? ORDER BY name",
            (project, project),
        ):
            keys = self.tx.rows(
                "SELECT kind, key FROM project_keys WHERE project_id = ? ORDER BY kind, key", (id,)
            )
            yield ProjectRecord(name, folder, created_at, tuple((kind, key) for kind, key in keys))

    def known_by(self, record: ProjectRecord) -> str | None:
        for kind, key in record.keys:
            if kind != "name":
                name = self.tx.value(
                    """
                    SELECT p.name FROM project_keys AS k JOIN projects AS p ON p.id = k.project_id
                    WHERE k.kind = ? AND k.key = ?
                    """,
                    (kind, key),
                )
                if name is not None:
                    return str(name)
        return None
