-- A memory and a fact, a turn or another memory of which the newer one probably replaces the older one, until a client has
-- said so. It holds no words: what is erased is gone from here too. A row outlives both, which may come back out of the
-- trash.
CREATE TABLE likely_updates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'fact', 'turn')),
    item_id INTEGER NOT NULL,
    -- 1: the memory is the newer one.
    newer INTEGER NOT NULL CHECK (newer IN (0, 1)),
    found_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (memory_id, kind, item_id)
) STRICT;

CREATE INDEX likely_updates_by_moment ON likely_updates (found_at);

CREATE TRIGGER likely_updates_capped AFTER INSERT ON likely_updates BEGIN
    DELETE FROM likely_updates WHERE id <= NEW.id - 1000;
END;

CREATE VIEW readable_likely_updates AS
SELECT
    u.id,
    replace(substr(u.found_at, 1, 16), 'T', ' ') AS found,
    m.content AS memory,
    CASE WHEN u.newer THEN 'may replace' ELSE 'may be replaced by' END AS relation,
    u.kind,
    CASE u.kind
        WHEN 'memory' THEN (SELECT content FROM memories WHERE id = u.item_id)
        WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts WHERE id = u.item_id)
        WHEN 'turn' THEN (SELECT summary FROM turns WHERE id = u.item_id)
    END AS text
FROM likely_updates AS u
JOIN memories AS m ON m.id = u.memory_id;
