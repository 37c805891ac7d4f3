-- Long-term memories: prompts that wake when the condition in their trigger holds.

CREATE TABLE long_term_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    prompt TEXT NOT NULL CHECK (length(prompt) BETWEEN 1 AND 5000),
    "trigger" TEXT NOT NULL CHECK (length("trigger") BETWEEN 1 AND 16384),
    created_context TEXT,
    updated_context TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    updated_at TEXT,
    created_by TEXT,
    session TEXT,
    fired_at TEXT,
    fired_count INTEGER NOT NULL DEFAULT 0 CHECK (fired_count >= 0),
    -- Why the trigger gave no value when it was judged last.
    error TEXT,
    -- Timeouts and memory errors in a row; after three it is not judged until a moment that each further one moves on.
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    quarantined_until TEXT,
    -- 1: there was no time for it in the last search; it goes first in the next.
    skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped IN (0, 1)),
    UNIQUE (conversation_id, name)
) STRICT;

-- Another trigger has not failed yet.
CREATE TRIGGER long_term_memories_retriggered AFTER UPDATE OF "trigger" ON long_term_memories
WHEN NEW."trigger" <> OLD."trigger"
BEGIN
    UPDATE long_term_memories
    SET error = NULL, failures = 0, quarantined_until = NULL, skipped = 0
    WHERE id = NEW.id;
END;

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER long_term_memories_placed BEFORE INSERT ON long_term_memories
WHEN NOT EXISTS (SELECT 1 FROM conversations WHERE id = NEW.conversation_id)
BEGIN
    SELECT RAISE (ABORT, 'conversation_id must be the id of a conversation: insert that first');
END;

CREATE TRIGGER long_term_memories_moved BEFORE UPDATE OF conversation_id ON long_term_memories
WHEN NOT EXISTS (SELECT 1 FROM conversations WHERE id = NEW.conversation_id)
BEGIN
    SELECT RAISE (ABORT, 'conversation_id must be the id of a conversation: insert that first');
END;

-- As for short-term memories: what an INSERT OR REPLACE leaves behind is the new row's.
CREATE TRIGGER conversations_inserted_long_term AFTER INSERT ON conversations BEGIN
    UPDATE OR IGNORE long_term_memories SET conversation_id = NEW.id
    WHERE conversation_id NOT IN (SELECT id FROM conversations);
END;

CREATE TRIGGER conversations_renamed_long_term AFTER UPDATE OF name ON conversations BEGIN
    UPDATE OR IGNORE long_term_memories SET conversation_id = NEW.id
    WHERE conversation_id NOT IN (SELECT id FROM conversations);
END;

CREATE TRIGGER conversations_deleted_long_term AFTER DELETE ON conversations BEGIN
    DELETE FROM long_term_memories WHERE conversation_id = OLD.id;
END;

CREATE VIEW readable_long_term_memories AS
SELECT
    c.name AS conversation,
    m.name,
    m.prompt,
    m."trigger",
    CASE
        WHEN m.quarantined_until > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
            THEN 'quarantined until ' || replace(substr(m.quarantined_until, 1, 16), 'T', ' ')
        WHEN m.error IS NOT NULL THEN 'error: ' || m.error
        ELSE 'ready'
    END AS state,
    m.fired_count AS fired,
    ifnull(replace(substr(m.fired_at, 1, 16), 'T', ' '), 'never') AS last_fired
FROM long_term_memories AS m
JOIN conversations AS c ON c.id = m.conversation_id;
