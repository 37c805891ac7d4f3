-- What was done to many things at once, and is undone as one: an import, a merge, and what was forgotten together. `changes`,
-- `trash` and `fact_history` hold one thing a row, and none of them says that a thing was added, and with which others.

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    action TEXT NOT NULL CHECK (action IN ('imported', 'forgot')),
    -- The format of an import, or what chose the things that were forgotten.
    source TEXT NOT NULL,
    path TEXT NOT NULL DEFAULT '',
    -- How many of which kind: 'memories added 12, updated 1'.
    counts TEXT NOT NULL DEFAULT '',
    happened_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(happened_at) IS NOT NULL),
    happened_by TEXT,
    session TEXT,
    undone_at TEXT
) STRICT;

CREATE INDEX events_by_moment ON events (happened_at);

-- What an event did to each thing. They are there for as long as it can be undone.
CREATE TABLE event_steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    did TEXT NOT NULL CHECK (did IN ('added', 'changed', 'ended', 'returned')),
    kind TEXT NOT NULL,
    item_id INTEGER NOT NULL,
    -- The record as it was, where it was changed; where from it came, if it ended.
    before TEXT CHECK (before IS NULL OR json_valid(before)),
    -- A digest of what the thing says since: it tells whether somebody has changed it.
    after TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX event_steps_by_event ON event_steps (event_id);
CREATE INDEX event_steps_by_item ON event_steps (kind, item_id);

-- What is erased leaves no text here. What lies in the trash may come back.
CREATE TRIGGER memories_deleted_steps AFTER DELETE ON memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'memory' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'memory' AND item_id = OLD.id;
END;

CREATE TRIGGER turns_deleted_steps AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'turn' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'turn' AND item_id = OLD.id;
END;

CREATE TRIGGER short_term_memories_deleted_steps AFTER DELETE ON short_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'short_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'short_term' AND item_id = OLD.id;
END;

CREATE TRIGGER long_term_memories_deleted_steps AFTER DELETE ON long_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'long_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'long_term' AND item_id = OLD.id;
END;

CREATE TRIGGER fact_history_deleted_steps AFTER DELETE ON fact_history BEGIN
    DELETE FROM event_steps WHERE kind = 'fact' AND item_id = OLD.fact_id;
END;

-- The value of an expired fact is taken out of its history.
CREATE TRIGGER fact_history_blanked_steps AFTER UPDATE OF value ON fact_history WHEN NEW.value <> OLD.value BEGIN
    DELETE FROM event_steps WHERE kind = 'fact' AND item_id = OLD.fact_id;
END;

CREATE TRIGGER trash_deleted_steps AFTER DELETE ON trash BEGIN
    DELETE FROM event_steps
    WHERE kind = OLD.kind AND item_id = OLD.item_id AND NOT EXISTS (
        SELECT 1 FROM memories WHERE OLD.kind = 'memory' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM turns WHERE OLD.kind = 'turn' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM short_term_memories WHERE OLD.kind = 'short_term' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM long_term_memories WHERE OLD.kind = 'long_term' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM trash WHERE kind = OLD.kind AND item_id = OLD.item_id
    );
END;

CREATE TRIGGER event_steps_erased AFTER DELETE ON event_steps WHEN OLD.before IS NOT NULL BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

-- The file that has the item, and the heading or the entity under which it stands there: `~/CLAUDE.md#Style`.
-- An item that stands there no longer has ended.
ALTER TABLE origins ADD COLUMN place TEXT NOT NULL DEFAULT '';

CREATE INDEX origins_by_place ON origins (source, place);

CREATE VIEW readable_events AS
SELECT
    CASE action WHEN 'imported' THEN 'i' ELSE 'g' END || id AS event,
    replace(substr(happened_at, 1, 16), 'T', ' ') AS happened,
    ifnull(happened_by, '-') AS happened_by,
    action,
    source,
    path,
    counts,
    CASE WHEN undone_at IS NULL THEN '-' ELSE replace(substr(undone_at, 1, 16), 'T', ' ') END AS undone
FROM events;
