"""The table `open_questions`: questions that found nothing."""

from memory_server.domain.learning import OpenQuestion
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (
    Rows(
        "open_questions",
        ("project", "question", "session", "asked_at", "asked_again_at", "person"),
        moments=("asked_at", "asked_again_at"),
    ),
)

_COLUMNS = "id, project, question, sessions, asked_at, session, person"


def insert(tx: WriteTx, project: str, question: str, session: str) -> None:
    tx.execute(
        "INSERT INTO main.open_questions (project, question, session, asked_at, person) VALUES (?, ?, ?, ?, ?)",
        (project, question, session, tx.now, tx.owner),
    )


def ask_again(tx: WriteTx, id: int, session: str) -> None:
    """Another session asks the same."""
    tx.execute(
        "UPDATE main.open_questions SET sessions = sessions + 1, session = ?, asked_again_at = ? WHERE id = ?",
        (session, tx.now, id),
    )


def select(tx: Tx, project: str | None, least: int = 1) -> list[OpenQuestion]:
    """The questions of a project ('' is none) or of all, that so many sessions or more have asked; the latest first."""
    rows = tx.rows(
        f"""
        SELECT {_COLUMNS}
        FROM open_questions
        WHERE (:project IS NULL OR project = :project) AND sessions >= :least
        ORDER BY ifnull(asked_again_at, asked_at) DESC, id DESC
        """,
        {"project": project, "least": least},
    )
    return [OpenQuestion(*row) for row in rows]


def delete(tx: WriteTx, id: int | None = None, session: str | None = None) -> int:
    """Delete one, or those that sessions have asked last whose id begins so, or all; how many. Their bytes follow."""
    tx.connection.execute(
        """
        DELETE FROM main.open_questions
        WHERE (:id IS NULL OR id = :id) AND (:session IS NULL OR substr(session, 1, length(:session)) = :session)
        """,
        {"id": id, "session": session},
    )
    return tx.connection.changes()
