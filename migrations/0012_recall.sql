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

DROP TRIGGER short_term_memories_erased;
CREATE TRIGGER short_term_memories_erased AFTER DELETE ON short_term_memories BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'short_term_words');
END;

DROP TRIGGER short_term_memories_erased_in_part;
CREATE TRIGGER short_term_memories_erased_in_part AFTER UPDATE OF text ON short_term_memories
WHEN NEW.text <> OLD.text
BEGIN
    UPDATE erasures SET asked = asked + 1 WHERE what IN ('file', 'short_term_words');
END;
