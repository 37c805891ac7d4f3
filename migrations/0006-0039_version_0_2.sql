-- Everything between version 0.1.0 of this program, whose schema is 5, and version 0.2.0.

-- ## job problems

-- What went wrong last in each background job of each running process: `doctor` and `memory_stats` tell it.
-- A row goes when the job succeeds; one that is five minutes old belongs to a process that has ended.

CREATE TABLE job_problems (
    job TEXT NOT NULL,
    process TEXT NOT NULL,
    problem TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (job, process)
) STRICT, WITHOUT ROWID;


-- ## turn words

-- Turns have a word index as memories and facts have: they are found without a model, and before they are embedded.

CREATE VIRTUAL TABLE turn_words USING fts5 (
    summary, message, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER turns_worded AFTER INSERT ON turns BEGIN
    DELETE FROM turn_words WHERE rowid = NEW.id;
    INSERT INTO turn_words (rowid, summary, message)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'summary', NEW.summary
        UNION ALL
        SELECT 'message', NEW.message
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
        NEW.id,
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'summary' ORDER BY number)),
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'message' ORDER BY number));
END;

CREATE TRIGGER turns_reworded AFTER UPDATE OF message, summary ON turns BEGIN
    DELETE FROM turn_words WHERE rowid = NEW.id;
    INSERT INTO turn_words (rowid, summary, message)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'summary', NEW.summary
        UNION ALL
        SELECT 'message', NEW.message
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
        NEW.id,
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'summary' ORDER BY number)),
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'message' ORDER BY number));
END;

CREATE TRIGGER turns_unworded AFTER DELETE ON turns BEGIN
    DELETE FROM turn_words WHERE rowid = OLD.id;
END;

-- The turns that are there already: to write a text again wakes the trigger.
UPDATE turns SET message = message;


-- ## trash

-- What was deleted, for 30 days: it can be brought back, and then it is erased. The rows lie here as JSON, so that
-- no search, no list and no view can meet them. (Facts that were deleted lie in fact_history.)

CREATE TABLE trash (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'turn', 'short_term', 'long_term')),
    item_id INTEGER NOT NULL,
    -- Of short-term and long-term memories: their conversation, which may be gone itself.
    conversation TEXT,
    -- Of each table that held a part of it: the rows.
    parts TEXT NOT NULL CHECK (json_valid(parts) AND json_type(parts) = 'object'),
    deleted_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    deleted_by TEXT
) STRICT;

CREATE INDEX trash_by_item ON trash (kind, item_id);
CREATE INDEX trash_by_moment ON trash (deleted_at);

CREATE VIEW readable_trash AS
SELECT
    id,
    replace(kind, '_', '-') AS kind,
    item_id,
    ifnull(conversation, '-') AS conversation,
    replace(substr(deleted_at, 1, 16), 'T', ' ') AS deleted,
    ifnull(deleted_by, '-') AS deleted_by,
    parts
FROM trash;


-- ## trigger order

-- In which order triggers are evaluated where there is not time for all: those that were evaluated longest ago come
-- first, and those that were slow or failed come last.

ALTER TABLE long_term_memories ADD COLUMN judged_at TEXT;

-- 1: it took longer than its first slice of time when it was evaluated last.
ALTER TABLE long_term_memories ADD COLUMN slow INTEGER NOT NULL DEFAULT 0 CHECK (slow IN (0, 1));

-- Another trigger has not failed yet, and has not been slow.
DROP TRIGGER long_term_memories_retriggered;
CREATE TRIGGER long_term_memories_retriggered AFTER UPDATE OF "trigger" ON long_term_memories
WHEN NEW."trigger" <> OLD."trigger"
BEGIN
    UPDATE long_term_memories
    SET error = NULL, failures = 0, quarantined_until = NULL, slow = 0, judged_at = NULL
    WHERE id = NEW.id;
END;

ALTER TABLE long_term_memories DROP COLUMN skipped;


-- ## erasures

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


-- ## search

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


-- ## recall

-- Facts and short-term memories are found by meaning and by words, as memories and turns are.

CREATE TABLE fact_embeddings (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (space_id, fact_id)
) STRICT;

CREATE INDEX fact_embeddings_by_fact ON fact_embeddings (fact_id);

