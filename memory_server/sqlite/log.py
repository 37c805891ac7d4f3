"""The changes of the rows of all tables, as one list: who stored, edited, merged and deleted what, and when."""

from dataclasses import dataclass

from memory_server.domain.change import Change, ChangeFilter, ChangeId
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.history import SHOWN, change_of

_PRESENT = f"""
    SELECT created_at, created_by, 'stored', 'memory', id, substr(content, 1, {SHOWN}), NULL, NULL, NULL, project,
        NULL, 0
    FROM memories
    UNION ALL
    SELECT created_at, created_by, 'stored', 'turn', id, substr(summary, 1, {SHOWN}), NULL, NULL, NULL, project, NULL, 1
    FROM turns
    UNION ALL
    SELECT l.created_at, l.created_by, 'stored', 'long_term', l.id, substr(prompt, 1, {SHOWN}), NULL, NULL, l.name,
        c.name, NULL, 2
    FROM long_term_memories AS l
    JOIN conversations AS c ON c.id = l.conversation_id
"""
"""What is there: a row each."""

_CHANGES = f"""
    SELECT c.changed_at, c.changed_by, c.action, 'memory', m.id,
        substr(ifnull(json_extract(draft, '$.content'), m.content), 1, {SHOWN}), 'c', c.id, NULL, m.project, NULL, 3
    FROM changes AS c
    JOIN memories AS m ON m.id = c.memory_id
    UNION ALL
    SELECT c.changed_at, c.changed_by, c.action, 'long_term', l.id, substr(l.prompt, 1, {SHOWN}), 'c', c.id, l.name,
        v.name, NULL, 4
    FROM changes AS c
    JOIN long_term_memories AS l ON l.id = c.long_term_id
    JOIN conversations AS v ON v.id = l.conversation_id
"""

_DELETED = """
    SELECT
        id, kind, item_id, deleted_at, deleted_by, json_extract(parts, '$.long_term_memories[0].name') AS name,
        coalesce(
            json_extract(parts, '$.memories[0].content'), json_extract(parts, '$.turns[0].summary'),
            json_extract(parts, '$.short_term_memories[0].text'), json_extract(parts, '$.long_term_memories[0].prompt'),
            ''
        ) AS text,
        coalesce(
            conversation, json_extract(parts, '$.memories[0].project'), json_extract(parts, '$.turns[0].project')
        ) AS place,
        coalesce(
            json_extract(parts, '$.memories[0]'), json_extract(parts, '$.turns[0]'),
            json_extract(parts, '$.long_term_memories[0]')
        ) AS stored,
        json_extract(parts, '$.changes') AS changes
    FROM trash
"""

_TRASH = f"""
    SELECT deleted_at, deleted_by, 'deleted', kind, item_id, substr(text, 1, {SHOWN}), 'd', id, name, place, NULL, 5
    FROM ({_DELETED})
    UNION ALL
    SELECT json_extract(stored, '$.created_at'), json_extract(stored, '$.created_by'), 'stored', kind, item_id,
        substr(text, 1, {SHOWN}), NULL, NULL, name, place, NULL, 0
    FROM ({_DELETED})
    WHERE json_extract(stored, '$.created_at') IS NOT NULL
    UNION ALL
    SELECT c.value ->> 'changed_at', c.value ->> 'changed_by', c.value ->> 'action', kind, item_id,
        substr(ifnull(json_extract(c.value ->> 'draft', '$.content'), text), 1, {SHOWN}), 'c', c.value ->> 'id', name,
        place, NULL, 4
    FROM ({_DELETED}) JOIN json_each(changes) AS c
"""
"""What was deleted: that it was, that it was stored before, and its changes, which come back with it."""

_FACTS = f"""
    SELECT changed_at, changed_by,
        CASE WHEN action = 'written' THEN iif(before = 'written', 'edited', 'stored') ELSE action END, 'fact', fact_id,
        substr(value, 1, {SHOWN}), iif((action = 'deleted' OR before = 'written') AND NOT blanked, 'h', NULL), id, key,
        owner, scope, 6
    FROM (
        SELECT id, fact_id, scope, owner, key, action, value, changed_at, changed_by, (
            SELECT p.action
            FROM fact_history AS p
            WHERE p.scope = h.scope AND p.owner = h.owner AND p.key = h.key AND p.id < h.id
            ORDER BY p.id DESC
            LIMIT 1
        ) AS before, EXISTS (
            SELECT 1
            FROM fact_history AS e
            WHERE e.scope = h.scope AND e.owner = h.owner AND e.key = h.key AND e.id > h.id AND e.action = 'expired'
        ) AS blanked
        FROM fact_history AS h
    )
"""
"""What happened to facts. An expiry blanks the values before it, so nothing brings them back."""

_ALL = f"""
    WITH log (at, by, action, kind, item, text, origin, row, name, place, scope, number) AS (
        {_PRESENT} UNION ALL {_CHANGES} UNION ALL {_TRASH} UNION ALL {_FACTS}
    )
    SELECT at, by, action, kind, item, text, origin, row, name, place, scope
    FROM log
"""


def _conditions(filter: ChangeFilter) -> tuple[list[str], list[Value]]:
    clauses: list[str] = ["origin IS NOT NULL AND action <> 'expired'"] if filter.undone else []
    values: list[Value] = []
    if filter.project is not None:
        clauses.append("ifnull(place, '') IN (?, ?) AND (scope IS NULL OR scope = 'project')")
        values += [filter.project, f"project:{filter.project}"[:200] if filter.project else "default"]
    if filter.by is not None:
        clauses.append("lower(ifnull(by, 'hand')) = lower(?)")
        values.append(filter.by)
    for column, value in (("kind", filter.kind and filter.kind.value), ("item", filter.item)):
        if value is not None:
            clauses.append(f"{column} = ?")
            values.append(value)
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"julianday(at) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


@dataclass(frozen=True, slots=True)
class Log:
    """The table of `tx.log`: see `storage.history.Log`."""

    tx: Tx

    def select(self, filter: ChangeFilter, limit: int) -> list[Change]:
        clauses, values = _conditions(filter)
        rows = self.tx.rows(
            f"""
            {_ALL}
            WHERE {" AND ".join(["1", *clauses])}
            ORDER BY at DESC, number DESC, ifnull(row, item) DESC
            LIMIT ?
            """,
            (*values, limit),
        )
        return [change_of(row) for row in rows]

    def find(self, id: ChangeId) -> Change | None:
        row = self.tx.row(f"{_ALL} WHERE origin = ? AND row = ?", (id.origin.value, id.row))
        return None if row is None else change_of(row)
