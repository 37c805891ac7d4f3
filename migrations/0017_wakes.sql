-- What woke when: the latest wakes of long-term memories. And memories that rest after they were woken.

CREATE TABLE wakes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES long_term_memories (id) ON DELETE CASCADE,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    client TEXT,
    session TEXT,
    -- Which keys were found in whose message, or which date it was; nothing of what was said.
    why TEXT NOT NULL
) STRICT;

CREATE INDEX wakes_by_memory ON wakes (memory_id, at);

-- Minutes for which it is not woken again in the same session; 0: it is woken each time.
ALTER TABLE long_term_memories ADD COLUMN cooldown INTEGER NOT NULL DEFAULT 0 CHECK (cooldown BETWEEN 0 AND 525600);

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER long_term_memories_deleted_wakes AFTER DELETE ON long_term_memories BEGIN
    DELETE FROM wakes WHERE memory_id = OLD.id;
END;

-- An INSERT OR REPLACE removes the old row without waking the delete trigger.
CREATE TRIGGER long_term_memories_inserted_wakes AFTER INSERT ON long_term_memories BEGIN
    DELETE FROM wakes WHERE memory_id NOT IN (SELECT id FROM long_term_memories);
END;

CREATE TRIGGER wakes_placed BEFORE INSERT ON wakes
WHEN NOT EXISTS (SELECT 1 FROM long_term_memories WHERE id = NEW.memory_id)
BEGIN
    SELECT RAISE (ABORT, 'memory_id must be the id of a long-term memory: insert that first');
END;

CREATE VIEW readable_wakes AS
SELECT
    replace(substr(w.at, 1, 16), 'T', ' ') AS woken,
    c.name AS conversation,
    m.name AS memory,
    w.why,
    ifnull(w.client, '-') AS client,
    ifnull(w.session, '-') AS session
FROM wakes AS w
JOIN long_term_memories AS m ON m.id = w.memory_id
JOIN conversations AS c ON c.id = m.conversation_id;
