"""The tables `projects` and `project_keys`: which project is meant, and what it is called."""

from dataclasses import dataclass
from enum import StrEnum

from memory_server.domain.project import Listed
from memory_server.project.address import is_path
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows("projects", ("name", "folder", "created_at"), moments=("created_at",)),
    Rows("project_keys", ("kind", "key"), id="key"),
)


class Kind(StrEnum):
    """What a project is known by besides its name."""

    REMOTE = "remote"
    FOLDER = "folder"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Known:
    """A project of the file."""

    id: int
    name: str


def _known(row: tuple[int, str] | None) -> Known | None:
    return None if row is None else Known(*row)


def find(tx: Tx, name: str) -> Known | None:
    """The project of exactly this name."""
    return _known(tx.row("SELECT id, name FROM projects WHERE name = ?", (name,)))


def find_by_key(tx: Tx, key: str) -> Known | None:
    """The project of this address of a remote, or of this path."""
    return _find_by(tx, kind_of(key), key)


def find_by_former_name(tx: Tx, name: str) -> Known | None:
    return _find_by(tx, Kind.NAME, name)


def kind_of(key: str) -> Kind:
    return Kind.FOLDER if is_path(key) else Kind.REMOTE


def has_key(tx: Tx, id: int, *kinds: Kind) -> bool:
    """Whether a project is known by any key of these kinds."""
    found = [kind for (kind,) in tx.rows("SELECT kind FROM project_keys WHERE project_id = ?", (id,))]
    return any(kind in found for kind in kinds)


def names(tx: Tx) -> list[str]:
    return [name for (name,) in tx.rows("SELECT name FROM projects ORDER BY name")]


def former_names(tx: Tx) -> list[str]:
    return [key for (key,) in tx.rows("SELECT key FROM project_keys WHERE kind = ?", (Kind.NAME.value,))]


def select(tx: Tx) -> list[Listed]:
    """All projects by name."""
    rows = tx.rows(
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


def insert(tx: WriteTx, name: str) -> Known:
    row = tx.one("INSERT INTO main.projects (name, created_at) VALUES (?, ?) RETURNING id", (name, tx.now))
    return Known(row[0], name)


def add_key(tx: WriteTx, id: int, key: str) -> None:
    tx.execute(
        "INSERT INTO main.project_keys (kind, key, project_id) VALUES (?, ?, ?)",
        (kind_of(key).value, key, id),
    )


def is_in(tx: Tx, id: int, folder: str | None) -> bool:
    """Whether this is the root in which a project was used last."""
    return bool(tx.value("SELECT folder IS ? FROM projects WHERE id = ?", (folder, id)))


def mark_folder(tx: WriteTx, id: int, folder: str) -> None:
    tx.execute("UPDATE main.projects SET folder = ? WHERE id = ? AND folder IS NOT ?", (folder, id, folder))


def rename(tx: WriteTx, id: int, name: str) -> None:
    """A trigger lets every row follow, and keeps the old name as a former one."""
    tx.execute("UPDATE main.projects SET name = ? WHERE id = ?", (name, id))


def delete_empty(tx: WriteTx) -> None:
    """Forget the projects of which nothing is left, not even in the trash or in the history of facts."""
    rows = tx.rows(
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
    deleted = _in_trash(tx) if rows else set()
    for name, id in rows:
        if name not in deleted:
            tx.execute("DELETE FROM main.projects WHERE id = ?", (id,))


def _in_trash(tx: Tx) -> set[str]:
    """The projects of what was deleted."""
    rows = tx.rows(
        """
        SELECT json_extract(parts, '$.memories[0].project') FROM trash WHERE kind = 'memory'
        UNION
        SELECT json_extract(parts, '$.turns[0].project') FROM trash WHERE kind = 'turn'
        """
    )
    return {name for (name,) in rows}


def _find_by(tx: Tx, kind: Kind, key: str) -> Known | None:
    return _known(
        tx.row(
            """
            SELECT p.id, p.name
            FROM project_keys AS k
            JOIN projects AS p ON p.id = k.project_id
            WHERE k.kind = ? AND k.key = ?
            """,
            (kind.value, key),
        )
    )


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()
