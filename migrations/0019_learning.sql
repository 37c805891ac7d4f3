-- What sessions show over time: which memories were shown and used, and which questions found nothing. And what hooks
-- keep unasked may be a memory too.

DROP VIEW readable_hook_captures;

CREATE TABLE new_hook_captures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('short_term', 'fact', 'memory')),
    item_id INTEGER NOT NULL,
    session TEXT NOT NULL CHECK (length(session) <= 200),
    event TEXT NOT NULL CHECK (event IN ('Stop', 'PreCompact', 'SessionEnd')),
    captured_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (kind, item_id)
) STRICT;

INSERT INTO new_hook_captures (id, kind, item_id, session, event, captured_at)
SELECT id, kind, item_id, session, event, captured_at FROM hook_captures;

DROP TABLE hook_captures;
ALTER TABLE new_hook_captures RENAME TO hook_captures;

CREATE INDEX hook_captures_by_session ON hook_captures (session);

CREATE TRIGGER hook_captures_capped AFTER INSERT ON hook_captures BEGIN
    DELETE FROM hook_captures WHERE id <= NEW.id - 50000;
END;

-- What somebody has stored again or rewritten since is theirs: to forget what was kept unasked must not take it.
CREATE TRIGGER memories_adopted AFTER UPDATE OF content, importance ON memories
WHEN EXISTS (SELECT 1 FROM hook_captures WHERE kind = 'memory' AND item_id = NEW.id)
BEGIN
    DELETE FROM hook_captures WHERE kind = 'memory' AND item_id = NEW.id;
END;

CREATE VIEW readable_hook_captures AS
SELECT
    c.id,
    replace(substr(c.captured_at, 1, 16), 'T', ' ') AS captured,
    c.session,
    c.event,
    c.kind,
    CASE c.kind
        WHEN 'short_term' THEN (SELECT text FROM short_term_memories WHERE id = c.item_id)
        WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts WHERE id = c.item_id)
        WHEN 'memory' THEN (SELECT content FROM memories WHERE id = c.item_id)
    END AS text
FROM hook_captures AS c;

-- A memory that a session was shown. It holds no words: what is erased is gone from here too. A row outlives its memory,
-- which may come back out of the trash.
CREATE TABLE memory_uses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    session TEXT NOT NULL,
    shown_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- When a hook looked at what was said after it was shown. Only then "not used" tells something.
    judged_at TEXT,
    used_at TEXT,
    -- repeated: what was said afterwards has its words. called: a call updated, connected or superseded it.
    how TEXT CHECK (how IN ('repeated', 'called')),
    CHECK ((used_at IS NULL) = (how IS NULL)),
    UNIQUE (memory_id, session)
) STRICT;

CREATE INDEX memory_uses_by_session ON memory_uses (session);

CREATE TRIGGER memory_uses_capped AFTER INSERT ON memory_uses BEGIN
    DELETE FROM memory_uses WHERE id <= NEW.id - 50000;
END;

CREATE VIEW readable_memory_uses AS
SELECT
    u.memory_id,
    m.content AS memory,
    sum(u.used_at IS NOT NULL) AS used_in,
    sum(u.used_at IS NULL AND u.judged_at IS NOT NULL) AS not_used_in,
    ifnull(replace(substr(max(u.used_at), 1, 16), 'T', ' '), '-') AS last_used,
    replace(substr(max(u.shown_at), 1, 16), 'T', ' ') AS last_shown
FROM memory_uses AS u
JOIN memories AS m ON m.id = u.memory_id
GROUP BY u.memory_id
ORDER BY used_in DESC, not_used_in DESC;

-- A question that found nothing. `sessions` counts the sessions that have asked it; from two on it is open.
CREATE TABLE open_questions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL DEFAULT '',
    question TEXT NOT NULL CHECK (length(question) BETWEEN 1 AND 500),
    sessions INTEGER NOT NULL DEFAULT 1 CHECK (sessions >= 1),
    -- The session that asked last.
    session TEXT NOT NULL,
    asked_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    asked_again_at TEXT
) STRICT;

CREATE INDEX open_questions_by_project ON open_questions (project);

CREATE TRIGGER open_questions_capped AFTER INSERT ON open_questions BEGIN
    DELETE FROM open_questions WHERE id <= NEW.id - 500;
END;

CREATE TRIGGER open_questions_erased AFTER DELETE ON open_questions BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE TRIGGER open_questions_erased_in_part AFTER UPDATE OF question ON open_questions
WHEN NEW.question <> OLD.question
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE TRIGGER projects_renamed_questions AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    UPDATE open_questions SET project = NEW.name WHERE project = OLD.name;
END;

CREATE TRIGGER projects_deleted_questions AFTER DELETE ON projects BEGIN
    DELETE FROM open_questions WHERE project = OLD.name;
END;

CREATE VIEW readable_open_questions AS
SELECT
    id,
    question,
    CASE WHEN project = '' THEN '-' ELSE project END AS project,
    sessions,
    sessions >= 2 AS is_open,
    replace(substr(asked_at, 1, 16), 'T', ' ') AS asked,
    ifnull(replace(substr(asked_again_at, 1, 16), 'T', ' '), '-') AS asked_again
FROM open_questions;
