"""The changes of the rows of all tables, as one list: who stored, edited, merged and deleted what, and when."""

from dataclasses import dataclass
from typing import Any, Final

from memory_server.domain.change import UNDONE, Change, ChangeFilter, ChangeId
from memory_server.domain.event import JOINED, RENAMED
from memory_server.storage.history import SHOWN, change_of
from memory_server.storage.statements import Statements
from memory_server.storage.tables.turns import STORED

_TOLD: Final = tuple("at by action kind item text origin row name place scope said_by".split())
"""Moment, author, action, kind, id and text of what was changed; origin of the change and row in that origin, where it
can be undone; name, project or conversation, and scope of a fact; who said the text first."""

_ORDER: Final = "at COLLATE BINARY DESC, number DESC, ifnull(row, item) DESC"

_EMPTY: Final = {"row": "CAST(NULL AS bigint)"}


def _branch(number: int, source: str, **columns: str) -> str:
    """Return the SELECT of one source of changes. `number` orders those of the same moment."""
    columns["text"] = f"substr({columns['text']}, 1, {SHOWN})"
    listed = (f"{columns.get(name) or _EMPTY.get(name, 'CAST(NULL AS text)')} AS {name}" for name in _TOLD)
    return f"SELECT {', '.join(listed)}, {number} AS number FROM {source}"


_DELETED: Final = """
    (
        SELECT
            id, kind, item_id, deleted_at, deleted_by, parts ->> '$.long_term_memories[0].name' AS name,
            coalesce(
                parts ->> '$.memories[0].content', parts ->> '$.turns[0].summary',
                parts ->> '$.short_term_memories[0].text', parts ->> '$.long_term_memories[0].prompt', ''
            ) AS text,
            coalesce(
                parts ->> '$.memories[0].origin', parts ->> '$.turns[0].origin',
                parts ->> '$.short_term_memories[0].origin', parts ->> '$.long_term_memories[0].origin'
            ) AS said_by,
            coalesce(
                conversation, parts ->> '$.memories[0].project', parts ->> '$.turns[0].project'
            ) AS place,
            coalesce(
                parts -> '$.memories[0]', parts -> '$.turns[0]', parts -> '$.long_term_memories[0]'
            ) AS stored,
            parts -> '$.changes' AS changes
        FROM (
            SELECT id, kind, item_id, deleted_at, deleted_by, conversation, parts AS parts
            FROM trash
            ORDER BY deleted_at DESC, id DESC
            LIMIT 1000000000 -- else the JSON would be read anew for each of its fields
        ) AS read
    ) AS deleted
"""

_CHANGES_OF_DELETED: Final = f"""
    (
        SELECT kind, item_id, name, text, place, said_by, c.value AS change, c.value ->> '$.draft' AS draft
        FROM {_DELETED}
        CROSS JOIN json_each(changes) AS c
    ) AS changed
"""

_FACT_STEPS: Final = """
    (
        SELECT id, fact_id, scope, owner, key, action, value, changed_at, changed_by, origin, (
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
    ) AS steps
"""

_EVENTS: Final = f"""
    (
        SELECT
            id, happened_at, happened_by, CASE action WHEN 'imported' THEN 'import' ELSE 'forgetting' END AS kind,
            CASE source WHEN '{JOINED}' THEN 'joined' WHEN '{RENAMED}' THEN 'renamed' ELSE action END AS action,
            EXISTS (SELECT 1 FROM event_steps AS s WHERE s.event_id = e.id) AS undoable,
            source || CASE path WHEN '' THEN '' ELSE ' ' || path END
                || CASE counts WHEN '' THEN '' ELSE ': ' || counts END
                || CASE WHEN undone_at IS NULL THEN '' ELSE '{UNDONE}' END AS text
        FROM events AS e
    ) AS happened
"""

_IN_EVENT: Final = """
    EXISTS (
        SELECT 1
        FROM event_steps AS s
        WHERE s.kind = log.kind AND s.item_id = log.item AND {event}
            AND (s.did = 'added' AND log.action = 'stored' OR s.did = 'ended' AND log.action = 'deleted')
    )
"""
"""The condition of what was added or deleted as a part of an event."""

_CHANGED_IN_EVENT: Final = """
    (
        SELECT DISTINCT
            e.happened_at, e.happened_by, s.kind, s.item_id,
            coalesce(m.content, t.summary, l.prompt, f.value, '') AS text,
            CASE WHEN s.kind = 'fact' AND f.id IS NULL THEN 'deleted' ELSE 'edited' END AS action,
            coalesce(l.name, json_extract(s.before, '$.key')) AS name, json_extract(s.before, '$.scope') AS scope,
            coalesce(m.project, t.project, c.name, f.owner) AS place,
            coalesce(m.origin, t.origin, l.origin, f.origin) AS said_by
        FROM event_steps AS s
        JOIN events AS e ON e.id = s.event_id
        LEFT JOIN memories AS m
            ON s.kind = 'memory' AND m.id = s.item_id AND m.content <> json_extract(s.before, '$.content')
        LEFT JOIN turns AS t
            ON s.kind = 'turn' AND t.id = s.item_id AND t.message <> json_extract(s.before, '$.message')
        LEFT JOIN long_term_memories AS l ON s.kind = 'long_term' AND l.id = s.item_id
        LEFT JOIN conversations AS c ON c.id = l.conversation_id
        LEFT JOIN facts AS f ON s.kind = 'fact' AND f.id = s.item_id
        WHERE s.event_id = :event AND s.did = 'changed'
            AND (s.kind = 'fact' OR coalesce(m.id, t.id, l.id) IS NOT NULL)
    ) AS changed
"""

