-- Where an imported item comes from: the program or the file, and the id that it has there. What is imported once is known again.

CREATE TABLE origins (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'turn', 'short_term', 'long_term', 'fact')),
    item_id INTEGER NOT NULL,
    -- 'memory-server': another file of ours, where the item has this id and this moment.
    source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 100),
    source_id TEXT NOT NULL CHECK (length(source_id) BETWEEN 1 AND 500),
    -- Of the text as it was imported: it tells whether it has changed there, or here, since.
    digest TEXT NOT NULL DEFAULT '',
    imported_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (kind, source, source_id)
) STRICT;

CREATE INDEX origins_by_item ON origins (kind, item_id, source);

-- What lies in the trash keeps its origin: it may come back, and no import brings it back by itself. What is erased has none.
CREATE TRIGGER memories_deleted_origins AFTER DELETE ON memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'memory' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'memory' AND item_id = OLD.id;
END;

CREATE TRIGGER turns_deleted_origins AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'turn' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'turn' AND item_id = OLD.id;
END;

CREATE TRIGGER short_term_memories_deleted_origins AFTER DELETE ON short_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'short_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'short_term' AND item_id = OLD.id;
END;

CREATE TRIGGER long_term_memories_deleted_origins AFTER DELETE ON long_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'long_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'long_term' AND item_id = OLD.id;
END;

CREATE TRIGGER facts_deleted_origins AFTER DELETE ON facts BEGIN
    DELETE FROM origins WHERE kind = 'fact' AND item_id = OLD.id;
END;

CREATE TRIGGER trash_deleted_origins AFTER DELETE ON trash BEGIN
    DELETE FROM origins
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

CREATE TRIGGER origins_erased AFTER DELETE ON origins BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE VIEW readable_origins AS
SELECT
    replace(o.kind, '_', '-') AS kind,
    o.item_id,
    o.source AS imported_from,
    o.source_id,
    replace(substr(o.imported_at, 1, 16), 'T', ' ') AS imported,
    CASE o.kind
        WHEN 'memory' THEN (SELECT content FROM memories WHERE id = o.item_id)
        WHEN 'turn' THEN (SELECT summary FROM turns WHERE id = o.item_id)
        WHEN 'short_term' THEN (SELECT text FROM short_term_memories WHERE id = o.item_id)
        WHEN 'long_term' THEN (SELECT name FROM long_term_memories WHERE id = o.item_id)
        WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts WHERE id = o.item_id)
    END AS text
FROM origins AS o;
