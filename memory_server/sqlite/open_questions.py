"""The table `open_questions`: questions that found nothing."""

from dataclasses import dataclass

from memory_server.domain.learning import OpenQuestion
from memory_server.sqlite.tx import Tx

_COLUMNS = "id, project, question, sessions, asked_at, session, person"


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """The table `open_questions`: questions that found nothing."""

    tx: Tx

    def insert(self, project: str, question: str, session: str) -> None:
        self.tx.execute(
            "INSERT INTO main.open_questions (project, question, session, asked_at, person) VALUES (?, ?, ?, ?, ?)",
            (project, question, session, self.tx.now, self.tx.owner),
        )

    def ask_again(self, id: int, session: str) -> None:
        self.tx.execute(
            "UPDATE main.open_questions SET sessions = sessions + 1, session = ?, asked_again_at = ? WHERE id = ?",
            (session, self.tx.now, id),
        )

    def select(self, project: str | None, least: int = 1) -> list[OpenQuestion]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM open_questions
            WHERE (:project IS NULL OR project = :project) AND sessions >= :least
            ORDER BY ifnull(asked_again_at, asked_at) DESC, id DESC
            """,
            {"project": project, "least": least},
        )
        return [OpenQuestion(*row) for row in rows]

    def delete(self, id: int | None = None, session: str | None = None) -> int:
        self.tx.connection.execute(
            """
            DELETE FROM main.open_questions
            WHERE (:id IS NULL OR id = :id) AND (:session IS NULL OR substr(session, 1, length(:session)) = :session)
            """,
            {"id": id, "session": session},
        )
        return self.tx.connection.changes()
