-- Who said a text first: 'typed', 'told', 'seen', 'web HOST', 'mcp:NAME', 'imported:FORMAT', 'inferred', or 'unknown', as of
-- what is from before. The program stamps it, and no caller can: `created_by` holds what a client calls itself.

ALTER TABLE memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE facts ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE fact_history ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200); -- of the value
ALTER TABLE turns ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE short_term_memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE long_term_memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);

-- The history keeps the origin of each value, also with the step that deletes it. What a hand changes is unknown.
DROP TRIGGER facts_inserted;
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
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, writer, origin)
    SELECT id, scope, owner, key, version, 'written', value, tags, expires_at, updated_at, updated_by, writer, origin
    FROM facts
    WHERE id = NEW.id AND version = NEW.version;
END;

DROP TRIGGER facts_rewritten;
CREATE TRIGGER facts_rewritten AFTER UPDATE OF value, tags, expires_at, version ON facts
WHEN NEW.value IS NOT OLD.value OR NEW.tags IS NOT OLD.tags OR NEW.expires_at IS NOT OLD.expires_at
    OR NEW.version IS NOT OLD.version
BEGIN
    -- A change by hand, which leaves the version as it was, is a version too.
    UPDATE facts
    SET version = OLD.version + 1, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), updated_by = NULL, writer = NULL,
        origin = 'unknown'
    WHERE id = NEW.id AND NEW.version = OLD.version;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, writer, origin)
    SELECT id, scope, owner, key, version, 'written', value, tags, expires_at, updated_at, updated_by, writer, origin
    FROM facts
    WHERE id = NEW.id;
END;

DROP TRIGGER facts_deleted;
CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    DELETE FROM fact_words WHERE rowid = OLD.id;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, writer, origin)
    VALUES (
        OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags, OLD.expires_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), OLD.writer, OLD.origin
    );
END;