_EDGES_OF_EVENT: Final = """
    (
        SELECT
            e.happened_at, e.happened_by, source.id, source.project,
            CASE s.did WHEN 'added' THEN 'connected' ELSE 'disconnected' END AS action,
            coalesce(n.relation, json_extract(s.before, '$.relation'), 'related_to')
                || ' m' || target.id || ': ' || target.content AS text,
            target.origin AS said_by
        FROM event_steps AS s
        JOIN events AS e ON e.id = s.event_id
        LEFT JOIN edges AS n ON s.did = 'added' AND n.id = s.item_id
        JOIN memories AS source
            ON source.id = coalesce(n.source_id, CAST(json_extract(s.before, '$.source') AS bigint))
        JOIN memories AS target
            ON target.id = coalesce(n.target_id, CAST(json_extract(s.before, '$.target') AS bigint))
        WHERE s.event_id = :event AND s.kind = 'edge' AND s.did IN ('added', 'ended')
    ) AS connected
"""

_EDGES: Final = """
    (
        SELECT
            e.id, {at} AS at, {by} AS by, source.id AS source, source.project,
            e.relation || ' m' || target.id || ': ' || target.content AS text, target.origin AS said_by
        FROM (SELECT * FROM edges ORDER BY id DESC LIMIT 100) AS e
        JOIN memories AS source ON source.id = e.source_id
        JOIN memories AS target ON target.id = e.target_id
        WHERE {condition}
            AND NOT EXISTS (SELECT 1 FROM event_steps AS s WHERE s.kind = 'edge' AND s.item_id = e.id)
    ) AS connected
"""
"""The latest edges, but for those of an event. One that was stored with its memory is no change of its own. There is no
index by moment: more would read all edges."""

_CONNECTED: Final = _EDGES.format(
    at="e.valid_from",
    by="e.created_by",
    condition="e.valid_from NOT IN (source.created_at, target.created_at)",
)
_DISCONNECTED: Final = _EDGES.format(at="e.valid_to", by="''", condition="e.valid_to IS NOT NULL")

_BRANCHES: Final = (
    # What is there: a row each.
    _branch(
        0, "memories", at="created_at", by="created_by", action="'stored'", kind="'memory'", item="id",
        text="content", place="project", said_by="origin",
    ),
    _branch(
        1, f"turns WHERE {STORED}", at="created_at", by="created_by", action="'stored'", kind="'turn'", item="id",
        text="summary", place="project", said_by="origin",
    ),
    _branch(
        2, "long_term_memories AS l JOIN conversations AS c ON c.id = l.conversation_id", at="l.created_at",
        by="l.created_by", action="'stored'", kind="'long_term'", item="l.id", text="l.prompt", name="l.name",
        place="c.name", said_by="l.origin",
    ),
    # What was changed.
    _branch(
        3, "changes AS c JOIN memories AS m ON m.id = c.memory_id", at="c.changed_at", by="c.changed_by",
        action="c.action", kind="'memory'", item="m.id", text="ifnull(json_extract(c.draft, '$.content'), m.content)",
        origin="'c'", row="c.id", place="m.project", said_by="m.origin",
    ),
    _branch(
        4,
        "changes AS c JOIN long_term_memories AS l ON l.id = c.long_term_id "
        "JOIN conversations AS v ON v.id = l.conversation_id",
        at="c.changed_at", by="c.changed_by", action="c.action", kind="'long_term'", item="l.id", text="l.prompt",
        origin="'c'", row="c.id", name="l.name", place="v.name", said_by="l.origin",
    ),
    # What was deleted: that it was, that it was stored before, and its changes, which come back with it.
    _branch(
        5, _DELETED, at="deleted_at", by="deleted_by", action="'deleted'", kind="kind", item="item_id", text="text",
        origin="'d'", row="id", name="name", place="place", said_by="said_by",
    ),
    _branch(
        0, f"{_DELETED} WHERE stored ->> '$.created_at' IS NOT NULL", at="stored ->> '$.created_at'",
        by="stored ->> '$.created_by'", action="'stored'", kind="kind", item="item_id", text="text", name="name",
        place="place", said_by="said_by",
    ),
    _branch(
        4, _CHANGES_OF_DELETED, at="change ->> '$.changed_at'", by="change ->> '$.changed_by'",
        action="change ->> '$.action'", kind="kind", item="item_id",
        text="ifnull(json_extract(draft, '$.content'), text)", origin="'c'",
        row="CAST(change ->> '$.id' AS bigint)", name="name", place="place", said_by="said_by",
    ),
    # What happened to facts. An expiry blanks the values before it, so nothing brings them back.
    _branch(
        6, _FACT_STEPS, at="changed_at", by="changed_by",
        action="CASE WHEN action <> 'written' THEN action WHEN before = 'written' THEN 'edited' ELSE 'stored' END",
        kind="'fact'", item="fact_id", text="value",
        origin="CASE WHEN (action = 'deleted' OR before = 'written') AND NOT blanked THEN 'h' END", row="id",
        name="key", place="owner", scope="scope", said_by="origin",
    ),
    # What was done to many things at once.
    _branch(
        7, _EVENTS, at="happened_at", by="happened_by", action="action",
        kind="kind", item="id", text="text",
        origin="CASE WHEN NOT undoable THEN NULL WHEN action = 'imported' THEN 'i' ELSE 'g' END", row="id",
    ),
    # What was connected and ended by itself.
    _branch(
        10, _DISCONNECTED, at="at", by="by", action="'disconnected'", kind="'memory'", item="source", text="text",
        origin="'x'", row="id", place="project", said_by="said_by",
    ),
    _branch(
        11, _CONNECTED, at="at", by="by", action="'connected'", kind="'memory'", item="source", text="text",
        origin="'e'", row="id", place="project", said_by="said_by",
    ),
)  # fmt: skip

