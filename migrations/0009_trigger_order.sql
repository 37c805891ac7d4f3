-- In which order triggers are evaluated where there is not time for all: those that were evaluated longest ago come
-- first, and those that were slow or failed come last.

ALTER TABLE long_term_memories ADD COLUMN judged_at TEXT;

-- 1: it took longer than its first slice of time when it was evaluated last.
ALTER TABLE long_term_memories ADD COLUMN slow INTEGER NOT NULL DEFAULT 0 CHECK (slow IN (0, 1));

-- Another trigger has not failed yet, and has not been slow.
DROP TRIGGER long_term_memories_retriggered;
CREATE TRIGGER long_term_memories_retriggered AFTER UPDATE OF "trigger" ON long_term_memories
WHEN NEW."trigger" <> OLD."trigger"
BEGIN
    UPDATE long_term_memories
    SET error = NULL, failures = 0, quarantined_until = NULL, slow = 0, judged_at = NULL
    WHERE id = NEW.id;
END;

ALTER TABLE long_term_memories DROP COLUMN skipped;
