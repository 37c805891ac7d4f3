-- The newest memories of a type and the newest turns of a project are found without a look at all others. Digests:
-- memories that stand for others.

CREATE INDEX memories_by_moment ON memories (project, type, ifnull(occurred_at, created_at));
CREATE INDEX turns_by_moment ON turns (project, ifnull(occurred_at, created_at));

-- A new relation, in the way that 0011_search.sql explains.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, '''example_of'', ''supersedes''', '''example_of'', ''supersedes'', ''summarizes''')
WHERE type = 'table' AND name = 'edges';
PRAGMA writable_schema = RESET;

-- The observations and turns for which a digest stands that the server has made. The digest is a memory that
-- summarizes them, and a person may delete it: the row stays, so that they are not digested again.
CREATE TABLE digested (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'turn')),
    item_id INTEGER NOT NULL,
    digest_id INTEGER NOT NULL, -- 0: it is no longer the server's
    UNIQUE (kind, item_id)
) STRICT;

CREATE INDEX digested_by_digest ON digested (digest_id);

CREATE VIEW readable_digests AS
SELECT
    d.digest_id,
    d.kind,
    d.item_id,
    ifnull(m.content, t.summary) AS text,
    CASE WHEN g.id IS NULL THEN 'deleted' ELSE 'there' END AS digest
FROM digested AS d
LEFT JOIN memories AS m ON d.kind = 'memory' AND m.id = d.item_id
LEFT JOIN turns AS t ON d.kind = 'turn' AND t.id = d.item_id
LEFT JOIN memories AS g ON g.id = d.digest_id;

-- A digest repeats words of what it stands for. When one of these is deleted, rewritten or superseded, the digest goes
-- for good, also out of the trash; the others may be digested anew.
CREATE TRIGGER digested_memory_deleted AFTER DELETE ON memories
WHEN EXISTS (SELECT 1 FROM digested WHERE kind = 'memory' AND item_id = OLD.id AND digest_id <> 0)
BEGIN
    DELETE FROM trash WHERE kind = 'memory' AND item_id = (
        SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = OLD.id
    );
    DELETE FROM memories WHERE id = (SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = OLD.id);
    DELETE FROM digested WHERE digest_id = (
        SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = OLD.id
    );
END;

CREATE TRIGGER digested_memory_rewritten AFTER UPDATE OF content ON memories
WHEN NEW.content <> OLD.content
    AND EXISTS (SELECT 1 FROM digested WHERE kind = 'memory' AND item_id = NEW.id AND digest_id <> 0)
BEGIN
    DELETE FROM trash WHERE kind = 'memory' AND item_id = (
        SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = NEW.id
    );
    DELETE FROM memories WHERE id = (SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = NEW.id);
    DELETE FROM digested WHERE digest_id = (
        SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = NEW.id
    );
END;

CREATE TRIGGER digested_memory_superseded AFTER INSERT ON edges
WHEN NEW.relation = 'supersedes' AND NEW.valid_to IS NULL
    AND EXISTS (SELECT 1 FROM digested WHERE kind = 'memory' AND item_id = NEW.target_id AND digest_id <> 0)
BEGIN
    DELETE FROM trash WHERE kind = 'memory' AND item_id = (
        SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = NEW.target_id
    );
    DELETE FROM memories
    WHERE id = (SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = NEW.target_id);
    DELETE FROM digested WHERE digest_id = (
        SELECT digest_id FROM digested WHERE kind = 'memory' AND item_id = NEW.target_id
    );
END;

CREATE TRIGGER digested_turn_deleted AFTER DELETE ON turns
WHEN EXISTS (SELECT 1 FROM digested WHERE kind = 'turn' AND item_id = OLD.id AND digest_id <> 0)
BEGIN
    DELETE FROM trash WHERE kind = 'memory' AND item_id = (
        SELECT digest_id FROM digested WHERE kind = 'turn' AND item_id = OLD.id
    );
    DELETE FROM memories WHERE id = (SELECT digest_id FROM digested WHERE kind = 'turn' AND item_id = OLD.id);
    DELETE FROM digested WHERE digest_id = (
        SELECT digest_id FROM digested WHERE kind = 'turn' AND item_id = OLD.id
    );
END;

CREATE TRIGGER digested_turn_rewritten AFTER UPDATE OF message, summary ON turns
WHEN (NEW.message <> OLD.message OR NEW.summary <> OLD.summary)
    AND EXISTS (SELECT 1 FROM digested WHERE kind = 'turn' AND item_id = NEW.id AND digest_id <> 0)
BEGIN
    DELETE FROM trash WHERE kind = 'memory' AND item_id = (
        SELECT digest_id FROM digested WHERE kind = 'turn' AND item_id = NEW.id
    );
    DELETE FROM memories WHERE id = (SELECT digest_id FROM digested WHERE kind = 'turn' AND item_id = NEW.id);
    DELETE FROM digested WHERE digest_id = (
        SELECT digest_id FROM digested WHERE kind = 'turn' AND item_id = NEW.id
    );
END;

-- A digest that somebody has rewritten, or into which a draft was merged, is no longer the server's: it stays.
CREATE TRIGGER digest_rewritten AFTER INSERT ON memory_history
WHEN EXISTS (SELECT 1 FROM digested WHERE digest_id = NEW.memory_id)
BEGIN
    UPDATE digested SET digest_id = 0 WHERE digest_id = NEW.memory_id;
END;
