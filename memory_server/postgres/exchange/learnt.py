"""What was learnt as records: which sessions have used which memories, and the questions that found nothing.

Both are read in the order of their moments, so that the rows of the other database come in this order too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.domain.exchange.records import QuestionRecord, UseRecord, place
from memory_server.postgres.exchange.exported import Exported
from memory_server.postgres.tx import Tx

_USE = "session, shown_at, judged_at, used_at, how, person"

_QUESTION = "question, session, project, sessions, asked_at, asked_again_at, person"


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt as records: which sessions have used which memories, and the questions that found nothing."""

    tx: Tx

    def uses(self, project: str | None = None) -> Iterator[UseRecord]:
        own = Exported(self.tx).own_names("memory")
        rows = self.tx.rows(
            """
            SELECT memory_id, m.created_at, u.session, shown_at, judged_at, used_at, how, u.person
            FROM memory_uses AS u
            JOIN memories AS m ON m.tenant_id = u.tenant_id AND m.id = memory_id
            WHERE %(project)s::text IS NULL OR coalesce(m.project, '') = %(project)s
            """,
            {"project": project},
        )
        found = [UseRecord(own(id, created_at), *values) for id, created_at, *values in rows]
        yield from sorted(found, key=lambda each: (each.shown_at, place(each.memory), each.session))

    def questions(self, project: str | None = None) -> Iterator[QuestionRecord]:
        rows = self.tx.rows(
            f"""
            SELECT {_QUESTION}
            FROM open_questions
            WHERE %(project)s::text IS NULL OR project = %(project)s
            ORDER BY id
            """,
            {"project": project},
        )
        found = [QuestionRecord(*values) for values in rows]
        yield from sorted(found, key=lambda each: (each.asked_at, each.project, each.question))

    def find_use(self, memory: int, session: str) -> UseRecord | None:
        row = self.tx.row(
            f"SELECT {_USE} FROM memory_uses WHERE memory_id = %s AND session = %s", (memory, session)
        )
        return None if row is None else UseRecord("", *row)

    def put_use(self, memory: int, record: UseRecord) -> None:
        self.tx.send(
            """
            INSERT INTO memory_uses (memory_id, session, shown_at, judged_at, used_at, how, person)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (tenant_id, memory_id, session) DO UPDATE
            SET shown_at = excluded.shown_at, judged_at = excluded.judged_at, used_at = excluded.used_at,
                how = excluded.how
            """,
            (
                memory,
                record.session,
                record.shown_at,
                record.judged_at,
                record.used_at,
                record.how,
                record.person,
            ),
        )

    def find_question(
        self, project: str, question: str, person: str | None
    ) -> tuple[int, QuestionRecord] | None:
        row = self.tx.row(
            f"""
            SELECT {_QUESTION}, id
            FROM open_questions
            WHERE project = %s AND question = %s AND person IS NOT DISTINCT FROM %s
            ORDER BY id
            LIMIT 1
            """,
            (project, question, person),
        )
        return None if row is None else (row[-1], QuestionRecord(*row[:-1]))

    def insert_question(self, record: QuestionRecord) -> None:
        self.tx.send(
            f"INSERT INTO open_questions ({_QUESTION}) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (
                record.question,
                record.session,
                record.project,
                record.sessions,
                record.asked_at,
                record.asked_again_at,
                record.person,
            ),
        )

    def rewrite_question(self, id: int, record: QuestionRecord) -> None:
        self.tx.send(
            """
            UPDATE open_questions
            SET session = %s, sessions = %s, asked_at = %s, asked_again_at = %s
            WHERE id = %s
            """,
            (record.session, record.sessions, record.asked_at, record.asked_again_at, id),
        )