_BRANCHES_OF_EVENT: Final = (
    _branch(
        8, _CHANGED_IN_EVENT, at="happened_at", by="happened_by", action="action", kind="kind", item="item_id",
        text="text", name="name", place="place", scope="scope", said_by="said_by",
    ),
    _branch(
        9, _EDGES_OF_EVENT, at="happened_at", by="happened_by", action="action", kind="'memory'", item="id",
        text="text", place="project", said_by="said_by",
    ),
)  # fmt: skip
"""What an event has changed and connected: told only with its other parts."""


def _latest(clauses: list[str], of_event: bool = False) -> str:
    """Return a statement for the latest changes that meet the clauses.

    An index gives the rows of most branches in this order, so that no more are read than the limit. Of the trash, which
    is JSON, all may be read.
    """
    where = " AND ".join(["true", *clauses])
    branches = [
        f"SELECT * FROM (SELECT * FROM ({branch}) AS log WHERE {where} ORDER BY {_ORDER} LIMIT :limit) AS log"
        for branch in (*_BRANCHES, *(_BRANCHES_OF_EVENT if of_event else ()))
    ]
    return f"SELECT {', '.join(_TOLD)} FROM ({' UNION ALL '.join(branches)}) AS log ORDER BY {_ORDER} LIMIT :limit"


def _conditions(filter: ChangeFilter) -> tuple[list[str], dict[str, Any]]:
    project, conversation = filter.project, "default"
    if project:
        conversation = f"project:{project}"[:200]
    clauses = {
        "ifnull(place, '') IN (:project, :conversation) AND (scope IS NULL OR scope = 'project')": project,
        "lower(ifnull(by, 'hand') COLLATE BINARY) = lower(:by COLLATE BINARY)": filter.by,
        "kind = :kind": filter.kind,
        "item = :item": filter.item,
        "julianday(at) >= julianday(:since)": filter.since,
        "julianday(at) < julianday(:until)": filter.until,
    }
    values = {
        "project": project,
        "conversation": conversation,
        "by": filter.by,
        "kind": filter.kind and filter.kind.value,
        "item": filter.item,
        "since": filter.since,
        "until": filter.until,
        "event": filter.event,
    }
    part = _IN_EVENT.format(event="true" if filter.event is None else "s.event_id = :event")
    is_whole = filter.item is None and not filter.parts
    parts = (
        [f"(number IN (8, 9) OR {part})"] if filter.event is not None else [f"NOT {part}"] if is_whole else []
    )
    undone = ["origin IS NOT NULL AND action <> 'expired'"] if filter.undone else []
    standing = (
        ["action <> 'expired' AND NOT (number = 7 AND text LIKE '%(undone)')"] if filter.standing else []
    )
    return [
        *parts,
        *undone,
        *standing,
        *(clause for clause, value in clauses.items() if value is not None),
    ], values


@dataclass(frozen=True, slots=True)
class Log:
    tx: Statements

    def select(self, filter: ChangeFilter, limit: int) -> list[Change]:
        """Return the changes, the latest first. Of one moment, what was stored first comes last."""
        clauses, values = _conditions(filter)
        statement = _latest(clauses, of_event=filter.event is not None)
        return [change_of(row) for row in self.tx.rows(statement, {**values, "limit": limit})]

    def find(self, id: ChangeId) -> Change | None:
        """Return one change that can be undone."""
        values = {"origin": id.origin.value, "row": id.row, "limit": 1}
        row = self.tx.row(_latest(["origin = :origin", "row = :row"]), values)
        return None if row is None else change_of(row)
