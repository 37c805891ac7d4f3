-- The person who alone has written a row, by the name of the token: `created_by` also holds what a client calls itself.
-- NULL: the owner of the file, several people, or nobody knows. Only its writer and the owner erase a row for good.

ALTER TABLE memories ADD COLUMN writer TEXT CHECK (length(writer) BETWEEN 1 AND 100);
ALTER TABLE facts ADD COLUMN writer TEXT CHECK (length(writer) BETWEEN 1 AND 100);
ALTER TABLE fact_history ADD COLUMN writer TEXT CHECK (length(writer) BETWEEN 1 AND 100); -- of the value
ALTER TABLE trash ADD COLUMN writer TEXT CHECK (length(writer) BETWEEN 1 AND 100);

-- Of rows from before, it is certain for what is somebody's own.
UPDATE memories SET writer = person WHERE person IS NOT NULL;
UPDATE trash SET writer = person WHERE person IS NOT NULL;
UPDATE facts SET writer = person WHERE person IS NOT NULL;
UPDATE fact_history SET writer = person WHERE person IS NOT NULL;

-- Shared facts are shown with their writer. The history has none, so this gives nobody the right to erase one.
UPDATE facts
SET writer = (
    SELECT name
    FROM tokens
    WHERE facts.updated_by = name OR substr(facts.updated_by, 1, length(name) + 2) = name || ' ('
    ORDER BY length(name) DESC
    LIMIT 1
)
WHERE scope = 'shared';

-- A token that may write shared facts, though it has not all projects.
ALTER TABLE tokens ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));

DROP VIEW readable_tokens;
CREATE VIEW readable_tokens AS
SELECT
    t.id,
    t.name,
    t.prefix || '…' AS token,
    ifnull((SELECT group_concat(value, ', ') FROM json_each(t.projects)), '(all)') AS projects,
    CASE t.read_only WHEN 1 THEN 'read' ELSE 'read and write' END || CASE t.shared WHEN 1 THEN ', shared facts' ELSE '' END
        AS may,
    CASE
        WHEN t.revoked_at IS NOT NULL THEN 'revoked'
        WHEN t.expires_at IS NOT NULL AND julianday(t.expires_at) <= julianday('now') THEN 'expired'
        ELSE 'valid'
    END AS state,
    replace(substr(t.created_at, 1, 16), 'T', ' ') AS created,
    ifnull(replace(substr(t.expires_at, 1, 16), 'T', ' '), '-') AS expires,
    ifnull(t.last_used, '-') AS last_used
FROM tokens AS t;

-- The history keeps the writer of each value, also with the step that deletes it. What a hand changes has none.
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
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, writer)
    SELECT id, scope, owner, key, version, 'written', value, tags, expires_at, updated_at, updated_by, writer
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
    SET version = OLD.version + 1, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), updated_by = NULL, writer = NULL
    WHERE id = NEW.id AND NEW.version = OLD.version;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, writer)
    SELECT id, scope, owner, key, version, 'written', value, tags, expires_at, updated_at, updated_by, writer
    FROM facts
    WHERE id = NEW.id;
END;

DROP TRIGGER facts_deleted;
CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    DELETE FROM fact_words WHERE rowid = OLD.id;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, writer)
    VALUES (
        OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags, OLD.expires_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), OLD.writer
    );
END;
