-- Hooks also say the prompts of long-term memories that wake: a new kind of what was said, `woken`.

DROP VIEW readable_hook_injections;
DROP TRIGGER hook_injections_capped;
DROP INDEX hook_injections_by_session;
ALTER TABLE hook_injections RENAME TO old_hook_injections;

CREATE TABLE hook_injections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL CHECK (length(session) <= 200),
    event TEXT NOT NULL CHECK (event IN ('SessionStart', 'UserPromptSubmit')),
    kind TEXT NOT NULL CHECK (kind IN ('briefing', 'memory', 'fact', 'turn', 'woken', 'suggestion')),
    -- 0 for a briefing as a whole: what it says has rows of its own, with 0 tokens. Of a suggestion, the short-term memory
    -- of the turn in which something was stated.
    item_id INTEGER NOT NULL,
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    injected_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- 0: the client has emptied or shortened the context since, so it may be said again.
    in_context INTEGER NOT NULL DEFAULT 1 CHECK (in_context IN (0, 1))
) STRICT;

INSERT INTO hook_injections (id, session, event, kind, item_id, tokens, injected_at, in_context)
SELECT id, session, event, kind, item_id, tokens, injected_at, in_context
FROM old_hook_injections;

DROP TABLE old_hook_injections;

CREATE INDEX hook_injections_by_session ON hook_injections (session, kind, item_id);

CREATE TRIGGER hook_injections_capped AFTER INSERT ON hook_injections BEGIN
    DELETE FROM hook_injections WHERE id <= NEW.id - 5000;
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