CREATE TABLE fact_embedding_queue (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    queued_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (space_id, fact_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_embedding_queue_by_fact ON fact_embedding_queue (fact_id);

-- A fact is embedded anew with each value that is written; an INSERT OR REPLACE removes the old row, which had another
-- id, without waking the delete trigger.
CREATE TRIGGER facts_embedded AFTER INSERT ON fact_history WHEN NEW.action = 'written' BEGIN
    DELETE FROM fact_embeddings WHERE fact_id IN (
        SELECT fact_id FROM fact_history WHERE scope = NEW.scope AND owner = NEW.owner AND key = NEW.key
    );
    INSERT OR REPLACE INTO fact_embedding_queue (space_id, fact_id)
    SELECT id, NEW.fact_id FROM spaces WHERE state <> 'retired';
END;

CREATE TRIGGER facts_unembedded AFTER DELETE ON facts BEGIN
    DELETE FROM fact_embeddings WHERE fact_id = OLD.id;
    DELETE FROM fact_embedding_queue WHERE fact_id = OLD.id;
END;

INSERT INTO fact_embedding_queue (space_id, fact_id)
SELECT spaces.id, facts.id FROM spaces, facts WHERE spaces.state <> 'retired';

CREATE TABLE short_term_embeddings (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES short_term_memories (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (space_id, memory_id)
) STRICT;

CREATE INDEX short_term_embeddings_by_memory ON short_term_embeddings (memory_id);

CREATE TABLE short_term_embedding_queue (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES short_term_memories (id) ON DELETE CASCADE,
    queued_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (space_id, memory_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX short_term_embedding_queue_by_memory ON short_term_embedding_queue (memory_id);

CREATE TRIGGER short_term_memories_embedded AFTER INSERT ON short_term_memories BEGIN
    DELETE FROM short_term_embeddings WHERE memory_id = NEW.id;
    INSERT OR REPLACE INTO short_term_embedding_queue (space_id, memory_id)
    SELECT id, NEW.id FROM spaces WHERE state <> 'retired';
END;

CREATE TRIGGER short_term_memories_reembedded AFTER UPDATE OF text ON short_term_memories
WHEN NEW.text <> OLD.text
BEGIN
    DELETE FROM short_term_embeddings WHERE memory_id = NEW.id;
    INSERT OR REPLACE INTO short_term_embedding_queue (space_id, memory_id)
    SELECT id, NEW.id FROM spaces WHERE state <> 'retired';
END;

CREATE TRIGGER short_term_memories_unembedded AFTER DELETE ON short_term_memories BEGIN
    DELETE FROM short_term_embeddings WHERE memory_id = OLD.id;
    DELETE FROM short_term_embedding_queue WHERE memory_id = OLD.id;
    DELETE FROM short_term_words WHERE rowid = OLD.id;
END;

INSERT INTO short_term_embedding_queue (space_id, memory_id)
SELECT spaces.id, m.id FROM spaces, short_term_memories AS m WHERE spaces.state <> 'retired';

CREATE INDEX short_term_memories_by_session ON short_term_memories (session);

-- The word index: what is folded and set apart in `memory_words` is so here. The rowid is the memory's id.
CREATE VIRTUAL TABLE short_term_words USING fts5 (
    text, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER short_term_memories_worded AFTER INSERT ON short_term_memories BEGIN
    DELETE FROM short_term_words WHERE rowid = NEW.id;
    INSERT INTO short_term_words (rowid, text)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'text', NEW.text
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
    SELECT NEW.id, (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced ORDER BY number));
END;

CREATE TRIGGER short_term_memories_reworded AFTER UPDATE OF text ON short_term_memories BEGIN
    DELETE FROM short_term_words WHERE rowid = NEW.id;
    INSERT INTO short_term_words (rowid, text)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'text', NEW.text
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
    SELECT NEW.id, (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced ORDER BY number));
END;

-- The memories that are there already: to write a text again wakes the trigger.
UPDATE short_term_memories SET text = text;

-- A new value in a CHECK is a change of the schema itself that no row can break: see 0011.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, '''turn_words'')', '''turn_words'', ''short_term_words'')')
WHERE type = 'table' AND name = 'erasures';
PRAGMA writable_schema = RESET;

INSERT INTO erasures (what) VALUES ('short_term_words');
CREATE TRIGGER short_term_memories_erased AFTER DELETE ON short_term_memories BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'short_term_words');
END;
CREATE TRIGGER short_term_memories_erased_in_part AFTER UPDATE OF text ON short_term_memories
WHEN NEW.text <> OLD.text
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'short_term_words');
END;


-- ## briefing

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


-- ## projects

-- Projects: memories, facts and turns name theirs by one short name, which means the same project for all of them.
-- Until now facts and turns had the path of its folder, and memories the name of that folder.

CREATE TABLE projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    -- The root in which it was used last; NULL where only its name is known.
    folder TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- What a project is known by besides its name. 'remote': the address of its git remote, without scheme and
-- credentials. 'folder': the real path of a root without a remote. 'name': a name that it had before.
CREATE TABLE project_keys (
    kind TEXT NOT NULL CHECK (kind IN ('remote', 'folder', 'name')),
    key TEXT NOT NULL CHECK (length(key) >= 1),
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_keys_by_project ON project_keys (project_id);

-- What facts and turns are filed under now: a path, or a name that was given; those with the most rows first.
CREATE TABLE old_owners (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL UNIQUE,
    path TEXT, -- without / at its end, and with / instead of \
    base TEXT, -- its last folder
    above TEXT, -- the folder above that
    name TEXT
) STRICT;

INSERT INTO old_owners (owner)
SELECT owner
FROM (
    SELECT owner FROM facts WHERE scope = 'project'
    UNION ALL
    SELECT owner FROM fact_history WHERE scope = 'project'
    UNION ALL
    SELECT project FROM turns
    UNION ALL
    SELECT json_extract(parts, '$.turns[0].project') FROM trash WHERE kind = 'turn'
)
WHERE owner <> ''
GROUP BY owner
ORDER BY count(*) DESC, owner;

UPDATE old_owners SET path = rtrim(owner, '/') WHERE owner GLOB '/*';
UPDATE old_owners SET path = rtrim(replace(owner, '\', '/'), '/')
WHERE owner GLOB '[A-Za-z]:[\/]*' OR owner GLOB '\\*';

-- rtrim(path, replace(path, '/', '')) is the path up to its last /.
UPDATE old_owners
SET base = substr(path, length(rtrim(path, replace(path, '/', ''))) + 1),
    above = rtrim(rtrim(path, replace(path, '/', '')), '/')
WHERE path IS NOT NULL;

UPDATE old_owners SET above = substr(above, length(rtrim(above, replace(above, '/', ''))) + 1);

UPDATE old_owners SET base = substr(base, 1, length(base) - 4) WHERE base GLOB '?*.git';
UPDATE old_owners
SET base = trim(substr(replace(replace(replace(base, char(9), ' '), char(10), ' '), char(13), ' '), 1, 200));

-- Names that were given, and those of memories.
UPDATE old_owners SET name = substr(owner, 1, 200) WHERE path IS NULL;
UPDATE old_owners
SET name = 'project-' || id
WHERE length(owner) > 200 AND EXISTS (SELECT 1 FROM old_owners AS o WHERE o.name = old_owners.name AND o.id <> old_owners.id);

INSERT OR IGNORE INTO projects (name)
SELECT name FROM old_owners WHERE name IS NOT NULL
UNION
SELECT project FROM memories WHERE project IS NOT NULL
UNION
SELECT json_extract(parts, '$.memories[0].project') FROM trash
WHERE kind = 'memory' AND json_extract(parts, '$.memories[0].project') <> '';

-- Of the folders that have one name, that with the most rows gets it, and with it the memories of this name; but not
-- where the same name was given for facts or turns: those were apart from the ones of every folder.
UPDATE old_owners
SET name = base
WHERE id = (SELECT min(id) FROM old_owners AS o WHERE o.base = old_owners.base)
    AND base NOT IN ('', '*')
    AND base NOT IN (SELECT name FROM old_owners WHERE name IS NOT NULL);

INSERT OR IGNORE INTO projects (name) SELECT name FROM old_owners WHERE path IS NOT NULL AND name IS NOT NULL;

-- The others are named with the folder above, where that is enough: `me/app`.
UPDATE old_owners
SET name = above || '/' || base
WHERE name IS NULL AND base <> '' AND above NOT IN ('', '.', '..', '~') AND above NOT GLOB '[A-Za-z]:'
    AND length(above || '/' || base) <= 200;

-- Where it is not, they get a number: `app-7`.
UPDATE old_owners
SET name = ifnull(nullif(substr(base, 1, 180), ''), 'project') || '-' || id
WHERE path IS NOT NULL AND (
    name IS NULL
    OR name <> base AND name IN (SELECT name FROM projects)
    OR id <> (SELECT min(id) FROM old_owners AS o WHERE o.name = old_owners.name)
);

UPDATE old_owners
SET name = 'project-' || id || '-' || lower(hex(randomblob(4)))
WHERE name GLOB '*-' || id AND name IN (SELECT name FROM projects) AND name NOT IN (owner, base);

INSERT OR IGNORE INTO projects (name) SELECT name FROM old_owners;

UPDATE projects
SET folder = (SELECT owner FROM old_owners AS o WHERE o.name = projects.name AND o.path IS NOT NULL);

INSERT INTO project_keys (kind, key, project_id)
SELECT 'folder', o.owner, p.id FROM old_owners AS o JOIN projects AS p ON p.name = o.name WHERE o.path IS NOT NULL;

DROP TRIGGER facts_keep_place;

UPDATE facts
SET owner = (SELECT name FROM old_owners AS o WHERE o.owner = facts.owner)
WHERE scope = 'project' AND owner IN (SELECT owner FROM old_owners WHERE name <> owner);

UPDATE fact_history
SET owner = (SELECT name FROM old_owners AS o WHERE o.owner = fact_history.owner)
WHERE scope = 'project' AND owner IN (SELECT owner FROM old_owners WHERE name <> owner);

UPDATE turns
SET project = (SELECT name FROM old_owners AS o WHERE o.owner = turns.project)
WHERE project IN (SELECT owner FROM old_owners WHERE name <> owner);

UPDATE trash
SET parts = json_set(
    parts,
    '$.turns[0].project',
    (SELECT name FROM old_owners AS o WHERE o.owner = json_extract(trash.parts, '$.turns[0].project'))
)
WHERE kind = 'turn'
    AND json_extract(parts, '$.turns[0].project') IN (SELECT owner FROM old_owners WHERE name <> owner);

DROP TABLE old_owners;

-- A fact moves to another project only where its own exists no more under that name: it was renamed or joined.
CREATE TRIGGER facts_keep_place BEFORE UPDATE OF id, scope, owner, key ON facts
WHEN NEW.id <> OLD.id OR NEW.scope <> OLD.scope OR NEW.key <> OLD.key
    OR NEW.owner <> OLD.owner
    AND (OLD.scope <> 'project' OR OLD.owner = '' OR OLD.owner IN (SELECT name FROM projects))
BEGIN
    SELECT RAISE (ABORT, 'a fact never changes its key or scope: insert a new one and delete the old one');
END;

-- Each name that a row has is that of a project, also where a person wrote the row. A former name is borne again then.
CREATE TRIGGER memories_placed AFTER INSERT ON memories
WHEN NEW.project IS NOT NULL AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER memories_moved AFTER UPDATE OF project ON memories
WHEN NEW.project IS NOT NULL AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER turns_placed AFTER INSERT ON turns
WHEN NEW.project <> '' AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER turns_moved AFTER UPDATE OF project ON turns
WHEN NEW.project <> '' AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER projects_inserted AFTER INSERT ON projects BEGIN
    DELETE FROM project_keys WHERE kind = 'name' AND key = NEW.name;
    -- An INSERT OR REPLACE removes the old row without waking the delete trigger: its keys are the new one's.
    UPDATE project_keys SET project_id = NEW.id WHERE project_id NOT IN (SELECT id FROM projects);
END;

CREATE TRIGGER projects_keep_id BEFORE UPDATE OF id ON projects WHEN NEW.id <> OLD.id BEGIN
    SELECT RAISE (ABORT, 'a project never changes its id');
END;

-- A new name, also one that a person gives here: every row follows, and the old name leads to the project too.
CREATE TRIGGER projects_renamed AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    DELETE FROM project_keys WHERE kind = 'name' AND key IN (NEW.name, OLD.name);
    INSERT INTO project_keys (kind, key, project_id) VALUES ('name', OLD.name, NEW.id);
    UPDATE memories SET project = NEW.name WHERE project = OLD.name;
    UPDATE fact_history SET owner = NEW.name WHERE scope = 'project' AND owner = OLD.name;
    UPDATE facts SET owner = NEW.name WHERE scope = 'project' AND owner = OLD.name;
    UPDATE turns SET project = NEW.name WHERE project = OLD.name;
    UPDATE OR IGNORE conversations SET name = substr('project:' || NEW.name, 1, 200)
    WHERE name = substr('project:' || OLD.name, 1, 200);
    UPDATE trash SET conversation = substr('project:' || NEW.name, 1, 200)
    WHERE conversation = substr('project:' || OLD.name, 1, 200);
    UPDATE trash SET parts = json_set(parts, '$.memories[0].project', NEW.name)
    WHERE kind = 'memory' AND json_extract(parts, '$.memories[0].project') = OLD.name;
    UPDATE trash SET parts = json_set(parts, '$.turns[0].project', NEW.name)
    WHERE kind = 'turn' AND json_extract(parts, '$.turns[0].project') = OLD.name;
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER projects_deleted AFTER DELETE ON projects BEGIN
    DELETE FROM project_keys WHERE project_id = OLD.id;
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE VIEW readable_projects AS
SELECT
    p.name,
    ifnull((SELECT group_concat(key, ', ') FROM project_keys AS k WHERE k.project_id = p.id AND kind <> 'name'), '-')
        AS known_by,
    ifnull((SELECT group_concat(key, ', ') FROM project_keys AS k WHERE k.project_id = p.id AND kind = 'name'), '-')
        AS former_names,
    ifnull(p.folder, '-') AS folder,
    (SELECT count(*) FROM memories AS m WHERE m.project = p.name) AS memories,
    (SELECT count(*) FROM facts AS f WHERE f.scope = 'project' AND f.owner = p.name) AS facts,
    (SELECT count(*) FROM turns AS t WHERE t.project = p.name) AS turns
FROM projects AS p;

DROP VIEW readable_turns;
CREATE VIEW readable_turns AS
SELECT
    id,
    summary,
    message,
    CASE WHEN project = '' THEN '-' ELSE project END AS project,
    replace(substr(created_at, 1, 16), 'T', ' ') AS created,
    ifnull(created_by, '-') AS created_by
FROM turns;


-- ## turn messages

-- The summary and the message of a turn are embedded apart: a question is near to one of them, seldom to both.

-- The vector of the summary is in `turn_embeddings`.
CREATE TABLE turn_message_embeddings (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    PRIMARY KEY (space_id, turn_id)
) STRICT;

CREATE INDEX turn_message_embeddings_by_turn ON turn_message_embeddings (turn_id);

-- An INSERT OR REPLACE removes the old row without waking the delete trigger.
CREATE TRIGGER turns_inserted_again AFTER INSERT ON turns BEGIN
    DELETE FROM turn_message_embeddings WHERE turn_id = NEW.id;
END;

CREATE TRIGGER turns_message_rewritten AFTER UPDATE OF message, summary ON turns
WHEN NEW.message <> OLD.message OR NEW.summary <> OLD.summary
BEGIN
    DELETE FROM turn_message_embeddings WHERE turn_id = NEW.id;
END;

CREATE TRIGGER turns_message_deleted AFTER DELETE ON turns BEGIN
    DELETE FROM turn_message_embeddings WHERE turn_id = OLD.id;
END;

-- The vectors that are there are of summary and message together: they serve until both have been embedded.
INSERT OR IGNORE INTO turn_embedding_queue (space_id, turn_id)
SELECT spaces.id, turns.id FROM spaces, turns WHERE spaces.state <> 'retired';


-- ## one language

-- Triggers are JavaScript. Conditions written as JSON, which servers before this version evaluated too, become the
-- JavaScript that they mean, also those of deleted memories.
--
-- Each value of a condition writes a text before what is inside it and one after it: `{"and": [A, B]}` writes `(`, A,
-- ` && `, B, `)`. All these texts, in the order of the document, are the JavaScript. (Tables instead of WITH: two of the
-- steps need an index.)

CREATE TABLE old_conditions (id INTEGER PRIMARY KEY, memory_id INTEGER, trash_id INTEGER, source TEXT);

INSERT INTO old_conditions (memory_id, source)
SELECT id, "trigger" FROM long_term_memories
WHERE ltrim("trigger", char(9, 10, 13, 32)) LIKE '{%' AND json_valid("trigger");

INSERT INTO old_conditions (trash_id, source)
SELECT id, source
FROM (
    SELECT id, json_extract(parts, '$.long_term_memories[0].trigger') AS source FROM trash WHERE kind = 'long_term'
)
WHERE ltrim(source, char(9, 10, 13, 32)) LIKE '{%' AND json_valid(source);

CREATE TABLE old_values (
    condition_id INTEGER, id INTEGER, parent INTEGER, key TEXT, type TEXT, atom, value,
    PRIMARY KEY (condition_id, id)
);
CREATE INDEX old_values_by_parent ON old_values (condition_id, parent);

INSERT INTO old_values
SELECT c.id, j.id, j.parent, j.key, j.type, j.atom, j.value
FROM old_conditions AS c, json_tree(c.source) AS j;

-- A person may have written something else that is JSON: it stays as it is.
DELETE FROM old_conditions
WHERE source NOT GLOB '*"*' OR id IN (
    SELECT v.condition_id
    FROM old_values AS v
    JOIN old_values AS p ON p.condition_id = v.condition_id AND p.id = v.parent
    WHERE p.type = 'object' AND v.key NOT IN (
        'and', 'or', 'not', 'match_keys', 'match_keys_all', 'similar', 'get', 'some', 'includes', 'startsWith',
        'endsWith', 'toLowerCase', 'length', 'test', '===', '!==', '<', '<=', '>', '>=', '+', '-', '*', '/', '%',
        'scope', 'depth', 'threshold', 'regex', 'flags'
    )
);

CREATE TABLE old_texts (condition_id INTEGER, at INTEGER, closing INTEGER, text TEXT);

-- What is written before a value: what separates it from its neighbour, its sign, and the value itself.
INSERT INTO old_texts
SELECT
    v.condition_id,
    v.id,
    NULL,
    CASE
        WHEN p.type <> 'array' OR v.key = '0' THEN ''
        WHEN p.key = 'and' THEN ' && '
        WHEN p.key = 'or' THEN ' || '
        WHEN p.key IN ('match_keys', 'match_keys_all') THEN ', '
        WHEN p.key IN ('includes', 'startsWith', 'endsWith', 'test') THEN '.' || p.key || '('
        ELSE ' ' || p.key || ' '
    END
    || CASE
        WHEN p.type IS NOT 'object' THEN ''
        WHEN v.key IN ('match_keys', 'match_keys_all') THEN v.key || '(messages, ['
        WHEN v.key = 'some' THEN 'messages.some(m => '
        WHEN v.key = 'not' THEN '!('
        WHEN v.key = 'similar' THEN
            'similar(messages, ' || json_quote(v.atom)
            || ifnull(', ' || json_extract(p.value, '$.threshold'), '') || ')'
        WHEN v.key IN ('toLowerCase', 'length', 'includes', 'startsWith', 'endsWith', 'test', 'get') THEN ''
        WHEN v.key IN ('scope', 'depth', 'threshold', 'regex', 'flags') THEN ''
        ELSE '('
    END
    || CASE
        WHEN p.type = 'object' AND v.key IN ('similar', 'scope', 'depth', 'threshold', 'regex', 'flags') THEN ''
        WHEN p.type = 'object' AND v.key = 'get' THEN
            CASE
                WHEN v.atom = 'date.month' THEN '(new Date().getMonth() + 1)'
                WHEN v.atom = 'date.year' THEN 'new Date().getFullYear()'
                WHEN v.atom = 'date.day' THEN 'new Date().getDate()'
                WHEN v.atom = 'date.weekday' THEN 'new Date().getDay()'
                WHEN v.atom = 'date.hour' THEN 'new Date().getHours()'
                WHEN v.atom = 'date.minute' THEN 'new Date().getMinutes()'
                WHEN v.atom = 'date.second' THEN 'new Date().getSeconds()'
                WHEN v.atom = 'message.content' THEN 'm.content'
                WHEN v.atom = 'message.role' THEN 'm.role'
                WHEN v.atom NOT GLOB 'participants.*' THEN v.atom
                WHEN v.atom GLOB 'participants.[A-Za-z_$]*' AND substr(v.atom, 14) NOT GLOB '*[^A-Za-z0-9_$]*' THEN v.atom
                ELSE 'participants[' || json_quote(substr(v.atom, 14)) || ']'
            END
        WHEN v.type = 'object' AND json_type(v.value, '$.regex') = 'text' THEN
            -- A literal holds no `/` and no end of a line, and is not empty.
            CASE
                WHEN json_extract(v.value, '$.regex') GLOB '*[/' || char(10, 13, 8232, 8233) || ']*'
                    OR json_extract(v.value, '$.regex') = ''
                THEN
                    'new RegExp(' || json_quote(json_extract(v.value, '$.regex')) || ', '
                    || json_quote(ifnull(json_extract(v.value, '$.flags'), '')) || ')'
                ELSE
                    '/' || json_extract(v.value, '$.regex') || '/' || ifnull(json_extract(v.value, '$.flags'), '')
            END
        WHEN v.type IN ('object', 'array') THEN ''
        WHEN v.type IN ('true', 'false', 'null') THEN v.type
        WHEN v.type IN ('integer', 'real') AND v.atom < 0 THEN '(' || json_quote(v.atom) || ')'
        ELSE json_quote(v.atom)
    END
FROM old_values AS v
JOIN old_conditions AS c ON c.id = v.condition_id
LEFT JOIN old_values AS p ON p.condition_id = v.condition_id AND p.id = v.parent;

-- What is written after a value, behind the last value inside it; the innermost first.
INSERT INTO old_texts
WITH RECURSIVE inside (condition_id, outer_id, id) AS (
    SELECT condition_id, id, id FROM old_values
    UNION ALL
    SELECT v.condition_id, inside.outer_id, v.id
    FROM inside
    JOIN old_values AS v ON v.condition_id = inside.condition_id AND v.parent = inside.id
)
SELECT
    v.condition_id,
    last.id,
    -v.id,
    CASE
        WHEN v.key IN ('similar', 'get', 'scope', 'depth', 'threshold', 'regex', 'flags') THEN ''
        WHEN v.key = 'toLowerCase' THEN '.toLowerCase()'
        WHEN v.key = 'length' THEN '.length'
        WHEN v.key NOT IN ('match_keys', 'match_keys_all') THEN ')'
        WHEN json_extract(p.value, '$.depth') IS NOT NULL THEN
            '], "' || ifnull(json_extract(p.value, '$.scope'), 'any') || '", ' || json_extract(p.value, '$.depth') || ')'
        ELSE ifnull('], "' || json_extract(p.value, '$.scope') || '")', '])')
    END
FROM (SELECT condition_id, outer_id, max(id) AS id FROM inside GROUP BY condition_id, outer_id) AS last
JOIN old_values AS v ON v.condition_id = last.condition_id AND v.id = last.outer_id
JOIN old_values AS p ON p.condition_id = v.condition_id AND p.id = v.parent AND p.type = 'object'
JOIN old_conditions AS c ON c.id = v.condition_id;

CREATE TABLE new_triggers (memory_id INTEGER, trash_id INTEGER, javascript TEXT);

INSERT INTO new_triggers
SELECT c.memory_id, c.trash_id, group_concat(t.text, '')
FROM old_conditions AS c
JOIN (SELECT * FROM old_texts ORDER BY condition_id, at, closing IS NOT NULL, closing) AS t ON t.condition_id = c.id
GROUP BY c.id;

UPDATE long_term_memories
SET "trigger" = (SELECT javascript FROM new_triggers WHERE memory_id = long_term_memories.id)
WHERE id IN (SELECT memory_id FROM new_triggers WHERE length(javascript) <= 16384);

UPDATE trash
SET parts = json_set(
    parts, '$.long_term_memories[0].trigger', (SELECT javascript FROM new_triggers WHERE trash_id = trash.id)
)
WHERE id IN (SELECT trash_id FROM new_triggers WHERE length(javascript) <= 16384);

DROP TABLE new_triggers;
DROP TABLE old_texts;
DROP TABLE old_values;
DROP TABLE old_conditions;


-- ## wakes

-- What woke when: the latest wakes of long-term memories. And memories that rest after they were woken.

CREATE TABLE wakes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES long_term_memories (id) ON DELETE CASCADE,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    client TEXT,
    session TEXT,
    -- Which keys were found in whose message, or which date it was; nothing of what was said.
    why TEXT NOT NULL
) STRICT;

CREATE INDEX wakes_by_memory ON wakes (memory_id, at);

-- Minutes for which it is not woken again in the same session; 0: it is woken each time.
ALTER TABLE long_term_memories ADD COLUMN cooldown INTEGER NOT NULL DEFAULT 0 CHECK (cooldown BETWEEN 0 AND 525600);

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER long_term_memories_deleted_wakes AFTER DELETE ON long_term_memories BEGIN
    DELETE FROM wakes WHERE memory_id = OLD.id;
END;

-- An INSERT OR REPLACE removes the old row without waking the delete trigger.
CREATE TRIGGER long_term_memories_inserted_wakes AFTER INSERT ON long_term_memories BEGIN
    DELETE FROM wakes WHERE memory_id NOT IN (SELECT id FROM long_term_memories);
END;

CREATE TRIGGER wakes_placed BEFORE INSERT ON wakes
WHEN NOT EXISTS (SELECT 1 FROM long_term_memories WHERE id = NEW.memory_id)
BEGIN
    SELECT RAISE (ABORT, 'memory_id must be the id of a long-term memory: insert that first');
END;

CREATE VIEW readable_wakes AS
SELECT
    replace(substr(w.at, 1, 16), 'T', ' ') AS woken,
    c.name AS conversation,
    m.name AS memory,
    w.why,
    ifnull(w.client, '-') AS client,
    ifnull(w.session, '-') AS session
FROM wakes AS w
JOIN long_term_memories AS m ON m.id = w.memory_id
JOIN conversations AS c ON c.id = m.conversation_id;


-- ## hooks

-- What hooks have put into the context of a model, and what they have kept without being asked.

-- A row for each text. It holds no words of its own: what is erased is gone from here too.
CREATE TABLE hook_injections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL CHECK (length(session) <= 200),
    event TEXT NOT NULL CHECK (event IN ('SessionStart', 'UserPromptSubmit')),
    kind TEXT NOT NULL CHECK (kind IN ('briefing', 'memory', 'fact', 'turn', 'suggestion')),
    -- 0 for a briefing as a whole: what it says has rows of its own, with 0 tokens. Of a suggestion, the short-term memory
    -- of the turn in which something was stated.
    item_id INTEGER NOT NULL,
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    injected_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- 0: the client has emptied or shortened the context since, so it may be said again.
    in_context INTEGER NOT NULL DEFAULT 1 CHECK (in_context IN (0, 1))
) STRICT;

CREATE INDEX hook_injections_by_session ON hook_injections (session, kind, item_id);

-- The marks of what was kept. A mark outlives its row, which may come back out of the trash.
CREATE TABLE hook_captures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('short_term', 'fact')),
    item_id INTEGER NOT NULL,
    session TEXT NOT NULL CHECK (length(session) <= 200),
    event TEXT NOT NULL CHECK (event IN ('Stop', 'PreCompact', 'SessionEnd')),
    captured_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (kind, item_id)
) STRICT;

