-- What was deleted or overwritten and is still to be erased from the bytes of the file. `asked` counts how often that
-- was asked for, `done` how often of that it is done: a server that runs sees the difference, also after a hand edit,
-- and a kill loses nothing. 'file' is the free bytes of the file; the others are word indexes, which keep deleted words.

CREATE TABLE erasures (
    what TEXT PRIMARY KEY CHECK (what IN ('file', 'memory_words', 'fact_words', 'turn_words')),
    asked INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- A file that has held anything may hold traces of it.
INSERT INTO erasures (what, asked)
SELECT value, (SELECT count(*) FROM (SELECT 1 FROM sqlite_sequence LIMIT 1))
FROM json_each('["file", "memory_words", "fact_words", "turn_words"]');

CREATE TRIGGER memories_erased AFTER DELETE ON memories BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'memory_words');
END;

CREATE TRIGGER memories_erased_in_part AFTER UPDATE OF tags, project, metadata ON memories
WHEN NEW.tags <> OLD.tags OR NEW.project IS NOT OLD.project OR NEW.metadata <> OLD.metadata
BEGIN
    UPDATE erasures SET asked = asked + 1
    WHERE what = 'file' OR what = 'memory_words' AND EXISTS (
        SELECT value FROM json_each(OLD.tags) EXCEPT SELECT value FROM json_each(NEW.tags)
    );
END;

CREATE TRIGGER memory_history_erased AFTER DELETE ON memory_history BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'memory_words');
END;

CREATE TRIGGER facts_erased AFTER DELETE ON facts BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'fact_words');
END;

CREATE TRIGGER fact_history_erased AFTER DELETE ON fact_history BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'fact_words');
END;

CREATE TRIGGER fact_history_erased_in_part AFTER UPDATE OF value, tags ON fact_history
WHEN NEW.value <> OLD.value OR NEW.tags <> OLD.tags
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'fact_words');
END;

CREATE TRIGGER turns_erased AFTER DELETE ON turns BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'turn_words');
END;

CREATE TRIGGER turns_erased_in_part AFTER UPDATE OF message, summary ON turns
WHEN NEW.message <> OLD.message OR NEW.summary <> OLD.summary
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'turn_words');
END;

CREATE TRIGGER conversations_erased AFTER DELETE ON conversations BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE TRIGGER short_term_memories_erased AFTER DELETE ON short_term_memories BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE TRIGGER short_term_memories_erased_in_part AFTER UPDATE OF text ON short_term_memories
WHEN NEW.text <> OLD.text
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE TRIGGER long_term_memories_erased AFTER DELETE ON long_term_memories BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE TRIGGER long_term_memories_erased_in_part
AFTER UPDATE OF name, prompt, "trigger", created_context, updated_context ON long_term_memories
WHEN NEW.name <> OLD.name OR NEW.prompt <> OLD.prompt OR NEW."trigger" <> OLD."trigger"
    OR NEW.created_context IS NOT OLD.created_context OR NEW.updated_context IS NOT OLD.updated_context
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

-- What was deleted lies here as JSON, and goes when it is purged or brought back.
CREATE TRIGGER trash_erased AFTER DELETE ON trash BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;
