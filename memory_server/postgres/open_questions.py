"""The table `open_questions`: questions that found nothing."""

from dataclasses import dataclass

from memory_server.domain.learning import OpenQuestion
from memory_server.postgres.tx import Tx

_COLUMNS = "id, project, question, sessions, asked_at, session, person"


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """The table `open_questions`: questions that found nothing."""

    tx: Tx

    def insert(self, project: str, question: str, session: str) -> None:
        self.tx.send(
            "INSERT INTO open_questions (project, question, session, asked_at, person) VALUES (%s, %s, %s, %s, %s)",
            (project, question, session, self.tx.now, self.tx.owner),
        )

    def ask_again(self, id: int, session: str) -> None:
        self.tx.send(
            "UPDATE open_questions SET sessions = sessions + 1, session = %s, asked_again_at = %s WHERE id = %s",
            (session, self.tx.now, id),
        )

    def select(self, project: str | None, least: int = 1) -> list[OpenQuestion]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM open_questions
            WHERE (%(project)s::text IS NULL OR project = %(project)s) AND sessions >= %(least)s
            ORDER BY coalesce(asked_again_at, asked_at) DESC, id DESC
            """,
            {"project": project, "least": least},
        )
        return [OpenQuestion(*row) for row in rows]

    def delete(self, id: int | None = None, session: str | None = None) -> int:
        return self.tx.execute(
            """
            DELETE FROM open_questions
            WHERE (%(id)s::bigint IS NULL OR id = %(id)s)
                AND (%(session)s::text IS NULL OR starts_with(session, %(session)s))
            """,
            {"id": id, "session": session},
        )