CREATE INDEX hook_captures_by_session ON hook_captures (session);

CREATE TRIGGER hook_captures_capped AFTER INSERT ON hook_captures BEGIN
    DELETE FROM hook_captures WHERE id <= NEW.id - 50000;
END;


-- ## learning

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


-- ## hook wakes

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


-- ## changes

-- Edits and merges, with how it was before: for 30 days they can be undone, as deletions can (see `trash`). A fact needs
-- no row here: its history has every value.

CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER REFERENCES memories (id) ON DELETE CASCADE,
    long_term_id INTEGER REFERENCES long_term_memories (id) ON DELETE CASCADE,
    action TEXT NOT NULL CHECK (action IN ('edited', 'merged')),
    -- The columns that an edit can change, as they were.
    before TEXT NOT NULL CHECK (json_valid(before) AND json_type(before) = 'object'),
    -- Of a merge: what was merged into the memory.
    draft TEXT CHECK (draft IS NULL OR (json_valid(draft) AND json_type(draft) = 'object')),
    changed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(changed_at) IS NOT NULL),
    changed_by TEXT,
    session TEXT,
    CHECK ((memory_id IS NULL) <> (long_term_id IS NULL)),
    CHECK ((draft IS NULL) = (action = 'edited'))
) STRICT;

