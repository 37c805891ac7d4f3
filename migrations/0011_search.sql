-- Longer memories, the moment at which something occurred, and the order of what was said in a session.

-- The limit of a memory's text is 100,000 characters. To change a CHECK in the schema itself is the way that
-- https://sqlite.org/lang_altertable.html (section 7) gives for changes that no row can break.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'CHECK (length(content) BETWEEN 1 AND 5000)', 'CHECK (length(content) BETWEEN 1 AND 100000)')
WHERE type = 'table' AND name = 'memories';
PRAGMA writable_schema = RESET;

-- NULL: when it was stored.
ALTER TABLE memories ADD COLUMN occurred_at TEXT CHECK (occurred_at IS NULL OR julianday(occurred_at) IS NOT NULL);
ALTER TABLE turns ADD COLUMN occurred_at TEXT CHECK (occurred_at IS NULL OR julianday(occurred_at) IS NOT NULL);

CREATE INDEX memories_by_session ON memories (session);
CREATE INDEX turns_by_session ON turns (session);

-- A text of more than 5,000 characters is found by its parts: 2,000 characters each, of which 200 are those of the
-- part before. The first part has the id of the memory, in the word index and for its embedding; the others lie here.
CREATE TABLE memory_parts (
    id INTEGER PRIMARY KEY, -- the memory's id + number of the part x 2^40; its rowid in memory_words
    memory_id INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    start INTEGER NOT NULL, -- the first character, from 1
    length INTEGER NOT NULL
) STRICT;

CREATE INDEX memory_parts_by_memory ON memory_parts (memory_id);

