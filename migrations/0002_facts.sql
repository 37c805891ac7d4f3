-- Facts with their history and word index, and the turns of conversations with their embeddings.

CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'project', 'session', 'shared')),
    -- The project's folder or name, or the session's id; '' where the scope belongs to nobody.
    owner TEXT NOT NULL DEFAULT '' CHECK (scope IN ('project', 'session') OR owner = ''),
    key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
    value TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
    version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
    access_count INTEGER NOT NULL DEFAULT 0 CHECK (access_count >= 0),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(created_at) IS NOT NULL),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(updated_at) IS NOT NULL),
    accessed_at TEXT CHECK (accessed_at IS NULL OR julianday(accessed_at) IS NOT NULL),
    expires_at TEXT,
    created_by TEXT,
    updated_by TEXT,
    session TEXT,
    UNIQUE (scope, owner, key),
    CONSTRAINT "value must be JSON: a text stands in double quotes" CHECK (json_valid(value)),
    -- Compared as text, so only one way of writing a moment is right.
    CONSTRAINT "expires_at must look like 2026-12-31T23:59:00.000Z"
        CHECK (expires_at IS NULL OR expires_at IS strftime('%Y-%m-%dT%H:%M:%fZ', expires_at))
) STRICT;

CREATE INDEX facts_by_expiry ON facts (expires_at) WHERE expires_at IS NOT NULL;

-- Every value that a key has had, and how it ended: kept for ever, also when the fact is deleted.
CREATE TABLE fact_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fact_id INTEGER NOT NULL,
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('written', 'deleted', 'expired')),
    value TEXT NOT NULL,
    tags TEXT NOT NULL,
    expires_at TEXT,
    changed_at TEXT NOT NULL,
    changed_by TEXT
) STRICT;

CREATE INDEX fact_history_by_key ON fact_history (scope, owner, key, id);

-- The word index: what is folded and set apart in `memory_words` is so here. The rowid is the fact's id.
CREATE VIRTUAL TABLE fact_words USING fts5 (
    key, value, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER facts_inserted AFTER INSERT ON facts BEGIN
    -- An INSERT OR REPLACE removes the old row, whose id was another one, without waking the delete trigger.
    DELETE FROM fact_words WHERE rowid IN (
        SELECT fact_id FROM fact_history WHERE scope = NEW.scope AND owner = NEW.owner AND key = NEW.key
    );
    -- A version is never used twice, also where a key is inserted by hand after it was deleted. The update
    -- wakes the trigger below, which writes the history.
    UPDATE facts
    SET version = 1 + (
        SELECT max(version) FROM fact_history WHERE scope = NEW.scope AND owner = NEW.owner AND key = NEW.key
    )
    WHERE id = NEW.id AND NEW.version <= (
        SELECT max(version) FROM fact_history WHERE scope = NEW.scope AND owner = NEW.owner AND key = NEW.key
    );
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by)
    SELECT id, scope, owner, key, version, 'written', value, tags, expires_at, updated_at, updated_by
    FROM facts
    WHERE id = NEW.id AND version = NEW.version;
END;

CREATE TRIGGER facts_rewritten AFTER UPDATE OF value, tags, expires_at, version ON facts
WHEN NEW.value IS NOT OLD.value OR NEW.tags IS NOT OLD.tags OR NEW.expires_at IS NOT OLD.expires_at
    OR NEW.version IS NOT OLD.version
BEGIN
    -- A change by hand, which leaves the version as it was, is a version too.
    UPDATE facts
    SET version = OLD.version + 1, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), updated_by = NULL
    WHERE id = NEW.id AND NEW.version = OLD.version;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by)
    SELECT id, scope, owner, key, version, 'written', value, tags, expires_at, updated_at, updated_by
    FROM facts
    WHERE id = NEW.id;
END;