CREATE INDEX changes_by_memory ON changes (memory_id);
CREATE INDEX changes_by_long_term ON changes (long_term_id);
CREATE INDEX changes_by_moment ON changes (changed_at);

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER changes_placed BEFORE INSERT ON changes
WHEN NOT EXISTS (SELECT 1 FROM memories WHERE id = NEW.memory_id)
    AND NOT EXISTS (SELECT 1 FROM long_term_memories WHERE id = NEW.long_term_id)
BEGIN
    SELECT RAISE (ABORT, 'memory_id or long_term_id must be the id of what was changed: insert that first');
END;

CREATE TRIGGER memories_deleted_changes AFTER DELETE ON memories BEGIN
    DELETE FROM changes WHERE memory_id = OLD.id;
END;

CREATE TRIGGER long_term_memories_deleted_changes AFTER DELETE ON long_term_memories BEGIN
    DELETE FROM changes WHERE long_term_id = OLD.id;
END;

-- An INSERT OR REPLACE removes the old row without waking the delete trigger.
CREATE TRIGGER long_term_memories_inserted_changes AFTER INSERT ON long_term_memories BEGIN
    DELETE FROM changes
    WHERE long_term_id IS NOT NULL AND long_term_id NOT IN (SELECT id FROM long_term_memories);
END;

CREATE TRIGGER changes_erased AFTER DELETE ON changes BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE VIEW readable_changes AS
SELECT
    c.id,
    CASE WHEN c.memory_id IS NULL THEN 'long-term' ELSE 'memory' END AS kind,
    ifnull(c.memory_id, c.long_term_id) AS item_id,
    c.action,
    ifnull(json_extract(c.before, '$.content'), json_extract(c.before, '$.prompt')) AS before,
    ifnull(json_extract(c.draft, '$.content'), '-') AS merged,
    replace(substr(c.changed_at, 1, 16), 'T', ' ') AS changed,
    ifnull(c.changed_by, '-') AS changed_by
FROM changes AS c;


-- ## origins

-- Where an imported item comes from: the program or the file, and the id that it has there. What is imported once is known again.

CREATE TABLE origins (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'turn', 'short_term', 'long_term', 'fact')),
    item_id INTEGER NOT NULL,
    -- 'memory-server': another file of ours, where the item has this id and this moment.
    source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 100),
    source_id TEXT NOT NULL CHECK (length(source_id) BETWEEN 1 AND 500),
    -- Of the text as it was imported: it tells whether it has changed there, or here, since.
    digest TEXT NOT NULL DEFAULT '',
    imported_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (kind, source, source_id)
) STRICT;

CREATE INDEX origins_by_item ON origins (kind, item_id, source);