CREATE TABLE part_embeddings (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    part_id INTEGER NOT NULL REFERENCES memory_parts (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    PRIMARY KEY (space_id, part_id)
) STRICT;

CREATE INDEX part_embeddings_by_part ON part_embeddings (part_id);

DROP TRIGGER memories_inserted;
CREATE TRIGGER memories_inserted AFTER INSERT ON memories BEGIN
    -- An INSERT OR REPLACE removes the old row without waking the delete trigger.
    DELETE FROM embeddings WHERE memory_id = NEW.id;
    DELETE FROM embedding_bits WHERE memory_id = NEW.id;
    -- Its foreign keys may have removed the old parts already, but not their words: those are found by their ids.
    DELETE FROM memory_words
    WHERE rowid IN (
        WITH RECURSIVE old (id) AS (
            SELECT NEW.id
            UNION ALL
            SELECT id + (1 << 40)
            FROM old
            WHERE EXISTS (SELECT 1 FROM memory_words_docsize AS size WHERE size.id = old.id + (1 << 40))
        )
        SELECT id FROM old
    );
    DELETE FROM part_embeddings WHERE part_id IN (SELECT id FROM memory_parts WHERE memory_id = NEW.id);
    DELETE FROM memory_parts WHERE memory_id = NEW.id;
    INSERT INTO memory_parts (id, memory_id, start, length)
    WITH RECURSIVE numbers (number) AS (
        SELECT 1 WHERE length(NEW.content) > 5000
        UNION ALL
        SELECT number + 1 FROM numbers WHERE 1800 * (number + 1) + 200 < length(NEW.content)
    )
    SELECT NEW.id + (number << 40), NEW.id, 1800 * number + 1, min(2000, length(NEW.content) - 1800 * number)
    FROM numbers;
    INSERT INTO memory_words (rowid, content, tags)
    WITH RECURSIVE texts (id, name, text) AS (
        SELECT
            NEW.id,
            'content',
            CASE WHEN length(NEW.content) > 5000 THEN substr(NEW.content, 1, 2000) ELSE NEW.content END
        UNION ALL
        SELECT NEW.id, 'tags', NEW.tags
        UNION ALL
        SELECT id, 'content', substr(NEW.content, start, length) FROM memory_parts WHERE memory_id = NEW.id
    ),
    pieces (id, name, number, piece, rest) AS (
        SELECT id, name, 0, substr(text, 1, 500), substr(text, 501) FROM texts
        UNION ALL
        SELECT id, name, number + 1, substr(rest, 1, 500), substr(rest, 501) FROM pieces WHERE rest <> ''
    ),
    positions (position) AS (
        SELECT 1
        UNION ALL
        SELECT position + 1 FROM positions WHERE position < 500
    ),
    spaced (id, name, number, piece) AS MATERIALIZED (
        SELECT id, name, number, CASE
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
        texts.id,
        (
            SELECT group_concat(piece, '')
            FROM (SELECT piece FROM spaced WHERE id = texts.id AND name = 'content' ORDER BY number)
        ),
        ifnull(
            (
                SELECT group_concat(piece, '')
                FROM (SELECT piece FROM spaced WHERE id = texts.id AND name = 'tags' ORDER BY number)
            ),
            ''
        )
    FROM texts
    WHERE name = 'content';
    INSERT OR REPLACE INTO embedding_queue (space_id, memory_id)
    SELECT id, NEW.id FROM spaces WHERE state <> 'retired';
END;

DROP TRIGGER memories_reworded;
CREATE TRIGGER memories_reworded AFTER UPDATE OF content, tags ON memories
WHEN NEW.content <> OLD.content OR NEW.tags <> OLD.tags
BEGIN
    DELETE FROM memory_words
    WHERE rowid = NEW.id OR rowid IN (SELECT id FROM memory_parts WHERE memory_id = NEW.id);
    DELETE FROM part_embeddings WHERE part_id IN (SELECT id FROM memory_parts WHERE memory_id = NEW.id);
    DELETE FROM memory_parts WHERE memory_id = NEW.id;
    INSERT INTO memory_parts (id, memory_id, start, length)
    WITH RECURSIVE numbers (number) AS (
        SELECT 1 WHERE length(NEW.content) > 5000
        UNION ALL
        SELECT number + 1 FROM numbers WHERE 1800 * (number + 1) + 200 < length(NEW.content)
    )
    SELECT NEW.id + (number << 40), NEW.id, 1800 * number + 1, min(2000, length(NEW.content) - 1800 * number)
    FROM numbers;
    INSERT INTO memory_words (rowid, content, tags)
    WITH RECURSIVE texts (id, name, text) AS (
        SELECT
            NEW.id,
            'content',
            CASE WHEN length(NEW.content) > 5000 THEN substr(NEW.content, 1, 2000) ELSE NEW.content END
        UNION ALL
        SELECT NEW.id, 'tags', NEW.tags
        UNION ALL
        SELECT id, 'content', substr(NEW.content, start, length) FROM memory_parts WHERE memory_id = NEW.id
    ),
    pieces (id, name, number, piece, rest) AS (
        SELECT id, name, 0, substr(text, 1, 500), substr(text, 501) FROM texts
        UNION ALL
        SELECT id, name, number + 1, substr(rest, 1, 500), substr(rest, 501) FROM pieces WHERE rest <> ''
    ),
    positions (position) AS (
        SELECT 1
        UNION ALL
        SELECT position + 1 FROM positions WHERE position < 500
    ),
    spaced (id, name, number, piece) AS MATERIALIZED (
        SELECT id, name, number, CASE
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
        texts.id,
        (
            SELECT group_concat(piece, '')
            FROM (SELECT piece FROM spaced WHERE id = texts.id AND name = 'content' ORDER BY number)
        ),
        ifnull(
            (
                SELECT group_concat(piece, '')
                FROM (SELECT piece FROM spaced WHERE id = texts.id AND name = 'tags' ORDER BY number)
            ),
            ''
        )
    FROM texts
    WHERE name = 'content';
END;

-- A change of the tags alone takes the embeddings of the parts with their rows: they are asked for anew.
CREATE TRIGGER memories_retagged AFTER UPDATE OF tags ON memories
WHEN NEW.tags <> OLD.tags AND NEW.content = OLD.content AND length(NEW.content) > 5000
BEGIN
    DELETE FROM embeddings WHERE memory_id = NEW.id;
    DELETE FROM embedding_bits WHERE memory_id = NEW.id;
    INSERT OR REPLACE INTO embedding_queue (space_id, memory_id)
    SELECT id, NEW.id FROM spaces WHERE state <> 'retired';
END;

CREATE TRIGGER memories_parts_deleted BEFORE DELETE ON memories BEGIN
    DELETE FROM memory_words WHERE rowid IN (SELECT id FROM memory_parts WHERE memory_id = OLD.id);
    DELETE FROM part_embeddings WHERE part_id IN (SELECT id FROM memory_parts WHERE memory_id = OLD.id);
    DELETE FROM memory_parts WHERE memory_id = OLD.id;
END;

DROP VIEW readable_memories;
CREATE VIEW readable_memories AS
SELECT
    m.id,
    m.type,
    ifnull(m.project, '-') AS project,
    m.importance,
    m.content,
    ifnull((SELECT group_concat(value, ', ') FROM json_each(m.tags)), '') AS tags,
    m.access_count AS found,
    replace(substr(ifnull(m.occurred_at, m.created_at), 1, 16), 'T', ' ') AS occurred,
    replace(substr(m.created_at, 1, 16), 'T', ' ') AS created,
    replace(substr(m.updated_at, 1, 16), 'T', ' ') AS updated,
    ifnull(m.created_by, '-') AS created_by,
    (SELECT count(*) FROM memory_history AS h WHERE h.memory_id = m.id) AS earlier_texts,
    CASE WHEN EXISTS (SELECT 1 FROM embedding_queue AS q WHERE q.memory_id = m.id) THEN 'waiting' ELSE 'ready' END
        AS embedding
FROM memories AS m;
