-- Edits and merges, with how it was before: for 30 days they can be undone, as deletions can (see `trash`). A fact needs
-- no row here: its history has every value.

CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER REFERENCES memories (id) ON DELETE CASCADE,
    long_term_id INTEGER REFERENCES long_term_memories (id) ON DELETE CASCADE,
    action TEXT NOT NULL CHECK (action IN ('edited', 'merged')),
    -- The columns that an edit can change, as they were.
    before TEXT NOT NULL CHECK (json_valid(before) AND json_type(before) = 'object'),
    -- Of a merge: what was merged into the memory.
    draft TEXT CHECK (draft IS NULL OR (json_valid(draft) AND json_type(draft) = 'object')),
    changed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(changed_at) IS NOT NULL),
    changed_by TEXT,
    session TEXT,
    CHECK ((memory_id IS NULL) <> (long_term_id IS NULL)),
    CHECK ((draft IS NULL) = (action = 'edited'))
) STRICT;

CREATE INDEX changes_by_memory ON changes (memory_id);
CREATE INDEX changes_by_long_term ON changes (long_term_id);
CREATE INDEX changes_by_moment ON changes (changed_at);

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER changes_placed BEFORE INSERT ON changes
WHEN NOT EXISTS (SELECT 1 FROM memories WHERE id = NEW.memory_id)
    AND NOT EXISTS (SELECT 1 FROM long_term_memories WHERE id = NEW.long_term_id)
BEGIN
    SELECT RAISE (ABORT, 'memory_id or long_term_id must be the id of what was changed: insert that first');
END;

CREATE TRIGGER memories_deleted_changes AFTER DELETE ON memories BEGIN
    DELETE FROM changes WHERE memory_id = OLD.id;
END;

CREATE TRIGGER long_term_memories_deleted_changes AFTER DELETE ON long_term_memories BEGIN
    DELETE FROM changes WHERE long_term_id = OLD.id;
END;

-- An INSERT OR REPLACE removes the old row without waking the delete trigger.
CREATE TRIGGER long_term_memories_inserted_changes AFTER INSERT ON long_term_memories BEGIN
    DELETE FROM changes
    WHERE long_term_id IS NOT NULL AND long_term_id NOT IN (SELECT id FROM long_term_memories);
END;

CREATE TRIGGER changes_erased AFTER DELETE ON changes BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE VIEW readable_changes AS
SELECT
    c.id,
    CASE WHEN c.memory_id IS NULL THEN 'long-term' ELSE 'memory' END AS kind,
    ifnull(c.memory_id, c.long_term_id) AS item_id,
    c.action,
    ifnull(json_extract(c.before, '$.content'), json_extract(c.before, '$.prompt')) AS before,
    ifnull(json_extract(c.draft, '$.content'), '-') AS merged,
    replace(substr(c.changed_at, 1, 16), 'T', ' ') AS changed,
    ifnull(c.changed_by, '-') AS changed_by
FROM changes AS c;