-- What lies in the trash keeps its origin: it may come back, and no import brings it back by itself. What is erased has none.
CREATE TRIGGER memories_deleted_origins AFTER DELETE ON memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'memory' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'memory' AND item_id = OLD.id;
END;

CREATE TRIGGER turns_deleted_origins AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'turn' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'turn' AND item_id = OLD.id;
END;

CREATE TRIGGER short_term_memories_deleted_origins AFTER DELETE ON short_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'short_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'short_term' AND item_id = OLD.id;
END;

CREATE TRIGGER long_term_memories_deleted_origins AFTER DELETE ON long_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'long_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM origins WHERE kind = 'long_term' AND item_id = OLD.id;
END;

CREATE TRIGGER facts_deleted_origins AFTER DELETE ON facts BEGIN
    DELETE FROM origins WHERE kind = 'fact' AND item_id = OLD.id;
END;

CREATE TRIGGER trash_deleted_origins AFTER DELETE ON trash BEGIN
    DELETE FROM origins
    WHERE kind = OLD.kind AND item_id = OLD.item_id AND NOT EXISTS (
        SELECT 1 FROM memories WHERE OLD.kind = 'memory' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM turns WHERE OLD.kind = 'turn' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM short_term_memories WHERE OLD.kind = 'short_term' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM long_term_memories WHERE OLD.kind = 'long_term' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM trash WHERE kind = OLD.kind AND item_id = OLD.item_id
    );
END;

CREATE TRIGGER origins_erased AFTER DELETE ON origins BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE VIEW readable_origins AS
SELECT
    replace(o.kind, '_', '-') AS kind,
    o.item_id,
    o.source AS imported_from,
    o.source_id,
    replace(substr(o.imported_at, 1, 16), 'T', ' ') AS imported,
    CASE o.kind
        WHEN 'memory' THEN (SELECT content FROM memories WHERE id = o.item_id)
        WHEN 'turn' THEN (SELECT summary FROM turns WHERE id = o.item_id)
        WHEN 'short_term' THEN (SELECT text FROM short_term_memories WHERE id = o.item_id)
        WHEN 'long_term' THEN (SELECT name FROM long_term_memories WHERE id = o.item_id)
        WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts WHERE id = o.item_id)
    END AS text
FROM origins AS o;


-- ## bits changes

-- Which rows of `embedding_bits` have changed, for processes that hold a copy of them. A row that was written with another
-- change has another mark: a file that was restored has other marks than the one that was read.

CREATE TABLE bits_changes (
    id INTEGER PRIMARY KEY,
    memory_id INTEGER NOT NULL,
    mark INTEGER NOT NULL DEFAULT (random())
) STRICT;

-- No change: where every copy begins that was made before the first one.
INSERT INTO bits_changes (id, memory_id) VALUES (0, 0);

CREATE TRIGGER embedding_bits_inserted AFTER INSERT ON embedding_bits BEGIN
    INSERT INTO bits_changes (memory_id) VALUES (NEW.memory_id);
END;

CREATE TRIGGER embedding_bits_updated AFTER UPDATE ON embedding_bits BEGIN
    INSERT INTO bits_changes (memory_id) VALUES (NEW.memory_id);
    INSERT INTO bits_changes (memory_id) SELECT OLD.memory_id WHERE OLD.memory_id <> NEW.memory_id;
END;

CREATE TRIGGER embedding_bits_deleted AFTER DELETE ON embedding_bits BEGIN
    INSERT INTO bits_changes (memory_id) VALUES (OLD.memory_id);
END;

-- A copy that is further behind is read anew. In steps, so that a store touches one page of this table.
CREATE TRIGGER bits_changes_inserted AFTER INSERT ON bits_changes WHEN NEW.id % 1000 = 0 BEGIN
    DELETE FROM bits_changes WHERE id <= NEW.id - 5000;
END;


-- ## counts

-- How many memories there are and which of them a briefing shows: kept by triggers and an index, so that no answer reads
-- all memories.

-- 1 where another memory supersedes or stands for this one. Edges say it; it is repeated here to be counted and indexed.
ALTER TABLE memories ADD COLUMN replaced INTEGER NOT NULL DEFAULT 0 CHECK (replaced IN (0, 1));

UPDATE memories SET replaced = 1
WHERE id IN (SELECT target_id FROM edges WHERE relation IN ('supersedes', 'summarizes') AND valid_to IS NULL);

CREATE TRIGGER edges_replace AFTER INSERT ON edges WHEN NEW.relation IN ('supersedes', 'summarizes') BEGIN
    UPDATE memories
    SET replaced = EXISTS (SELECT 1 FROM edges WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    WHERE id = NEW.target_id;
END;

CREATE TRIGGER edges_replace_others AFTER UPDATE OF target_id, relation, valid_to ON edges
WHEN NEW.relation IN ('supersedes', 'summarizes') OR OLD.relation IN ('supersedes', 'summarizes')
BEGIN
    UPDATE memories
    SET replaced = EXISTS (SELECT 1 FROM edges WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    WHERE id IN (OLD.target_id, NEW.target_id);
END;

CREATE TRIGGER edges_replace_no_more AFTER DELETE ON edges WHEN OLD.relation IN ('supersedes', 'summarizes') BEGIN
    UPDATE memories
    SET replaced = EXISTS (SELECT 1 FROM edges WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    WHERE id = OLD.target_id;
END;

-- Out of the trash it comes as it was; and what somebody sets by hand is what edges say again.
CREATE TRIGGER memories_inserted_replaced AFTER INSERT ON memories
WHEN NEW.replaced <> EXISTS (SELECT 1 FROM edges WHERE target_id = NEW.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
BEGIN
    UPDATE memories SET replaced = 1 - NEW.replaced WHERE id = NEW.id;
END;

CREATE TRIGGER memories_set_replaced AFTER UPDATE OF replaced ON memories
WHEN NEW.replaced <> EXISTS (SELECT 1 FROM edges WHERE target_id = NEW.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
BEGIN
    UPDATE memories SET replaced = 1 - NEW.replaced WHERE id = NEW.id;
END;

-- How many memories of a project ('' is none), type and importance there are, and how many of these are replaced.
CREATE TABLE memory_counts (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    importance INTEGER NOT NULL,
    number INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    PRIMARY KEY (project, type, importance)
) STRICT, WITHOUT ROWID;

INSERT INTO memory_counts (project, type, importance, number, replaced)
SELECT ifnull(project, ''), type, importance, count(*), sum(replaced) FROM memories GROUP BY 1, 2, 3;

-- The memory that an INSERT OR REPLACE overwrites: it goes without waking the delete trigger. Empty in between.
CREATE TABLE memory_overwritten (
    id INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    importance INTEGER NOT NULL,
    replaced INTEGER NOT NULL
) STRICT;

-- The score of a memory is importance x e^(-rate x days) x log2(access_count + 2). All memories of a type fade at the same
-- rate: which of two is ahead never changes while nobody uses them. So this number orders those of a type and an
-- importance: rate x day + ln(log2(access_count + 2)). Beyond 40 accesses the second term is an upper bound. (The stock
-- program may have no logarithm.)
ALTER TABLE memories ADD COLUMN standing REAL GENERATED ALWAYS AS (
    CASE type WHEN 'decision' THEN 0.001 WHEN 'preference' THEN 0.002 WHEN 'learning' THEN 0.003 WHEN 'pattern' THEN 0.005 WHEN 'error' THEN 0.01 WHEN 'observation' THEN 0.05 END
        * (julianday(ifnull(occurred_at, created_at)) - 2460000.5)
        + CASE access_count
                WHEN 0 THEN 0.0
                WHEN 1 THEN 0.4605607481983633  WHEN 2 THEN 0.6931471805599453  WHEN 3 THEN 0.8423979159087749  WHEN 4 THEN 0.9497110013643236
                WHEN 5 THEN 1.0322427311599407  WHEN 6 THEN 1.0986122886681098  WHEN 7 THEN 1.1537079287583085  WHEN 8 THEN 1.2005453658296201
                WHEN 9 THEN 1.2411043035053533  WHEN 10 THEN 1.2767480139469902  WHEN 11 THEN 1.3084516553297754  WHEN 12 THEN 1.3369347018590294
                WHEN 13 THEN 1.3627418135330593  WHEN 14 THEN 1.3862943611198906  WHEN 15 THEN 1.4079244453564448  WHEN 16 THEN 1.4278980503833407
                WHEN 17 THEN 1.4464312201037466  WHEN 18 THEN 1.4637016209466132  WHEN 19 THEN 1.4798569745416497  WHEN 20 THEN 1.4950213181434133
                WHEN 21 THEN 1.5092997268764363  WHEN 22 THEN 1.5227819269882117  WHEN 23 THEN 1.5355450964687203  WHEN 24 THEN 1.547656061391121
                WHEN 25 THEN 1.559173036866473  WHEN 26 THEN 1.570147020606335  WHEN 27 THEN 1.5806229184948424  WHEN 28 THEN 1.5906404612832064
                WHEN 29 THEN 1.600234956924539  WHEN 30 THEN 1.6094379124341003  WHEN 31 THEN 1.6182775513226864  WHEN 32 THEN 1.6267792468109024
                WHEN 33 THEN 1.6349658866361918  WHEN 34 THEN 1.642858181924269  WHEN 35 THEN 1.650474930035994  WHEN 36 THEN 1.6578332393214716
                WHEN 37 THEN 1.6649487221712913  WHEN 38 THEN 1.671835661544901  WHEN 39 THEN 1.678507155200067  WHEN 40 THEN 1.6849752410869927
                ELSE CASE
                    WHEN access_count <= 62 THEN 1.79176
                    WHEN access_count <= 94 THEN 1.884789
                    WHEN access_count <= 126 THEN 1.945911
                    WHEN access_count <= 254 THEN 2.079442
                    WHEN access_count <= 510 THEN 2.197225
                    WHEN access_count <= 1022 THEN 2.302586
                    WHEN access_count <= 4094 THEN 2.484907
                    WHEN access_count <= 65534 THEN 2.772589
                    ELSE 4.143135
                END
        END
) VIRTUAL;

CREATE INDEX memories_by_standing ON memories (project, type, importance, standing) WHERE replaced = 0;


-- ## tokens

-- Who may reach the memory over HTTP, and how the tools are used.

-- Only the hash of a token is kept: nobody can read a token out of the file.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Of the person. Several tokens may have the same one, such as one for each machine.
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64), -- SHA-256 of the whole token, in hexadecimal
    prefix TEXT NOT NULL CHECK (length(prefix) BETWEEN 4 AND 20), -- the beginning of the token, by which people know it
    -- Names of the projects that it may see; NULL is all.
    projects TEXT CHECK (projects IS NULL OR (json_valid(projects) AND json_type(projects) = 'array')),
    read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(created_at) IS NOT NULL),
    expires_at TEXT CHECK (expires_at IS NULL OR julianday(expires_at) IS NOT NULL),
    revoked_at TEXT CHECK (revoked_at IS NULL OR julianday(revoked_at) IS NOT NULL),
    last_used TEXT CHECK (last_used IS NULL OR julianday(last_used) IS NOT NULL) -- the day, in UTC
) STRICT;

-- The calls of a day by tool: numbers only. `times` counts them by how long they took.
CREATE TABLE call_counts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    day TEXT NOT NULL CHECK (julianday(day) IS NOT NULL), -- in UTC
    tool TEXT NOT NULL CHECK (length(tool) BETWEEN 1 AND 100),
    calls INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0, -- answered with an error that says what mends it
    failed INTEGER NOT NULL DEFAULT 0, -- a bug of the server
    degraded INTEGER NOT NULL DEFAULT 0, -- answered without what it should have used, such as the embedder
    timed_out INTEGER NOT NULL DEFAULT 0, -- triggers that exceeded their time, or were left for the next search
    milliseconds INTEGER NOT NULL DEFAULT 0, -- of all calls together
    times TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(times) AND json_type(times) = 'array'),
    UNIQUE (day, tool)
) STRICT;

