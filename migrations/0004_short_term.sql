-- What conversations were about lately: their short-term memories and the words that find them.

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- The last cleanup of its short-term memories, and how many all cleanups have removed.
    cleaned_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    removed INTEGER NOT NULL DEFAULT 0 CHECK (removed >= 0)
) STRICT;

CREATE INDEX conversations_by_cleanup ON conversations (cleaned_at);

CREATE TABLE short_term_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The messages, each as "role: content".
    text TEXT NOT NULL CHECK (length(text) >= 1),
    score REAL NOT NULL DEFAULT 0 CHECK (score BETWEEN 0 AND 100),
    -- The moment of the last message. Compared as text, so only one way of writing it is right; without the
    -- '+0 days' below, February 30 would be one.
    said_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    created_by TEXT,
    session TEXT,
    -- 0: its keywords are missing or older than its text; the server takes them from the text.
    keyed INTEGER NOT NULL DEFAULT 0 CHECK (keyed IN (0, 1)),
    CONSTRAINT "said_at must look like 2026-12-31T23:59:00.000Z"
        CHECK (said_at IS strftime('%Y-%m-%dT%H:%M:%fZ', said_at, '+0 days') AND said_at >= '0001')
) STRICT;

CREATE INDEX short_term_memories_by_moment ON short_term_memories (conversation_id, said_at, score);
CREATE INDEX short_term_memories_unkeyed ON short_term_memories (id) WHERE keyed = 0;

-- Its primary key is the index on the word: a search reads the rows of its words in its conversation, no others.
CREATE TABLE short_term_keywords (
    conversation_id INTEGER NOT NULL,
    word TEXT NOT NULL,
    memory_id INTEGER NOT NULL REFERENCES short_term_memories (id) ON DELETE CASCADE,
    weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1e9),
    PRIMARY KEY (conversation_id, word, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX short_term_keywords_by_memory ON short_term_keywords (memory_id);

-- Every way to insert a memory asks for its keywords, also a copy of all columns of another file.
CREATE TRIGGER short_term_memories_inserted AFTER INSERT ON short_term_memories WHEN NEW.keyed = 1 BEGIN
    UPDATE short_term_memories SET keyed = 0 WHERE id = NEW.id;
END;

CREATE TRIGGER short_term_memories_rewritten AFTER UPDATE OF text ON short_term_memories
WHEN NEW.text <> OLD.text
BEGIN
    DELETE FROM short_term_keywords WHERE memory_id = NEW.id;
    UPDATE short_term_memories SET keyed = 0 WHERE id = NEW.id;
END;

CREATE TRIGGER short_term_memories_moved AFTER UPDATE OF conversation_id ON short_term_memories
WHEN NEW.conversation_id <> OLD.conversation_id
BEGIN
    UPDATE short_term_keywords SET conversation_id = NEW.conversation_id WHERE memory_id = NEW.id;
END;

CREATE TRIGGER short_term_memories_keep_id BEFORE UPDATE OF id ON short_term_memories WHEN NEW.id <> OLD.id BEGIN
    SELECT RAISE (ABORT, 'a short-term memory never changes its id: insert a new one and delete the old one');
END;

CREATE TRIGGER short_term_memories_deleted AFTER DELETE ON short_term_memories BEGIN
    DELETE FROM short_term_keywords WHERE memory_id = OLD.id;
END;

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER short_term_memories_placed BEFORE INSERT ON short_term_memories
WHEN NOT EXISTS (SELECT 1 FROM conversations WHERE id = NEW.conversation_id)
BEGIN
    SELECT RAISE (ABORT, 'conversation_id must be the id of a conversation: insert that first');
END;

CREATE TRIGGER short_term_memories_replaced BEFORE UPDATE OF conversation_id ON short_term_memories
WHEN NOT EXISTS (SELECT 1 FROM conversations WHERE id = NEW.conversation_id)
BEGIN
    SELECT RAISE (ABORT, 'conversation_id must be the id of a conversation: insert that first');
END;

CREATE TRIGGER conversations_keep_id BEFORE UPDATE OF id ON conversations WHEN NEW.id <> OLD.id BEGIN
    SELECT RAISE (ABORT, 'a conversation never changes its id: insert a new one and move its memories there');
END;

-- An INSERT OR REPLACE removes the old row without waking the delete trigger: its memories are the new one's.
CREATE TRIGGER conversations_inserted AFTER INSERT ON conversations BEGIN
    UPDATE short_term_memories SET conversation_id = NEW.id
    WHERE conversation_id NOT IN (SELECT id FROM conversations);
END;

CREATE TRIGGER conversations_renamed AFTER UPDATE OF name ON conversations BEGIN
    UPDATE short_term_memories SET conversation_id = NEW.id
    WHERE conversation_id NOT IN (SELECT id FROM conversations);
END;

CREATE TRIGGER conversations_deleted AFTER DELETE ON conversations BEGIN
    DELETE FROM short_term_memories WHERE conversation_id = OLD.id;
END;

CREATE VIEW readable_short_term_memories AS
SELECT
    m.id,
    c.name AS conversation,
    replace(substr(m.said_at, 1, 16), 'T', ' ') AS said,
    m.score,
    m.text,
    (
        SELECT group_concat(word, ' ')
        FROM (SELECT word FROM short_term_keywords WHERE memory_id = m.id ORDER BY weight DESC)
    ) AS keywords
FROM short_term_memories AS m
JOIN conversations AS c ON c.id = m.conversation_id;