-- Each value that is written is indexed: the key, and the texts, numbers and names in the value. Cut into
-- pieces of 500 characters before single ones: to cut one off a long text copies all of the rest.
CREATE TRIGGER facts_indexed AFTER INSERT ON fact_history WHEN NEW.action = 'written' BEGIN
    DELETE FROM fact_words WHERE rowid = NEW.fact_id;
    INSERT INTO fact_words (rowid, key, value)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'key', NEW.key
        UNION ALL
        SELECT 'value', group_concat(
            CASE WHEN typeof(key) = 'text' THEN key || ' ' ELSE '' END || ifnull(atom, ''), ' '
        )
        FROM json_tree(NEW.value)
    ),
    pieces (name, number, piece, rest) AS (
        SELECT name, 0, substr(text, 1, 500), substr(text, 501) FROM texts
        UNION ALL
        SELECT name, number + 1, substr(rest, 1, 500), substr(rest, 501) FROM pieces WHERE rest <> ''
    ),
    positions (position) AS (
        SELECT 1
        UNION ALL
        SELECT position + 1 FROM positions WHERE position < 500
    ),
    spaced (name, number, piece) AS (
        SELECT name, number, CASE
            WHEN piece NOT GLOB '*[^ -~
]*' THEN piece
            ELSE (
                SELECT group_concat(CASE WHEN folded GLOB '[⺀-⿕々-〇ぁ-ヿㇰ-ㇿ㐀-䶿一-鿿가-힣﨎-﨩𠀀-𲎯]' THEN ' ' || folded || ' ' ELSE folded END, '')
                FROM (
                    SELECT ifnull(
                        (SELECT folded FROM character_forms WHERE form = substr(piece, position, 1)),
                        substr(piece, position, 1)
                    ) AS folded
                    FROM positions
                    WHERE position <= length(piece)
                    ORDER BY position
                )
            )
        END
        FROM pieces
    )
    SELECT
        NEW.fact_id,
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'key' ORDER BY number)),
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'value' ORDER BY number));
END;

CREATE TRIGGER facts_keep_place BEFORE UPDATE OF id, scope, owner, key ON facts
WHEN NEW.id <> OLD.id OR NEW.scope <> OLD.scope OR NEW.owner <> OLD.owner OR NEW.key <> OLD.key
BEGIN
    SELECT RAISE (ABORT, 'a fact never changes its key or scope: insert a new one and delete the old one');
END;

CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    DELETE FROM fact_words WHERE rowid = OLD.id;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at)
    VALUES (
        OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags, OLD.expires_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    );
END;

-- What was said in a conversation, and what it came to.
CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL CHECK (length(message) >= 1),
    summary TEXT NOT NULL CHECK (length(summary) >= 1),
    project TEXT NOT NULL DEFAULT '',
    session TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    created_by TEXT
) STRICT;

CREATE TABLE turn_embeddings (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (space_id, turn_id)
) STRICT;

CREATE TABLE turn_embedding_queue (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    queued_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (space_id, turn_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER turns_inserted AFTER INSERT ON turns BEGIN
    DELETE FROM turn_embeddings WHERE turn_id = NEW.id;
    INSERT OR REPLACE INTO turn_embedding_queue (space_id, turn_id)
    SELECT id, NEW.id FROM spaces WHERE state <> 'retired';
END;

CREATE TRIGGER turns_rewritten AFTER UPDATE OF message, summary ON turns
WHEN NEW.message <> OLD.message OR NEW.summary <> OLD.summary
BEGIN
    DELETE FROM turn_embeddings WHERE turn_id = NEW.id;
    INSERT OR REPLACE INTO turn_embedding_queue (space_id, turn_id)
    SELECT id, NEW.id FROM spaces WHERE state <> 'retired';
END;

CREATE TRIGGER turns_deleted AFTER DELETE ON turns BEGIN
    DELETE FROM turn_embeddings WHERE turn_id = OLD.id;
    DELETE FROM turn_embedding_queue WHERE turn_id = OLD.id;
END;

CREATE VIEW readable_facts AS
SELECT
    CASE WHEN owner = '' THEN scope ELSE scope || ' ' || owner END AS scope,
    key,
    value,
    version,
    replace(substr(updated_at, 1, 16), 'T', ' ') AS updated,
    ifnull(updated_by, '-') AS updated_by,
    ifnull(replace(substr(expires_at, 1, 16), 'T', ' '), 'never') AS expires
FROM facts;

CREATE VIEW readable_fact_history AS
SELECT
    CASE WHEN owner = '' THEN scope ELSE scope || ' ' || owner END AS scope,
    key,
    version,
    action,
    value,
    replace(substr(changed_at, 1, 16), 'T', ' ') AS changed,
    ifnull(changed_by, '-') AS changed_by
FROM fact_history;

CREATE VIEW readable_turns AS
SELECT id, summary, message, replace(substr(created_at, 1, 16), 'T', ' ') AS created, ifnull(created_by, '-') AS created_by
FROM turns;