CREATE VIEW readable_call_counts AS
SELECT
    c.day,
    c.tool,
    c.calls,
    c.refused,
    c.failed,
    c.degraded,
    c.timed_out,
    CASE WHEN c.calls > 0 THEN round(1.0 * c.milliseconds / c.calls, 1) END AS milliseconds_each
FROM call_counts AS c;


-- ## persons

-- Whose own a row is, where one server serves several people. NULL: nobody's own. It belongs to its project then, or, where
-- it has none, to the one whose file it is.
--
-- What has a key that is unique has the person in the key: `ana`, the character 31, and what the others have there. So two
-- people have their own `current.task` and their own conversation `default`. Rows from before keep their keys.

ALTER TABLE memories ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE turns ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE trash ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE memory_uses ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE open_questions ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);

-- Only what is somebody's own is in these: other files do not grow.
CREATE INDEX memories_by_person ON memories (person) WHERE person IS NOT NULL;
CREATE INDEX memories_by_person_in_projects ON memories (person) WHERE person IS NOT NULL AND project IS NOT NULL;
CREATE INDEX turns_by_person ON turns (person) WHERE person IS NOT NULL;

-- A wider CHECK is a change of the schema itself that no row can break: see 0011.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(
    sql, 'CHECK (scope IN (''project'', ''session'') OR owner = '''')', 
    'CHECK (scope IN (''project'', ''session'') OR owner = '''' OR (scope = ''global'' AND instr(owner, char(31)) > 1))'
)
WHERE type = 'table' AND name = 'facts';
UPDATE sqlite_schema
SET sql = replace(
    sql, 'CHECK (length(name) BETWEEN 1 AND 200)',
    'CHECK (length(substr(name, instr(name, char(31)) + 1)) BETWEEN 1 AND 200)'
)
WHERE type = 'table' AND name = 'conversations';
PRAGMA writable_schema = RESET;

ALTER TABLE facts ADD COLUMN person TEXT
    GENERATED ALWAYS AS (nullif(substr(owner, 1, instr(owner, char(31)) - 1), '')) VIRTUAL;
ALTER TABLE fact_history ADD COLUMN person TEXT
    GENERATED ALWAYS AS (nullif(substr(owner, 1, instr(owner, char(31)) - 1), '')) VIRTUAL;
ALTER TABLE conversations ADD COLUMN person TEXT
    GENERATED ALWAYS AS (nullif(substr(name, 1, instr(name, char(31)) - 1), '')) VIRTUAL;
CREATE TRIGGER facts_placed AFTER INSERT ON facts
WHEN NEW.scope = 'project' AND NEW.owner <> '' AND NEW.person IS NULL AND NEW.owner NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.owner);
END;

-- The conversations that people have of a project follow its name too.
CREATE TRIGGER projects_renamed_conversations AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    UPDATE OR IGNORE conversations SET name = person || char(31) || substr('project:' || NEW.name, 1, 200)
    WHERE name = person || char(31) || substr('project:' || OLD.name, 1, 200);
    UPDATE trash SET conversation = person || char(31) || substr('project:' || NEW.name, 1, 200)
    WHERE conversation = person || char(31) || substr('project:' || OLD.name, 1, 200);
END;

-- And so do the tokens that have it.
CREATE TRIGGER projects_renamed_tokens AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    UPDATE tokens
    SET projects = (
        SELECT json_group_array(CASE value WHEN OLD.name THEN NEW.name ELSE value END) FROM json_each(tokens.projects)
    )
    WHERE OLD.name IN (SELECT value FROM json_each(tokens.projects));
END;
DROP TABLE memory_counts;
ALTER TABLE memory_overwritten ADD COLUMN person TEXT NOT NULL DEFAULT '';

CREATE TABLE memory_counts (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    importance INTEGER NOT NULL,
    person TEXT NOT NULL,
    number INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    PRIMARY KEY (project, type, importance, person)
) STRICT, WITHOUT ROWID;

INSERT INTO memory_counts (project, type, importance, person, number, replaced)
SELECT ifnull(project, ''), type, importance, ifnull(person, ''), count(*), sum(replaced) FROM memories GROUP BY 1, 2, 3, 4;

-- An insertion that is ignored then leaves a row here, which the next one takes away.
CREATE TRIGGER memories_counted_before BEFORE INSERT ON memories BEGIN
    DELETE FROM memory_overwritten;
    INSERT INTO memory_overwritten (id, project, type, importance, person, replaced)
    SELECT id, ifnull(project, ''), type, importance, ifnull(person, ''), replaced FROM memories WHERE id = NEW.id;
END;

CREATE TRIGGER memories_counted AFTER INSERT ON memories BEGIN
    UPDATE memory_counts
    SET number = number - 1,
        replaced = replaced - (SELECT replaced FROM memory_overwritten WHERE id = NEW.id)
    WHERE (project, type, importance, person) = (
        SELECT project, type, importance, person FROM memory_overwritten WHERE id = NEW.id
    );
    DELETE FROM memory_counts
    WHERE number = 0 AND replaced = 0 AND (project, type, importance, person) = (
        SELECT project, type, importance, person FROM memory_overwritten WHERE id = NEW.id
    );
    DELETE FROM memory_overwritten;
    INSERT INTO memory_counts (project, type, importance, person, number, replaced)
    SELECT ifnull(NEW.project, ''), NEW.type, NEW.importance, ifnull(NEW.person, ''), 0, 0
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_counts
        WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
            AND person = ifnull(NEW.person, '')
    );
    UPDATE memory_counts SET number = number + 1, replaced = replaced + NEW.replaced
    WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
        AND person = ifnull(NEW.person, '');
END;

CREATE TRIGGER memories_recounted AFTER UPDATE OF project, type, importance, person, replaced ON memories
WHEN (ifnull(NEW.project, ''), NEW.type, NEW.importance, ifnull(NEW.person, ''), NEW.replaced)
    <> (ifnull(OLD.project, ''), OLD.type, OLD.importance, ifnull(OLD.person, ''), OLD.replaced)
BEGIN
    INSERT INTO memory_counts (project, type, importance, person, number, replaced)
    SELECT ifnull(NEW.project, ''), NEW.type, NEW.importance, ifnull(NEW.person, ''), 0, 0
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_counts
        WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
            AND person = ifnull(NEW.person, '')
    );
    UPDATE memory_counts SET number = number + 1, replaced = replaced + NEW.replaced
    WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
        AND person = ifnull(NEW.person, '');
    UPDATE memory_counts SET number = number - 1, replaced = replaced - OLD.replaced
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '');
    DELETE FROM memory_counts
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '') AND number = 0 AND replaced = 0;
END;

