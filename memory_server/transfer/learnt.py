"""Reads what was learnt as records: which sessions have used which memories, and the open questions.

Both are read in the order of their moments, so that the rows of another database come in this order too.
"""

from collections.abc import Iterator

from memory_server.domain.exchange.records import QuestionRecord, UseRecord, place
from memory_server.storage.tx import Tx
from memory_server.transfer import reading
from memory_server.transfer.shapes import QUESTION, USE


def uses(tx: Tx, project: str | None = None) -> Iterator[UseRecord]:
    """Yield the uses of all memories that are there, or of those of a project."""
    own_name = reading.name_of(tx, "memory")
    where, values = reading.of_project("coalesce(m.project, '')", project)
    rows = tx.statements.rows(
        f"""
        SELECT u.id, m.id, m.created_at, {USE.listed("u")}
        FROM memory_uses AS u
        JOIN memories AS m ON m.id = u.memory_id
        {where}
        """,
        values,
    )
    records = [USE.make(row, memory=own_name(id, created_at)) for _, id, created_at, *row in rows]
    yield from sorted(records, key=lambda use: (use.shown_at, place(use.memory), use.session))


def questions(tx: Tx, project: str | None = None) -> Iterator[QuestionRecord]:
    """Yield all questions, or those of a project."""
    where, values = reading.of_project("project", project)
    rows = tx.statements.rows(
        f"SELECT id, {QUESTION.listed()} FROM open_questions {where} ORDER BY id", values
    )
    records = [QUESTION.make(row) for _, *row in rows]
    yield from sorted(records, key=lambda question: (question.asked_at, question.project, question.question))


def find_use(tx: Tx, memory_id: int, session: str) -> tuple[int, UseRecord] | None:
    """Return the row of a session that was shown a memory, and its record."""
    row = tx.statements.row(
        f"SELECT id, {USE.listed()} FROM memory_uses WHERE memory_id = :memory AND session = :session",
        {"memory": memory_id, "session": session},
    )
    return None if row is None else (row[0], USE.make(row[1:], memory=""))


def find_question(
    tx: Tx, project: str, question: str, person: str | None
) -> tuple[int, QuestionRecord] | None:
    """Return the row of a question of a project and a person in these words, and its record."""
    row = tx.statements.row(
        f"""
        SELECT id, {QUESTION.listed()}
        FROM open_questions
        WHERE project = :project AND question = :question AND person IS NOT DISTINCT FROM :person
        ORDER BY id
        LIMIT 1
        """,
        {"project": project, "question": question, "person": person},
    )
    return None if row is None else (row[0], QUESTION.make(row[1:]))
