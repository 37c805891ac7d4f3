"""The table `open_questions`: questions that found nothing."""

from dataclasses import dataclass

from memory_server.domain.learning import OpenQuestion
from memory_server.storage.statements import Statements

_COLUMNS = "id, project, question, sessions, asked_at, session, person"


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    tx: Statements

    def select(self, project: str | None, least: int = 1) -> list[OpenQuestion]:
        """Return the questions of a project ('' is none) or of all, that so many sessions or more have asked.

        The latest comes first.
        """
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM open_questions
            WHERE sessions >= :least {"" if project is None else "AND project = :project"}
            ORDER BY coalesce(asked_again_at, asked_at) DESC, id DESC
            """,
            {"project": project, "least": least},
        )
        return [OpenQuestion(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class WritableOpenQuestions(OpenQuestions):
    def insert(self, project: str, question: str, session: str) -> None:
        row = {"project": project, "question": question, "session": session, "asked_at": self.tx.now}
        self.tx.insert_each("main.open_questions", [{**row, "person": self.tx.owner}])

    def ask_again(self, id: int, session: str) -> None:
        """Record that another session asks the same."""
        self.tx.send(
            """
            UPDATE main.open_questions
            SET sessions = sessions + 1, session = :session, asked_again_at = :now
            WHERE id = :id
            """,
            {"session": session, "now": self.tx.now, "id": id},
        )

    def delete(self, id: int | None = None, session: str | None = None) -> int:
        """Delete one, or those that sessions have asked last whose id begins so, or all, and return how many.

        Their bytes follow.
        """
        clauses = ["true"]
        if id is not None:
            clauses.append("id = :id")
        if session is not None:
            clauses.append("substr(session, 1, length(:session)) = :session")
        return self.tx.change(
            f"DELETE FROM main.open_questions WHERE {' AND '.join(clauses)}", {"id": id, "session": session}
        )