CREATE TRIGGER memories_counted_no_more AFTER DELETE ON memories BEGIN
    DELETE FROM memory_overwritten;
    UPDATE memory_counts SET number = number - 1, replaced = replaced - OLD.replaced
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '');
    DELETE FROM memory_counts
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '') AND number = 0 AND replaced = 0;
END;


-- ## topics

-- The topic of a fact in a briefing, made of its key as `heading_of`, `is_progress` and `is_overview` of the domain do it,
-- and an index by it: a briefing reads only the first facts of each topic, however many there are.
ALTER TABLE facts ADD COLUMN topic TEXT GENERATED ALWAYS AS (
    CASE
        WHEN key GLOB 'current.block*' THEN 'blocked'
        WHEN key GLOB 'current.task*' THEN 'task'
        WHEN key = 'current' OR key GLOB 'current.*' THEN 'under_way'
        WHEN key = 'discovered' OR key GLOB 'discovered.*' THEN 'found_out'
        WHEN key GLOB 'project.decision*' THEN 'decided'
        WHEN key = 'project' OR key GLOB 'project.*' THEN 'conventions'
        WHEN key IN ('shared', 'ai') OR key GLOB 'shared.*' OR key GLOB 'ai.*' THEN 'shared'
        ELSE 'other'
    END
    || CASE
        WHEN key GLOB 'current.*' AND key NOT GLOB 'current.block*' AND (
            lower(substr(key, 9)) GLOB 'task[._]*'
            OR lower(substr(key, 9)) IN (
                'progress', 'percent', 'percentage', 'completion', 'status', 'state', 'phase', 'stage', 'step', 'steps',
                'substep', 'subtask', 'subtasks', 'next', 'next_step', 'next_steps', 'next_action', 'next_actions',
                'todo', 'todos', 'remaining', 'completed', 'done', 'wip',
                '进度', '状态', '阶段', '步骤', '下一步', '待办', '剩余', '完成度'
            )
        ) THEN '.progress'
        ELSE ''
    END
    || CASE
        -- What follows the last dot.
        WHEN lower(substr(key, 1 + length(rtrim(key, replace(key, '.', ''))))) IN (
            'overview', 'about', 'description', 'summary', 'purpose', 'goal', 'what', '概述', '简介', '目标', '说明'
        ) THEN '.overview'
        ELSE ''
    END
) VIRTUAL;

CREATE INDEX facts_by_topic ON facts (scope, owner, topic, updated_at, expires_at);


-- ## writers

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

DROP TRIGGER facts_rewritten;

DROP TRIGGER facts_deleted;


-- ## server days

-- The last two days on which a server did the background jobs of this file, in days since 1970. What is removed by its
-- age is removed as of the day before today: a clock that leaps for one start removes nothing.

CREATE TABLE server_days (
    day INTEGER PRIMARY KEY
) STRICT;


-- ## likely updates

-- A memory and a fact, a turn or another memory of which the newer one probably replaces the older one, until a client has
-- said so. It holds no words: what is erased is gone from here too. A row outlives both, which may come back out of the
-- trash.
CREATE TABLE likely_updates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('memory', 'fact', 'turn')),
    item_id INTEGER NOT NULL,
    -- 1: the memory is the newer one.
    newer INTEGER NOT NULL CHECK (newer IN (0, 1)),
    found_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (memory_id, kind, item_id)
) STRICT;

CREATE INDEX likely_updates_by_moment ON likely_updates (found_at);

CREATE TRIGGER likely_updates_capped AFTER INSERT ON likely_updates BEGIN
    DELETE FROM likely_updates WHERE id <= NEW.id - 1000;
END;

CREATE VIEW readable_likely_updates AS
SELECT
    u.id,
    replace(substr(u.found_at, 1, 16), 'T', ' ') AS found,
    m.content AS memory,
    CASE WHEN u.newer THEN 'may replace' ELSE 'may be replaced by' END AS relation,
    u.kind,
    CASE u.kind
        WHEN 'memory' THEN (SELECT content FROM memories WHERE id = u.item_id)
        WHEN 'fact' THEN (SELECT key || ': ' || value FROM facts WHERE id = u.item_id)
        WHEN 'turn' THEN (SELECT summary FROM turns WHERE id = u.item_id)
    END AS text
FROM likely_updates AS u
JOIN memories AS m ON m.id = u.memory_id;


-- ## token vectors

-- The vectors of the tokens of memories, by which a search reads its best candidates token by token. They are made by the
-- run that makes the embedding, and go with it: whatever removes an embedding removes them.
CREATE TABLE token_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    text_id INTEGER NOT NULL, -- of the memory, or of a part after the first
    memory_id INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    vectors BLOB NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (space_id, text_id)
) STRICT;

CREATE INDEX token_vectors_by_memory ON token_vectors (memory_id);

CREATE TRIGGER embeddings_deleted AFTER DELETE ON embeddings BEGIN
    DELETE FROM token_vectors WHERE space_id = OLD.space_id AND text_id = OLD.memory_id;
END;

CREATE TRIGGER part_embeddings_deleted AFTER DELETE ON part_embeddings BEGIN
    DELETE FROM token_vectors WHERE space_id = OLD.space_id AND text_id = OLD.part_id;
END;


-- ## bits of all kinds

-- Which vectors of facts, turns, short-term memories and parts have changed, for processes that hold a copy of their signs:
-- as `bits_changes` for memories.
CREATE TABLE vector_changes (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL, -- the table of the vector
    item_id INTEGER NOT NULL,
    mark INTEGER NOT NULL DEFAULT (random())
) STRICT;

-- No change: where every copy begins that was made before the first one.
INSERT INTO vector_changes (id, source, item_id) VALUES (0, '', 0);

CREATE TRIGGER part_embeddings_bits_inserted AFTER INSERT ON part_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('part_embeddings', NEW.part_id);
END;

CREATE TRIGGER part_embeddings_bits_updated AFTER UPDATE ON part_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('part_embeddings', NEW.part_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'part_embeddings', OLD.part_id WHERE OLD.part_id <> NEW.part_id;
END;

CREATE TRIGGER part_embeddings_bits_deleted AFTER DELETE ON part_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('part_embeddings', OLD.part_id);
END;

CREATE TRIGGER turn_embeddings_bits_inserted AFTER INSERT ON turn_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_embeddings', NEW.turn_id);
END;

CREATE TRIGGER turn_embeddings_bits_updated AFTER UPDATE ON turn_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_embeddings', NEW.turn_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'turn_embeddings', OLD.turn_id WHERE OLD.turn_id <> NEW.turn_id;
END;

CREATE TRIGGER turn_embeddings_bits_deleted AFTER DELETE ON turn_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_embeddings', OLD.turn_id);
END;

CREATE TRIGGER turn_message_embeddings_bits_inserted AFTER INSERT ON turn_message_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_message_embeddings', NEW.turn_id);
END;

CREATE TRIGGER turn_message_embeddings_bits_updated AFTER UPDATE ON turn_message_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_message_embeddings', NEW.turn_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'turn_message_embeddings', OLD.turn_id WHERE OLD.turn_id <> NEW.turn_id;
END;

CREATE TRIGGER turn_message_embeddings_bits_deleted AFTER DELETE ON turn_message_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_message_embeddings', OLD.turn_id);
END;

CREATE TRIGGER fact_embeddings_bits_inserted AFTER INSERT ON fact_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('fact_embeddings', NEW.fact_id);
END;

CREATE TRIGGER fact_embeddings_bits_updated AFTER UPDATE ON fact_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('fact_embeddings', NEW.fact_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'fact_embeddings', OLD.fact_id WHERE OLD.fact_id <> NEW.fact_id;
END;

CREATE TRIGGER fact_embeddings_bits_deleted AFTER DELETE ON fact_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('fact_embeddings', OLD.fact_id);
END;

CREATE TRIGGER short_term_embeddings_bits_inserted AFTER INSERT ON short_term_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('short_term_embeddings', NEW.memory_id);
END;

CREATE TRIGGER short_term_embeddings_bits_updated AFTER UPDATE ON short_term_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('short_term_embeddings', NEW.memory_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'short_term_embeddings', OLD.memory_id WHERE OLD.memory_id <> NEW.memory_id;
END;

CREATE TRIGGER short_term_embeddings_bits_deleted AFTER DELETE ON short_term_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('short_term_embeddings', OLD.memory_id);
END;

-- A copy that is further behind is read anew. In steps, so that a store touches one page of this table.
CREATE TRIGGER vector_changes_inserted AFTER INSERT ON vector_changes WHEN NEW.id % 1000 = 0 BEGIN
    DELETE FROM vector_changes WHERE id <= NEW.id - 10000;
END;


-- ## tokens of turns and facts

-- The vectors of the tokens of turns and facts, as `token_vectors` has those of memories. They go with the embedding.
CREATE TABLE turn_token_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    vectors BLOB NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (space_id, turn_id)
) STRICT;

CREATE INDEX turn_token_vectors_by_turn ON turn_token_vectors (turn_id);

CREATE TRIGGER turn_embeddings_deleted AFTER DELETE ON turn_embeddings BEGIN
    DELETE FROM turn_token_vectors WHERE space_id = OLD.space_id AND turn_id = OLD.turn_id;
END;

CREATE TABLE fact_token_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    vectors BLOB NOT NULL,
    PRIMARY KEY (space_id, fact_id)
) STRICT;

CREATE INDEX fact_token_vectors_by_fact ON fact_token_vectors (fact_id);

CREATE TRIGGER fact_embeddings_deleted AFTER DELETE ON fact_embeddings BEGIN
    DELETE FROM fact_token_vectors WHERE space_id = OLD.space_id AND fact_id = OLD.fact_id;
END;


-- ## events

-- What was done to many things at once, and is undone as one: an import, a merge, and what was forgotten together. `changes`,
-- `trash` and `fact_history` hold one thing a row, and none of them says that a thing was added, and with which others.

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    action TEXT NOT NULL CHECK (action IN ('imported', 'forgot')),
    -- The format of an import, or what chose the things that were forgotten.
    source TEXT NOT NULL,
    path TEXT NOT NULL DEFAULT '',
    -- How many of which kind: 'memories added 12, updated 1'.
    counts TEXT NOT NULL DEFAULT '',
    happened_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(happened_at) IS NOT NULL),
    happened_by TEXT,
    session TEXT,
    undone_at TEXT
) STRICT;

