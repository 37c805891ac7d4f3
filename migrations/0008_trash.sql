-- What was deleted, for 30 days: it can be brought back, and then it is erased. The rows lie here as JSON, so that
-- no search, no list and no view can meet them. (Facts that were deleted lie in fact_history.)

CREATE TABLE trash (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'turn', 'short_term', 'long_term')),
    item_id INTEGER NOT NULL,
    -- Of short-term and long-term memories: their conversation, which may be gone itself.
    conversation TEXT,
    -- Of each table that held a part of it: the rows.
    parts TEXT NOT NULL CHECK (json_valid(parts) AND json_type(parts) = 'object'),
    deleted_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    deleted_by TEXT
) STRICT;

CREATE INDEX trash_by_item ON trash (kind, item_id);
CREATE INDEX trash_by_moment ON trash (deleted_at);

CREATE VIEW readable_trash AS
SELECT
    id,
    replace(kind, '_', '-') AS kind,
    item_id,
    ifnull(conversation, '-') AS conversation,
    replace(substr(deleted_at, 1, 16), 'T', ' ') AS deleted,
    ifnull(deleted_by, '-') AS deleted_by,
    parts
FROM trash;
