"""The changes of the rows of all tables, as one list: who stored, edited, merged and deleted what, and when."""

from dataclasses import dataclass
from typing import Any

from memory_server.domain.change import Change, ChangeFilter, ChangeId
from memory_server.postgres.tx import Tx
from memory_server.storage.history import SHOWN, change_of

_NONE = "NULL::text"

_DELETED = f"""
    SELECT
        id, kind, item_id, deleted_at, deleted_by, parts #>> '{{long_term_memories,0,name}}' AS name,
        substr(
            coalesce(
                parts #>> '{{memories,0,content}}', parts #>> '{{turns,0,summary}}',
                parts #>> '{{short_term_memories,0,text}}', parts #>> '{{long_term_memories,0,prompt}}', ''
            ), 1, {SHOWN}
        ) AS text,
        coalesce(conversation, parts #>> '{{memories,0,project}}', parts #>> '{{turns,0,project}}') AS place,
        coalesce(parts #> '{{memories,0}}', parts #> '{{turns,0}}', parts #> '{{long_term_memories,0}}') AS stored,
        parts -> 'changes' AS changes
    FROM (
        SELECT id, kind, item_id, deleted_at, deleted_by, conversation, readable_json(parts) AS parts
        FROM trash
        ORDER BY deleted_at DESC, id DESC
        OFFSET 0 -- else the JSON would be read anew for each of its fields
    ) AS read
"""

_BRANCHES = (
    # What is there: a row each.
    f"""
    SELECT created_at, created_by, 'stored', 'memory', id, substr(content, 1, {SHOWN}), {_NONE}, NULL::bigint, {_NONE},
        project, {_NONE}, 0
    FROM memories
    """,
    f"""
    SELECT created_at, created_by, 'stored', 'turn', id, substr(summary, 1, {SHOWN}), {_NONE}, NULL::bigint, {_NONE},
        project, {_NONE}, 1
    FROM turns
    """,
    f"""
    SELECT l.created_at, l.created_by, 'stored', 'long_term', l.id, substr(l.prompt, 1, {SHOWN}), {_NONE}, NULL::bigint,
        l.name, c.name, {_NONE}, 2
    FROM long_term_memories AS l
    JOIN conversations AS c ON c.id = l.conversation_id
    """,
    # What was changed
    f"""
    SELECT c.changed_at, c.changed_by, c.action, 'memory', m.id,
        substr(coalesce(readable_json(c.draft) ->> 'content', m.content), 1, {SHOWN}), 'c', c.id, {_NONE}, m.project,
        {_NONE}, 3
    FROM changes AS c
    JOIN memories AS m ON m.id = c.memory_id
    """,
    f"""
    SELECT c.changed_at, c.changed_by, c.action, 'long_term', l.id, substr(l.prompt, 1, {SHOWN}), 'c', c.id, l.name,
        v.name, {_NONE}, 4
    FROM changes AS c
    JOIN long_term_memories AS l ON l.id = c.long_term_id
    JOIN conversations AS v ON v.id = l.conversation_id
    """,
    # What was deleted: that it was, that it was stored before, and its changes, which come back with it.
    f"""
    SELECT deleted_at, deleted_by, 'deleted', kind, item_id, text, 'd', id, name, place, {_NONE}, 5
    FROM ({_DELETED}) AS deleted
    """,
    f"""
    SELECT stored ->> 'created_at', stored ->> 'created_by', 'stored', kind, item_id, text, {_NONE}, NULL::bigint, name,
        place, {_NONE}, 0
    FROM ({_DELETED}) AS deleted
    WHERE stored ->> 'created_at' IS NOT NULL
    """,
    f"""
    SELECT c ->> 'changed_at', c ->> 'changed_by', c ->> 'action', kind, item_id,
        substr(coalesce(readable_json(c ->> 'draft') ->> 'content', text), 1, {SHOWN}), 'c', (c ->> 'id')::bigint, name,
        place, {_NONE}, 4
    FROM ({_DELETED}) AS deleted
    CROSS JOIN LATERAL jsonb_array_elements(changes) AS all_changes (c)
    """,
    # Facts: an expiry blanks the values before it, so nothing brings them back.
    f"""
    SELECT changed_at, changed_by,
        CASE WHEN action <> 'written' THEN action WHEN before = 'written' THEN 'edited' ELSE 'stored' END, 'fact',
        fact_id, substr(value, 1, {SHOWN}),
        CASE WHEN (action = 'deleted' OR before = 'written') AND NOT blanked THEN 'h' END, id, key, owner, scope, 6
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
    ) AS facts
    """,
)
"""A SELECT for each source of changes. Its columns: moment, author, action, kind, id and text of what was changed,
origin of the change and row in that origin, name, project or conversation, scope of a fact, and a number that orders
changes of the same moment."""

_ORDER = 'at COLLATE "C" DESC, number DESC, coalesce(row, item) DESC'


def _latest(clauses: list[str]) -> str:
    """A statement for the latest changes that meet the clauses. Its values: for each branch those of the clauses and
    the limit; then the limit once more.

    An index gives the rows of most branches in this order, so that no more are read than the limit. Of the trash, which
    is JSON, all may be read.
    """
    where = " AND ".join(["true", *clauses])
    columns = "at, by, action, kind, item, text, origin, row, name, place, scope, number"
    branches = [
        f"(SELECT * FROM ({branch}) AS log ({columns}) WHERE {where} ORDER BY {_ORDER} LIMIT %s)"
        for branch in _BRANCHES
    ]
    return f"""
        SELECT at, by, action, kind, item, text, origin, row, name, place, scope
        FROM ({" UNION ALL ".join(branches)}) AS log
        ORDER BY {_ORDER}
        LIMIT %s
    """


def _conditions(filter: ChangeFilter) -> tuple[list[str], list[Any]]:
    clauses: list[str] = ["origin IS NOT NULL AND action <> 'expired'"] if filter.undone else []
    values: list[Any] = []
    if filter.project is not None:
        clauses.append("coalesce(place, '') IN (%s, %s) AND (scope IS NULL OR scope = 'project')")
        values += [filter.project, f"project:{filter.project}"[:200] if filter.project else "default"]
    if filter.by is not None:
        clauses.append("""lower(coalesce(by, 'hand') COLLATE "C") = lower(%s COLLATE "C")""")
        values.append(filter.by)
    for column, value in (("kind", filter.kind and filter.kind.value), ("item", filter.item)):
        if value is not None:
            clauses.append(f"{column} = %s")
            values.append(value)
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"as_moment(at) {sign} as_moment(%s)")
            values.append(moment)
    return clauses, values


@dataclass(frozen=True, slots=True)
class Log:
    """The table of `tx.log`: see `storage.history.Log`."""

    tx: Tx

    def select(self, filter: ChangeFilter, limit: int) -> list[Change]:
        clauses, values = _conditions(filter)
        rows = self.tx.rows(_latest(clauses), (*[*values, limit] * len(_BRANCHES), limit))
        return [change_of(row) for row in rows]

    def find(self, id: ChangeId) -> Change | None:
        values = (id.origin.value, id.row, 1)
        row = self.tx.row(_latest(["origin = %s", "row = %s"]), (*values * len(_BRANCHES), 1))
        return None if row is None else change_of(row)