CREATE INDEX events_by_moment ON events (happened_at);

-- What an event did to each thing. They are there for as long as it can be undone.
CREATE TABLE event_steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    did TEXT NOT NULL CHECK (did IN ('added', 'changed', 'ended', 'returned')),
    kind TEXT NOT NULL,
    item_id INTEGER NOT NULL,
    -- The record as it was, where it was changed; where from it came, if it ended.
    before TEXT CHECK (before IS NULL OR json_valid(before)),
    -- A digest of what the thing says since: it tells whether somebody has changed it.
    after TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX event_steps_by_event ON event_steps (event_id);
CREATE INDEX event_steps_by_item ON event_steps (kind, item_id);

-- What is erased leaves no text here. What lies in the trash may come back.
CREATE TRIGGER memories_deleted_steps AFTER DELETE ON memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'memory' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'memory' AND item_id = OLD.id;
END;

CREATE TRIGGER turns_deleted_steps AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'turn' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'turn' AND item_id = OLD.id;
END;

CREATE TRIGGER short_term_memories_deleted_steps AFTER DELETE ON short_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'short_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'short_term' AND item_id = OLD.id;
END;

CREATE TRIGGER long_term_memories_deleted_steps AFTER DELETE ON long_term_memories
WHEN NOT EXISTS (SELECT 1 FROM trash WHERE kind = 'long_term' AND item_id = OLD.id)
BEGIN
    DELETE FROM event_steps WHERE kind = 'long_term' AND item_id = OLD.id;
END;

CREATE TRIGGER fact_history_deleted_steps AFTER DELETE ON fact_history BEGIN
    DELETE FROM event_steps WHERE kind = 'fact' AND item_id = OLD.fact_id;
END;

-- The value of an expired fact is taken out of its history.
CREATE TRIGGER fact_history_blanked_steps AFTER UPDATE OF value ON fact_history WHEN NEW.value <> OLD.value BEGIN
    DELETE FROM event_steps WHERE kind = 'fact' AND item_id = OLD.fact_id;
END;

CREATE TRIGGER trash_deleted_steps AFTER DELETE ON trash BEGIN
    DELETE FROM event_steps
    WHERE kind = OLD.kind AND item_id = OLD.item_id AND NOT EXISTS (
        SELECT 1 FROM memories WHERE OLD.kind = 'memory' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM turns WHERE OLD.kind = 'turn' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM short_term_memories WHERE OLD.kind = 'short_term' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM long_term_memories WHERE OLD.kind = 'long_term' AND id = OLD.item_id
        UNION ALL
        SELECT 1 FROM trash WHERE kind = OLD.kind AND item_id = OLD.item_id
    );
END;

CREATE TRIGGER event_steps_erased AFTER DELETE ON event_steps WHEN OLD.before IS NOT NULL BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

-- The file that has the item, and the heading or the entity under which it stands there: `~/CLAUDE.md#Style`.
-- An item that stands there no longer has ended.
ALTER TABLE origins ADD COLUMN place TEXT NOT NULL DEFAULT '';

CREATE INDEX origins_by_place ON origins (source, place);

CREATE VIEW readable_events AS
SELECT
    CASE action WHEN 'imported' THEN 'i' ELSE 'g' END || id AS event,
    replace(substr(happened_at, 1, 16), 'T', ' ') AS happened,
    ifnull(happened_by, '-') AS happened_by,
    action,
    source,
    path,
    counts,
    CASE WHEN undone_at IS NULL THEN '-' ELSE replace(substr(undone_at, 1, 16), 'T', ' ') END AS undone
FROM events;


-- ## marks

-- Which turns were read from transcripts: searches and lists of what was stored leave them out, and need not look at each turn.
ALTER TABLE turns ADD COLUMN transcript INTEGER
GENERATED ALWAYS AS (substr(ifnull(created_by, ''), -12) = '(transcript)') VIRTUAL;

CREATE INDEX turns_by_transcript ON turns (transcript, person);

-- The digest of what the file of a memory says, as far as it was written back; NULL: corrections are not written back to it.
ALTER TABLE origins ADD COLUMN written TEXT;

CREATE INDEX origins_written ON origins (item_id) WHERE written IS NOT NULL;


-- ## trust

-- Who said a text first: 'typed', 'told', 'seen', 'web HOST', 'mcp:NAME', 'imported:FORMAT', 'inferred', or 'unknown', as of
-- what is from before. The program stamps it, and no caller can: `created_by` holds what a client calls itself.

ALTER TABLE memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE facts ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE fact_history ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200); -- of the value
ALTER TABLE turns ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE short_term_memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE long_term_memories ADD COLUMN origin TEXT NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
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
CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    DELETE FROM fact_words WHERE rowid = OLD.id;
    INSERT INTO fact_history
        (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, writer, origin)
    VALUES (
        OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags, OLD.expires_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), OLD.writer, OLD.origin
    );
END;


-- ## anchors

-- What of the working tree a memory or a fact speaks of, as it stood there when it was written: files, and lines that hold
-- a name. A list of objects with name, path, line, digests, value, commit and branch: see docs/ground.md. `project` is the
-- key of the project in whose tree it was seen: a file of the same name in another one is another file.
CREATE TABLE memory_anchors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES memories (id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    anchors TEXT NOT NULL CHECK (json_valid(anchors)),
    observed_at TEXT NOT NULL
) STRICT;

CREATE TABLE fact_anchors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fact_id INTEGER NOT NULL UNIQUE REFERENCES facts (id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    anchors TEXT NOT NULL CHECK (json_valid(anchors)),
    observed_at TEXT NOT NULL
) STRICT;

-- Another text speaks of something else.
CREATE TRIGGER memory_anchors_reworded AFTER UPDATE OF content ON memories WHEN OLD.content IS NOT NEW.content BEGIN
    DELETE FROM memory_anchors WHERE memory_id = OLD.id;
END;

CREATE TRIGGER fact_anchors_reworded AFTER UPDATE OF value ON facts WHEN OLD.value IS NOT NEW.value BEGIN
    DELETE FROM fact_anchors WHERE fact_id = OLD.id;
END;


-- ## acts

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


-- ## rules

-- A long-term memory whose trigger reads `act` is a rule: before an act of an assistant that it holds, its prompt is said, a
-- person is asked, or the act is denied. `holds` and `passes` are acts on which it was tried. Until a person confirms a
-- rule, it does no more than say. `off`: a person has switched it off.
CREATE TABLE rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES long_term_memories (id) ON DELETE CASCADE,
    effect TEXT NOT NULL CHECK (effect IN ('say', 'ask', 'deny')),
    holds TEXT NOT NULL CHECK (json_valid(holds)),
    passes TEXT NOT NULL CHECK (json_valid(passes)),
    confirmed_at TEXT,
    off INTEGER NOT NULL DEFAULT 0 CHECK (off IN (0, 1))
) STRICT;

-- What rules did, the last ones. `act` is cut, and without credentials. `overruled_at`: the act ran all the same.
CREATE TABLE rule_hits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES long_term_memories (id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    client TEXT,
    session TEXT,
    effect TEXT NOT NULL,
    act TEXT NOT NULL,
    overruled_at TEXT
) STRICT;
CREATE INDEX rule_hits_of ON rule_hits (memory_id);

-- A person has confirmed these words and this trigger, no others.
CREATE TRIGGER rules_reworded AFTER UPDATE OF prompt, "trigger" ON long_term_memories
WHEN OLD.prompt IS NOT NEW.prompt OR OLD."trigger" IS NOT NEW."trigger" BEGIN
    UPDATE rules SET confirmed_at = NULL WHERE memory_id = OLD.id;
END;
