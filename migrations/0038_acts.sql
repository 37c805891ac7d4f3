-- Hooks say and keep something around acts too: before a tool runs, after it, and after it has failed.

DROP VIEW readable_hook_injections;
DROP VIEW readable_hook_captures;
DROP TRIGGER memories_adopted;

CREATE TABLE new_hook_injections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL CHECK (length(session) <= 200),
    event TEXT NOT NULL CHECK (
        event IN ('SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure')
    ),
    kind TEXT NOT NULL CHECK (kind IN ('briefing', 'memory', 'fact', 'turn', 'woken', 'suggestion')),
    -- 0 for a briefing as a whole: what it says has rows of its own, with 0 tokens. Of a suggestion, the short-term memory
    -- of the turn in which something was stated.
    item_id INTEGER NOT NULL,
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    injected_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- 0: the client has emptied or shortened the context since, so it may be said again.
    in_context INTEGER NOT NULL DEFAULT 1 CHECK (in_context IN (0, 1))
) STRICT;

INSERT INTO new_hook_injections (id, session, event, kind, item_id, tokens, injected_at, in_context)
SELECT id, session, event, kind, item_id, tokens, injected_at, in_context
FROM hook_injections;

DROP TABLE hook_injections;
ALTER TABLE new_hook_injections RENAME TO hook_injections;

CREATE INDEX hook_injections_by_session ON hook_injections (session, kind, item_id);

CREATE TRIGGER hook_injections_capped AFTER INSERT ON hook_injections BEGIN
    DELETE FROM hook_injections WHERE id <= NEW.id - 5000;
END;

CREATE TABLE new_hook_captures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('short_term', 'fact', 'memory')),
    item_id INTEGER NOT NULL,
    session TEXT NOT NULL CHECK (length(session) <= 200),
    event TEXT NOT NULL CHECK (event IN ('Stop', 'PreCompact', 'SessionEnd', 'PostToolUse')),
    captured_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (kind, item_id)
) STRICT;

INSERT INTO new_hook_captures (id, kind, item_id, session, event, captured_at)
SELECT id, kind, item_id, session, event, captured_at
FROM hook_captures;

DROP TABLE hook_captures;
ALTER TABLE new_hook_captures RENAME TO hook_captures;

CREATE INDEX hook_captures_by_session ON hook_captures (session);

CREATE TRIGGER hook_captures_capped AFTER INSERT ON hook_captures BEGIN
    DELETE FROM hook_captures WHERE id <= NEW.id - 50000;
END;

CREATE TRIGGER memories_adopted AFTER UPDATE OF content, importance ON memories
WHEN EXISTS (SELECT 1 FROM hook_captures WHERE kind = 'memory' AND item_id = NEW.id)
BEGIN
    DELETE FROM hook_captures WHERE kind = 'memory' AND item_id = NEW.id;
END;

CREATE VIEW readable_hook_injections AS
SELECT
    i.id,
    replace(substr(i.injected_at, 1, 16), 'T', ' ') AS injected,
    i.session,
    i.event,
    i.kind,
    i.tokens,
    CASE i.kind
        WHEN 'memory' THEN (SELECT content FROM memories WHERE id = i.item_id)
        WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts WHERE id = i.item_id)
        WHEN 'turn' THEN (SELECT summary FROM turns WHERE id = i.item_id)
        WHEN 'woken' THEN (SELECT name || ': ' || prompt FROM long_term_memories WHERE id = i.item_id)
        WHEN 'suggestion' THEN (SELECT text FROM short_term_memories WHERE id = i.item_id)
    END AS text
FROM hook_injections AS i;

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
