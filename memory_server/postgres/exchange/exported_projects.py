"""Projects as records, and by which name one of another database is known here."""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.domain.exchange.records import ProjectRecord
from memory_server.postgres.tx import Tx


@dataclass(frozen=True, slots=True)
class ExportedProjects:
    """Projects as records, and by which name one of another database is known here."""

    tx: Tx

    def projects(self, project: str | None = None) -> Iterator[ProjectRecord]:
        keys: dict[int, list[tuple[str, str]]] = {}
        for id, kind, key in self.tx.rows(
            "SELECT project_id, kind, key FROM project_keys ORDER BY kind, key"
        ):
            keys.setdefault(id, []).append((kind, key))
        for id, name, folder, created_at in self.tx.rows(
            """
            SELECT id, name, folder, created_at
            FROM projects
            WHERE %(name)s::text IS NULL OR name = %(name)s
            ORDER BY name
            """,
            {"name": project},
        ):
            yield ProjectRecord(name, folder, created_at, tuple(keys.get(id, ())))

    def known_by(self, record: ProjectRecord) -> str | None:
        keys = [each for each in record.keys if each[0] != "name"]
        name = self.tx.value(
            """
            SELECT p.name
            FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS asked (kind, key, place)
            JOIN project_keys AS k ON k.kind = asked.kind AND k.key = asked.key
            JOIN projects AS p ON p.tenant_id = k.tenant_id AND p.id = k.project_id
            ORDER BY place
            LIMIT 1
            """,
            ([kind for kind, _ in keys], [key for _, key in keys]),
        )
        return None if name is None else str(name)
