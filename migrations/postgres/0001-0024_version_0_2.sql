-- Everything of version 0.2.0, the first that runs on PostgreSQL.


-- ## tables

-- All tables, who sees their rows, and the numbers of rows. What belongs to one team is one tenant.
--
-- A transaction says who acts, with set_config(…, is_local): memory.tenant, memory.person ('' is the owner, who sees
-- all), memory.projects (of a person: an array of names, or '*' for all) and memory.now. It acts as the role
-- memory_server, whom row-level security binds. Triggers are of the owner of the tables: they see all tenants, so each
-- names the tenant.

-- The order of the bytes, as in SQLite, whatever the locale of the database.
CREATE DOMAIN exact_text AS text COLLATE "C";

CREATE FUNCTION tenant() RETURNS int LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT current_setting('memory.tenant')::int $$;

CREATE FUNCTION person() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT current_setting('memory.person') $$;

-- Whether a project is one of the person's. Repeats has() of domain/rights.py.
CREATE FUNCTION has_project(name text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN coalesce(name, '') = '' THEN false
        WHEN current_setting('memory.projects') = '*' THEN true
        ELSE name = ANY (current_setting('memory.projects')::text[])
    END
$$;

-- The moment when the transaction began, by the clock of the server of the memory.
CREATE FUNCTION moment() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT current_setting('memory.now') $$;

-- JSON that a statement may ask; NULL where it cannot be read. It is kept as text: jsonb knows no character U+0000.
CREATE FUNCTION readable_json(given text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN given::jsonb;
EXCEPTION WHEN OTHERS THEN
    BEGIN
        RETURN replace(given, '\u0000', '\ufffd')::jsonb;
    EXCEPTION WHEN OTHERS THEN
        RETURN NULL;
    END;
END
$$;

-- A moment in the form of the server (2026-12-31T23:59:00.000Z), whose order as text is that of the moments; NULL where
-- it is none. Reads the forms that SQLite reads: what has no zone is in UTC, and a number is a julian day.
CREATE FUNCTION read_moment(given text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    part text[] := regexp_match(
        given,
        '^(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:^|[ \tT]+)(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*(?:([+-])(\d\d):(\d\d)|[zZ])?)?\s*$'
    );
    day timestamp;
    seconds double precision;
BEGIN
    IF given ~ '^\s*[+-]?\d+(\.\d*)?\s*$' THEN
        IF given::double precision NOT BETWEEN 1721059.5 AND 5373484.4999999 THEN -- the years 0 to 9999
            RETURN CASE WHEN given::double precision BETWEEN 0 AND 1721059.5 THEN '' END; -- before all others
        END IF;
        day := timestamp '1970-01-01' + round(((given::double precision - 2440587.5) * 86400000)::numeric)::bigint
            * interval '1 millisecond';
    ELSIF part IS NULL OR part[1] IS NULL AND part[4] IS NULL OR part[2]::int NOT BETWEEN 1 AND 12
        OR part[3]::int NOT BETWEEN 1 AND 31 OR part[4]::int > 24 OR part[5]::int > 59
        OR part[4]::int = 24 AND (part[5]::int > 0 OR part[6]::double precision > 0)
        OR part[6]::double precision >= 60 OR part[8]::int > 14 OR part[9]::int > 59
    THEN
        RETURN NULL;
    ELSE
        day := make_timestamp(greatest(1, coalesce(part[1]::int, 2000)), coalesce(part[2]::int, 1), 1, 0, 0, 0)
            + (coalesce(part[3]::int, 1) - 1) * interval '1 day'; -- the 31st of a shorter month is one of the next
        seconds := 3600 * coalesce(part[4]::int, 0) + 60 * coalesce(part[5]::int, 0)
            + coalesce(part[6]::double precision, 0);
        IF part[7] IS NOT NULL THEN
            seconds := seconds - (part[7] || '1')::int * (3600 * part[8]::int + 60 * part[9]::int);
        END IF;
        day := day + round((1000 * seconds)::numeric)::bigint * interval '1 millisecond';
    END IF;
    RETURN to_char(day, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
END
$$;

-- The same, and at once where it has that form already.
CREATE FUNCTION as_moment(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN length(given) = 24 AND right(given, 1) = 'Z' THEN given ELSE read_moment(given) END COLLATE "C";
END;

-- Days since the julian day 2460000.5 until a moment in the form of the server.
CREATE FUNCTION days_of(at text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT (
        extract(epoch FROM make_timestamp(
            substr(at, 1, 4)::int, substr(at, 6, 2)::int, substr(at, 9, 2)::int, substr(at, 12, 2)::int,
            substr(at, 15, 2)::int, substr(at, 18, 6)::double precision
        ))::double precision - 1677283200
    ) / 86400;
END;

-- The share of its score that a memory of a type loses each day: see domain/scoring.py.
CREATE FUNCTION decay_of(type text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE type
        WHEN 'decision' THEN 0.001 WHEN 'preference' THEN 0.002 WHEN 'learning' THEN 0.003
        WHEN 'pattern' THEN 0.005 WHEN 'error' THEN 0.01 WHEN 'observation' THEN 0.05
    END::double precision;
END;

-- By this, memories of one type and importance are in the order of their scores on every day; but one whose moment is
-- still to come has the score of its moment.
CREATE FUNCTION standing_of(type text, at text, accesses bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT decay_of(type) * days_of(as_moment(at)) + ln(ln(accesses + 2) / ln(2));
END;

CREATE TABLE tenants (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name exact_text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    created_at exact_text NOT NULL
);

-- Ids begin with 1 in each tenant, and none is used twice: the highest that was ever deleted stands here.
CREATE TABLE deleted_ids (
    tenant_id int NOT NULL,
    name exact_text NOT NULL,
    highest bigint NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

CREATE FUNCTION next_id(table_name text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    highest bigint;
BEGIN
    EXECUTE format('SELECT max(id) FROM %I WHERE tenant_id = $1', table_name) INTO highest USING tenant();
    RETURN 1 + greatest(
        coalesce(highest, 0),
        coalesce((SELECT d.highest FROM deleted_ids AS d WHERE d.tenant_id = tenant() AND d.name = table_name), 0)
    );
END
$$;

CREATE FUNCTION keep_deleted_id() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO deleted_ids (tenant_id, name, highest)
    SELECT tenant_id, TG_TABLE_NAME, max(id) FROM gone GROUP BY tenant_id
    ON CONFLICT (tenant_id, name) DO UPDATE SET highest = excluded.highest
    WHERE excluded.highest > deleted_ids.highest;
    RETURN NULL;
END
$$;

-- Typed memories

CREATE TABLE memories (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('memories'),
    content exact_text NOT NULL CHECK (length(content) BETWEEN 1 AND 100000),
    type exact_text NOT NULL
        CHECK (type IN ('observation', 'decision', 'learning', 'error', 'pattern', 'preference')),
    project exact_text CHECK (length(project) BETWEEN 1 AND 200),
    tags exact_text NOT NULL DEFAULT '[]',
    importance int NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
    metadata exact_text NOT NULL DEFAULT '{}',
    access_count bigint NOT NULL DEFAULT 0 CHECK (access_count >= 0),
    created_at exact_text NOT NULL DEFAULT moment(),
    updated_at exact_text NOT NULL DEFAULT moment(),
    accessed_at exact_text,
    created_by exact_text,
    session exact_text,
    occurred_at exact_text,
    replaced boolean NOT NULL DEFAULT false, -- triggers keep it: something supersedes it or stands for it
    standing double precision GENERATED ALWAYS AS (standing_of(type, coalesce(occurred_at, created_at), access_count))
        STORED,
    person exact_text CHECK (length(person) BETWEEN 1 AND 100),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX memories_by_project ON memories (tenant_id, project, type);
CREATE INDEX memories_by_session ON memories (tenant_id, session);
CREATE INDEX memories_by_moment ON memories (tenant_id, project, type, (coalesce(occurred_at, created_at)));
CREATE INDEX memories_by_standing ON memories (tenant_id, project, type, importance, standing) WHERE NOT replaced;
CREATE INDEX memories_by_person ON memories (tenant_id, person) WHERE person IS NOT NULL;

CREATE TABLE memory_history (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('memory_history'),
    memory_id bigint NOT NULL,
    content exact_text NOT NULL,
    reason exact_text NOT NULL CHECK (reason IN ('merged', 'rewritten')),
    replaced_at exact_text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_history_by_memory ON memory_history (tenant_id, memory_id);

CREATE TABLE edges (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('edges'),
    source_id bigint NOT NULL,
    target_id bigint NOT NULL,
    relation exact_text NOT NULL CHECK (
        relation IN (
            'related_to', 'causes', 'solves', 'depends_on', 'contradicts', 'extends', 'example_of', 'supersedes',
            'summarizes'
        )
    ),
    strength double precision NOT NULL DEFAULT 1.0 CHECK (strength BETWEEN 0 AND 1),
    valid_from exact_text NOT NULL DEFAULT moment(),
    valid_to exact_text,
    created_by exact_text,
    CHECK (source_id <> target_id),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, source_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, target_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX edges_that_hold ON edges (tenant_id, source_id, target_id, relation) WHERE valid_to IS NULL;
CREATE INDEX edges_by_source ON edges (tenant_id, source_id, target_id);
CREATE INDEX edges_by_target ON edges (tenant_id, target_id, relation);

CREATE TABLE memory_counts (
    tenant_id int NOT NULL DEFAULT tenant(),
    project exact_text NOT NULL,
    type exact_text NOT NULL,
    importance int NOT NULL,
    person exact_text NOT NULL,
    number bigint NOT NULL,
    replaced bigint NOT NULL,
    PRIMARY KEY (tenant_id, project, type, importance, person)
);

CREATE TABLE memory_uses (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('memory_uses'),
    memory_id bigint NOT NULL,
    session exact_text NOT NULL,
    shown_at exact_text NOT NULL DEFAULT moment(),
    judged_at exact_text,
    used_at exact_text,
    how exact_text CHECK (how IN ('repeated', 'called')),
    person exact_text CHECK (length(person) BETWEEN 1 AND 100),
    CHECK ((used_at IS NULL) = (how IS NULL)),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, memory_id, session)
);
CREATE INDEX memory_uses_by_session ON memory_uses (tenant_id, session);

CREATE TABLE digested (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('digested'),
    kind exact_text NOT NULL CHECK (kind IN ('memory', 'turn')),
    item_id bigint NOT NULL,
    digest_id bigint NOT NULL, -- 0: it is no longer the server's
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, kind, item_id)
);
CREATE INDEX digested_by_digest ON digested (tenant_id, digest_id);

-- Facts

CREATE TABLE facts (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('facts'),
    scope exact_text NOT NULL CHECK (scope IN ('global', 'project', 'session', 'shared')),
    owner exact_text NOT NULL DEFAULT ''
        CHECK (scope IN ('project', 'session') OR owner = '' OR (scope = 'global' AND strpos(owner, chr(31)) > 1)),
    key exact_text NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
    value exact_text NOT NULL,
    tags exact_text NOT NULL DEFAULT '[]',
    version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
    access_count bigint NOT NULL DEFAULT 0 CHECK (access_count >= 0),
    created_at exact_text NOT NULL DEFAULT moment(),
    updated_at exact_text NOT NULL DEFAULT moment(),
    accessed_at exact_text,
    expires_at exact_text,
    created_by exact_text,
    updated_by exact_text,
    session exact_text,
    person exact_text GENERATED ALWAYS AS (
        CASE WHEN strpos(owner, chr(31)) > 1 THEN split_part(owner, chr(31), 1) END
    ) STORED,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, scope, owner, key)
);
CREATE INDEX facts_by_expiry ON facts (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE fact_history (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('fact_history'),
    fact_id bigint NOT NULL,
    scope exact_text NOT NULL,
    owner exact_text NOT NULL,
    key exact_text NOT NULL,
    version bigint NOT NULL,
    action exact_text NOT NULL CHECK (action IN ('written', 'deleted', 'expired')),
    value exact_text NOT NULL,
    tags exact_text NOT NULL,
    expires_at exact_text,
    changed_at exact_text NOT NULL,
    changed_by exact_text,
    person exact_text GENERATED ALWAYS AS (
        CASE WHEN strpos(owner, chr(31)) > 1 THEN split_part(owner, chr(31), 1) END
    ) STORED,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX fact_history_by_key ON fact_history (tenant_id, scope, owner, key, id);

-- Turns, conversations and what is remembered in them

CREATE TABLE turns (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('turns'),
    message exact_text NOT NULL CHECK (length(message) >= 1),
    summary exact_text NOT NULL CHECK (length(summary) >= 1),
    project exact_text NOT NULL DEFAULT '',
    session exact_text,
    created_at exact_text NOT NULL DEFAULT moment(),
    created_by exact_text,
    occurred_at exact_text,
    person exact_text CHECK (length(person) BETWEEN 1 AND 100),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX turns_by_session ON turns (tenant_id, session);
CREATE INDEX turns_by_moment ON turns (tenant_id, project, (coalesce(occurred_at, created_at)));
CREATE INDEX turns_by_person ON turns (tenant_id, person) WHERE person IS NOT NULL;

CREATE TABLE conversations (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('conversations'),
    name exact_text NOT NULL CHECK (length(substr(name, strpos(name, chr(31)) + 1)) BETWEEN 1 AND 200),
    created_at exact_text NOT NULL DEFAULT moment(),
    cleaned_at exact_text NOT NULL DEFAULT moment(),
    removed bigint NOT NULL DEFAULT 0 CHECK (removed >= 0),
    person exact_text GENERATED ALWAYS AS (
        CASE WHEN strpos(name, chr(31)) > 1 THEN split_part(name, chr(31), 1) END
    ) STORED,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);
CREATE INDEX conversations_by_cleanup ON conversations (tenant_id, cleaned_at);

CREATE TABLE short_term_memories (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('short_term_memories'),
    conversation_id bigint NOT NULL,
    text exact_text NOT NULL CHECK (length(text) >= 1),
    score double precision NOT NULL DEFAULT 0 CHECK (score BETWEEN 0 AND 100),
    said_at exact_text NOT NULL DEFAULT moment(),
    created_at exact_text NOT NULL DEFAULT moment(),
    created_by exact_text,
    session exact_text,
    keyed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX short_term_memories_by_moment ON short_term_memories (tenant_id, conversation_id, said_at, score);
CREATE INDEX short_term_memories_unkeyed ON short_term_memories (tenant_id, id) WHERE NOT keyed;
CREATE INDEX short_term_memories_by_session ON short_term_memories (tenant_id, session);

CREATE TABLE short_term_keywords (
    tenant_id int NOT NULL DEFAULT tenant(),
    conversation_id bigint NOT NULL,
    word exact_text NOT NULL,
    memory_id bigint NOT NULL,
    weight double precision NOT NULL CHECK (weight BETWEEN 0 AND 1e9),
    PRIMARY KEY (tenant_id, conversation_id, word, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES short_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX short_term_keywords_by_memory ON short_term_keywords (tenant_id, memory_id);

CREATE TABLE long_term_memories (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('long_term_memories'),
    conversation_id bigint NOT NULL,
    name exact_text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    prompt exact_text NOT NULL CHECK (length(prompt) BETWEEN 1 AND 5000),
    trigger exact_text NOT NULL CHECK (length(trigger) BETWEEN 1 AND 16384),
    created_context exact_text,
    updated_context exact_text,
    created_at exact_text NOT NULL DEFAULT moment(),
    updated_at exact_text,
    created_by exact_text,
    session exact_text,
    fired_at exact_text,
    fired_count bigint NOT NULL DEFAULT 0 CHECK (fired_count >= 0),
    error exact_text,
    failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
    quarantined_until exact_text,
    judged_at exact_text,
    slow boolean NOT NULL DEFAULT false,
    cooldown int NOT NULL DEFAULT 0 CHECK (cooldown BETWEEN 0 AND 525600),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, conversation_id, name),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE wakes (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('wakes'),
    memory_id bigint NOT NULL,
    at exact_text NOT NULL DEFAULT moment(),
    client exact_text,
    session exact_text,
    why exact_text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES long_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX wakes_by_memory ON wakes (tenant_id, memory_id, at);

-- Words: the tokens of our own tokenizer and pairs of neighbours ('7:word', '7:two words'), each behind the id of its
-- tenant, so that one index serves all. `repeated` has how often a text holds each of those that it holds more than
-- once; `tokens` are all in their order, for phrases of more than two; `length` is their number.

CREATE TABLE memory_parts (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL, -- the memory's id + number of the part x 2^40
    memory_id bigint NOT NULL,
    start int NOT NULL, -- the first character, from 1
    length int NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_parts_by_memory ON memory_parts (tenant_id, memory_id);

CREATE TABLE memory_words (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL, -- of the memory, or of a part of it
    memory_id bigint NOT NULL,
    words tsvector NOT NULL,
    repeated jsonb NOT NULL,
    tokens exact_text NOT NULL,
    length int NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_words_by_memory ON memory_words (tenant_id, memory_id);
CREATE INDEX memory_words_by_word ON memory_words USING gin (words) WITH (fastupdate = off);

CREATE TABLE fact_words (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL,
    words tsvector NOT NULL,
    repeated jsonb NOT NULL,
    tokens exact_text NOT NULL,
    length int NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX fact_words_by_word ON fact_words USING gin (words) WITH (fastupdate = off);

CREATE TABLE turn_words (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL,
    words tsvector NOT NULL,
    repeated jsonb NOT NULL,
    tokens exact_text NOT NULL,
    length int NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_words_by_word ON turn_words USING gin (words) WITH (fastupdate = off);

CREATE TABLE short_term_words (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL,
    words tsvector NOT NULL,
    repeated jsonb NOT NULL,
    tokens exact_text NOT NULL,
    length int NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, id) REFERENCES short_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX short_term_words_by_word ON short_term_words USING gin (words) WITH (fastupdate = off);

-- How many texts an index of words has, and how many terms they have together.
CREATE TABLE word_totals (
    tenant_id int NOT NULL DEFAULT tenant(),
    name exact_text NOT NULL CHECK (name IN ('memory_words', 'fact_words', 'turn_words', 'short_term_words')),
    texts bigint NOT NULL,
    terms bigint NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

-- Vectors

CREATE TABLE spaces (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('spaces'),
    provider exact_text NOT NULL,
    model exact_text NOT NULL,
    revision exact_text NOT NULL,
    dimensions int NOT NULL CHECK (dimensions > 0),
    query_prompt exact_text NOT NULL,
    document_prompt exact_text NOT NULL,
    transform exact_text NOT NULL,
    chinese boolean NOT NULL,
    lexical boolean NOT NULL,
    fingerprint exact_text NOT NULL,
    state exact_text NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    created_at exact_text NOT NULL DEFAULT moment(),
    lease_holder exact_text,
    lease_until exact_text,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, fingerprint)
);
CREATE UNIQUE INDEX spaces_one_active ON spaces (tenant_id) WHERE state = 'active';

CREATE TABLE embeddings (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    memory_id bigint NOT NULL,
    vector vector NOT NULL,
    created_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, memory_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX embeddings_by_memory ON embeddings (tenant_id, memory_id);

CREATE TABLE part_embeddings (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    part_id bigint NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (tenant_id, space_id, part_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, part_id) REFERENCES memory_parts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX part_embeddings_by_part ON part_embeddings (tenant_id, part_id);

CREATE TABLE fact_embeddings (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    fact_id bigint NOT NULL,
    vector vector NOT NULL,
    created_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, fact_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX fact_embeddings_by_fact ON fact_embeddings (tenant_id, fact_id);

CREATE TABLE turn_embeddings (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    turn_id bigint NOT NULL,
    vector vector NOT NULL,
    created_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, turn_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_embeddings_by_turn ON turn_embeddings (tenant_id, turn_id);

CREATE TABLE turn_message_embeddings (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    turn_id bigint NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (tenant_id, space_id, turn_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_message_embeddings_by_turn ON turn_message_embeddings (tenant_id, turn_id);

CREATE TABLE short_term_embeddings (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    memory_id bigint NOT NULL,
    vector vector NOT NULL,
    created_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, memory_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES short_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX short_term_embeddings_by_memory ON short_term_embeddings (tenant_id, memory_id);

-- What waits for its vectors: of memories, facts, turns and short-term memories.

CREATE TABLE embedding_queue (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    memory_id bigint NOT NULL,
    queued_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, memory_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX embedding_queue_by_memory ON embedding_queue (tenant_id, memory_id);

CREATE TABLE fact_embedding_queue (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    fact_id bigint NOT NULL,
    queued_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, fact_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX fact_embedding_queue_by_fact ON fact_embedding_queue (tenant_id, fact_id);

CREATE TABLE turn_embedding_queue (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    turn_id bigint NOT NULL,
    queued_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, turn_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_embedding_queue_by_turn ON turn_embedding_queue (tenant_id, turn_id);

CREATE TABLE short_term_embedding_queue (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    memory_id bigint NOT NULL,
    queued_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, space_id, memory_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES short_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX short_term_embedding_queue_by_memory ON short_term_embedding_queue (tenant_id, memory_id);

-- Projects

CREATE TABLE projects (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('projects'),
    name exact_text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    folder exact_text, -- the root in which it was used last; NULL where only its name is known
    created_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);

CREATE TABLE project_keys (
    tenant_id int NOT NULL DEFAULT tenant(),
    kind exact_text NOT NULL CHECK (kind IN ('remote', 'folder', 'name')),
    key exact_text NOT NULL CHECK (length(key) >= 1),
    project_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, kind, key),
    FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX project_keys_by_project ON project_keys (tenant_id, project_id);

-- What was done: changes, the trash, where imported items came from, and what hooks did

CREATE TABLE changes (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('changes'),
    memory_id bigint,
    long_term_id bigint,
    action exact_text NOT NULL CHECK (action IN ('edited', 'merged')),
    before exact_text NOT NULL,
    draft exact_text,
    changed_at exact_text NOT NULL DEFAULT moment(),
    changed_by exact_text,
    session exact_text,
    CHECK ((memory_id IS NULL) <> (long_term_id IS NULL)),
    CHECK ((draft IS NULL) = (action = 'edited')),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, long_term_id) REFERENCES long_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX changes_by_memory ON changes (tenant_id, memory_id);
CREATE INDEX changes_by_long_term ON changes (tenant_id, long_term_id);
CREATE INDEX changes_by_moment ON changes (tenant_id, changed_at);

CREATE TABLE trash (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('trash'),
    kind exact_text NOT NULL CHECK (kind IN ('memory', 'turn', 'short_term', 'long_term')),
    item_id bigint NOT NULL,
    conversation exact_text,
    parts exact_text NOT NULL,
    deleted_at exact_text NOT NULL DEFAULT moment(),
    deleted_by exact_text,
    person exact_text CHECK (length(person) BETWEEN 1 AND 100),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX trash_by_item ON trash (tenant_id, kind, item_id);
CREATE INDEX trash_by_moment ON trash (tenant_id, deleted_at);

CREATE TABLE origins (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('origins'),
    kind exact_text NOT NULL CHECK (kind IN ('memory', 'turn', 'short_term', 'long_term', 'fact')),
    item_id bigint NOT NULL,
    source exact_text NOT NULL CHECK (length(source) BETWEEN 1 AND 100),
    source_id exact_text NOT NULL CHECK (length(source_id) BETWEEN 1 AND 500),
    digest exact_text NOT NULL DEFAULT '',
    imported_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, kind, source, source_id)
);
CREATE INDEX origins_by_item ON origins (tenant_id, kind, item_id, source);

CREATE TABLE open_questions (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('open_questions'),
    project exact_text NOT NULL DEFAULT '',
    question exact_text NOT NULL CHECK (length(question) BETWEEN 1 AND 500),
    sessions bigint NOT NULL DEFAULT 1 CHECK (sessions >= 1),
    session exact_text NOT NULL,
    asked_at exact_text NOT NULL DEFAULT moment(),
    asked_again_at exact_text,
    person exact_text CHECK (length(person) BETWEEN 1 AND 100),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX open_questions_by_project ON open_questions (tenant_id, project);

CREATE TABLE hook_captures (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('hook_captures'),
    kind exact_text NOT NULL CHECK (kind IN ('short_term', 'fact', 'memory')),
    item_id bigint NOT NULL,
    session exact_text NOT NULL CHECK (length(session) <= 200),
    event exact_text NOT NULL CHECK (event IN ('Stop', 'PreCompact', 'SessionEnd')),
    captured_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, kind, item_id)
);
CREATE INDEX hook_captures_by_session ON hook_captures (tenant_id, session);

CREATE TABLE hook_injections (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('hook_injections'),
    session exact_text NOT NULL CHECK (length(session) <= 200),
    event exact_text NOT NULL CHECK (event IN ('SessionStart', 'UserPromptSubmit')),
    kind exact_text NOT NULL CHECK (kind IN ('briefing', 'memory', 'fact', 'turn', 'woken', 'suggestion')),
    item_id bigint NOT NULL,
    tokens bigint NOT NULL CHECK (tokens >= 0),
    injected_at exact_text NOT NULL DEFAULT moment(),
    in_context boolean NOT NULL DEFAULT true,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX hook_injections_by_session ON hook_injections (tenant_id, session, kind, item_id);

-- The server's own: people, counts, problems of jobs, and what is still to erase

CREATE TABLE tokens (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('tokens'),
    name exact_text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    hash exact_text NOT NULL CHECK (length(hash) = 64),
    prefix exact_text NOT NULL CHECK (length(prefix) BETWEEN 4 AND 20),
    projects exact_text,
    read_only boolean NOT NULL DEFAULT false,
    created_at exact_text NOT NULL DEFAULT moment(),
    expires_at exact_text,
    revoked_at exact_text,
    last_used exact_text,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, hash)
);

CREATE TABLE call_counts (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('call_counts'),
    day exact_text NOT NULL,
    tool exact_text NOT NULL CHECK (length(tool) BETWEEN 1 AND 100),
    calls bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    degraded bigint NOT NULL DEFAULT 0,
    timed_out bigint NOT NULL DEFAULT 0,
    milliseconds bigint NOT NULL DEFAULT 0,
    times exact_text NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, day, tool)
);

CREATE TABLE job_problems (
    tenant_id int NOT NULL DEFAULT tenant(),
    job exact_text NOT NULL,
    process exact_text NOT NULL,
    problem exact_text NOT NULL,
    at exact_text NOT NULL,
    PRIMARY KEY (tenant_id, job, process)
);

CREATE TABLE erasures (
    tenant_id int NOT NULL DEFAULT tenant(),
    what exact_text NOT NULL CHECK (what IN ('file', 'memory_words', 'fact_words', 'turn_words', 'short_term_words')),
    asked bigint NOT NULL DEFAULT 0,
    done bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, what)
);

DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.table_name FROM information_schema.columns AS c
        WHERE c.table_schema = current_schema() AND c.column_name = 'id' AND c.column_default LIKE 'next_id%'
    LOOP
        EXECUTE format(
            'CREATE TRIGGER keep_deleted_id AFTER DELETE ON %I REFERENCING OLD TABLE AS gone'
            ' FOR EACH STATEMENT EXECUTE FUNCTION keep_deleted_id()',
            name
        );
    END LOOP;
END
$$;


-- ## rights

-- What a person sees and changes: row-level security, the same as sqlite/rights.py says for SQLite. The owner ('') sees
-- all that is of the tenant. A row that the person does not see is passed over, as one that is not there, and no row
-- can become one that the person does not see. What belongs to another row is seen with it.

DO $$
DECLARE
    own text := 'r.person = (SELECT person()) OR r.person IS NULL AND has_project(r.project)';
    alone text := 'r.person = (SELECT person())';
    fact text := $fact$
        r.scope = 'shared' OR r.person = (SELECT person())
        OR r.scope = 'project' AND r.person IS NULL AND has_project(r.owner)
    $fact$;
    part text := 'EXISTS (SELECT 1 FROM %I AS seen WHERE seen.tenant_id = r.tenant_id AND seen.id = r.%I)';
    everybody text := 'true';
    nobody text := 'false';
    rights text[] := ARRAY[
        ARRAY['memories', own],
        ARRAY['turns', alone],
        ARRAY['facts', fact],
        ARRAY['fact_history', fact],
        ARRAY['conversations', alone],
        ARRAY['memory_uses', alone],
        ARRAY['open_questions', alone],
        ARRAY[
            'trash',
            'r.person = (SELECT person())'
            ' OR r.person IS NULL AND has_project(readable_json(r.parts) -> ''memories'' -> 0 ->> ''project'')'
        ],
        ARRAY['projects', 'has_project(r.name)'],
        ARRAY['memory_counts', 'r.person = (SELECT person()) OR r.person = '''' AND has_project(r.project)'],
        ARRAY['project_keys', format(part, 'projects', 'project_id')],
        ARRAY['memory_history', format(part, 'memories', 'memory_id')],
        ARRAY['memory_parts', format(part, 'memories', 'memory_id')],
        ARRAY['memory_words', format(part, 'memories', 'memory_id')],
        ARRAY['fact_words', format(part, 'facts', 'id')],
        ARRAY['turn_words', format(part, 'turns', 'id')],
        ARRAY['short_term_words', format(part, 'short_term_memories', 'id')],
        ARRAY['digested', format(part, 'memories', 'digest_id')],
        ARRAY[
            'changes',
            format(part, 'memories', 'memory_id') || ' OR ' || format(part, 'long_term_memories', 'long_term_id')
        ],
        ARRAY['short_term_memories', format(part, 'conversations', 'conversation_id')],
        ARRAY['short_term_keywords', format(part, 'conversations', 'conversation_id')],
        ARRAY['long_term_memories', format(part, 'conversations', 'conversation_id')],
        ARRAY['wakes', format(part, 'long_term_memories', 'memory_id')],
        ARRAY['embeddings', format(part, 'memories', 'memory_id')],
        ARRAY['part_embeddings', format(part, 'memory_parts', 'part_id')],
        ARRAY['turn_embeddings', format(part, 'turns', 'turn_id')],
        ARRAY['turn_message_embeddings', format(part, 'turns', 'turn_id')],
        ARRAY['fact_embeddings', format(part, 'facts', 'fact_id')],
        ARRAY['short_term_embeddings', format(part, 'short_term_memories', 'memory_id')],
        ARRAY['embedding_queue', format(part, 'memories', 'memory_id')],
        ARRAY['turn_embedding_queue', format(part, 'turns', 'turn_id')],
        ARRAY['fact_embedding_queue', format(part, 'facts', 'fact_id')],
        ARRAY['short_term_embedding_queue', format(part, 'short_term_memories', 'memory_id')],
        ARRAY['spaces', everybody],
        ARRAY['erasures', everybody],
        ARRAY['word_totals', everybody],
        -- The owner's alone: what hooks and imports do, the problems of jobs, and who may come in.
        ARRAY['hook_captures', nobody],
        ARRAY['hook_injections', nobody],
        ARRAY['job_problems', nobody],
        ARRAY['origins', nobody],
        ARRAY['tokens', nobody],
        ARRAY['call_counts', nobody]
    ];
    name text;
    sees text;
BEGIN
    FOR i IN 1 .. array_length(rights, 1) LOOP
        name := rights[i][1];
        -- A policy has no name for its own row: the columns of the table stand for it.
        sees := format(
            'tenant_id = (SELECT tenant()) AND ((SELECT person()) = '''' OR (%s))',
            replace(rights[i][2], 'r.', name || '.')
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY seen ON %I USING (%s) WITH CHECK (%s)', name, sees, sees);
    END LOOP;
END
$$;

-- With a memory that was deleted, its edges come back, also those to what the person does not see.
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON edges FOR ALL USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = ''
        OR EXISTS (SELECT 1 FROM memories AS m WHERE m.tenant_id = edges.tenant_id AND m.id = edges.source_id)
            AND EXISTS (SELECT 1 FROM memories AS m WHERE m.tenant_id = edges.tenant_id AND m.id = edges.target_id)
    )
);
CREATE POLICY entering ON edges FOR INSERT WITH CHECK (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM memories AS m
            WHERE m.tenant_id = edges.tenant_id AND m.id IN (edges.source_id, edges.target_id)
        )
    )
);

DO $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO memory_server', current_schema());
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO memory_server', current_schema());
END
$$;
REVOKE ALL ON migrations, tenants, deleted_ids FROM memory_server;
REVOKE INSERT, UPDATE, DELETE ON word_totals FROM memory_server;
GRANT SELECT ON migrations, tenants TO memory_server;


-- ## words

-- How many texts and terms the indexes of words have, kept whenever their rows come and go: BM25 needs both.

CREATE FUNCTION words_came() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO word_totals (tenant_id, name, texts, terms)
    SELECT tenant_id, TG_TABLE_NAME, count(*), sum(length) FROM came GROUP BY tenant_id
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET texts = word_totals.texts + excluded.texts, terms = word_totals.terms + excluded.terms;
    RETURN NULL;
END
$$;

CREATE FUNCTION words_went() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE word_totals
    SET texts = word_totals.texts - less.texts, terms = word_totals.terms - less.terms
    FROM (SELECT tenant_id, count(*) AS texts, sum(length) AS terms FROM went GROUP BY tenant_id) AS less
    WHERE word_totals.tenant_id = less.tenant_id AND word_totals.name = TG_TABLE_NAME;
    RETURN NULL;
END
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory_words', 'fact_words', 'turn_words', 'short_term_words'] LOOP
        EXECUTE format(
            'CREATE TRIGGER words_came AFTER INSERT ON %I REFERENCING NEW TABLE AS came'
            ' FOR EACH STATEMENT EXECUTE FUNCTION words_came()',
            name
        );
        EXECUTE format(
            'CREATE TRIGGER words_went AFTER DELETE ON %I REFERENCING OLD TABLE AS went'
            ' FOR EACH STATEMENT EXECUTE FUNCTION words_went()',
            name
        );
        -- Words are never rewritten, but deleted and inserted again: so their numbers stay right.
        EXECUTE format('REVOKE UPDATE ON %I FROM memory_server', name);
    END LOOP;
END
$$;


-- ## writes

-- What each write asks and tells.

CREATE FUNCTION refuse_newer(known int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    newest int := (SELECT max(version) FROM migrations);
BEGIN
    IF newest > known THEN
        RAISE EXCEPTION 'the schema has version %', newest USING ERRCODE = 'MS001';
    END IF;
END
$$;

-- How many writes a tenant has seen: it tells a page whether to look again.
CREATE TABLE writes (
    tenant_id int PRIMARY KEY DEFAULT tenant(),
    number bigint NOT NULL
);
ALTER TABLE writes ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON writes USING (tenant_id = (SELECT tenant()));
GRANT SELECT ON writes TO memory_server;

-- Count a write, and tell the other servers when it is committed.
CREATE FUNCTION tell_write() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    reached bigint;
BEGIN
    INSERT INTO writes (tenant_id, number) VALUES (tenant(), 1)
    ON CONFLICT (tenant_id) DO UPDATE SET number = writes.number + 1
    RETURNING number INTO reached;
    PERFORM pg_notify('memory_server', tenant() || ' ' || reached);
END
$$;

-- Which server does the background work of a tenant, by the clock of the database.
CREATE TABLE leads (
    tenant_id int PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL
);


-- ## memories

-- What follows from a change of a memory, of what belongs to it, and of its edges. Triggers are of the owner of the
-- tables and see all tenants: each statement names the tenant.

-- Whether a memory has not ended: `expires_at` in its metadata. What is no moment does not end it.
CREATE FUNCTION lasts(metadata text, at text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE
        WHEN metadata = '{}' OR strpos(metadata, 'expires_at') = 0 THEN true
        WHEN jsonb_typeof(readable_json(metadata) -> 'expires_at') = 'boolean' THEN false -- a number to SQLite: long ago
        ELSE coalesce(as_moment(readable_json(metadata) ->> 'expires_at') > at, true)
    END;
END;

-- Whether something that holds now supersedes a memory or stands for it.
CREATE FUNCTION is_replaced(tenant int, memory bigint) RETURNS boolean LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT 1
        FROM edges AS e
        WHERE e.tenant_id = tenant AND e.target_id = memory AND e.relation IN ('supersedes', 'summarizes')
            AND e.valid_to IS NULL
    );
END;

-- What was deleted or rewritten is still to be erased: see the table erasures. After each statement, or for each row.

CREATE FUNCTION erase_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO erasures (tenant_id, what, asked) SELECT DISTINCT tenant_id, 'file', 1 FROM gone
    ON CONFLICT (tenant_id, what) DO UPDATE SET asked = erasures.asked + 1;
    RETURN NULL;
END
$$;

CREATE FUNCTION erase_earlier() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO erasures (tenant_id, what, asked) VALUES (OLD.tenant_id, 'file', 1)
    ON CONFLICT (tenant_id, what) DO UPDATE SET asked = erasures.asked + 1;
    RETURN NULL;
END
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memories', 'memory_history', 'changes', 'origins', 'trash'] LOOP
        EXECUTE format(
            'CREATE TRIGGER erase_gone AFTER DELETE ON %I REFERENCING OLD TABLE AS gone'
            ' FOR EACH STATEMENT EXECUTE FUNCTION erase_gone()',
            name
        );
    END LOOP;
END
$$;

CREATE TRIGGER erase_earlier AFTER UPDATE OF tags, project, metadata ON memories FOR EACH ROW
WHEN (NEW.tags <> OLD.tags OR NEW.project IS DISTINCT FROM OLD.project OR NEW.metadata <> OLD.metadata)
EXECUTE FUNCTION erase_earlier();

-- How many memories there are

CREATE FUNCTION memories_came() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO memory_counts AS c (tenant_id, project, type, importance, person, number, replaced)
    SELECT
        tenant_id, coalesce(project, ''), type, importance, coalesce(person, ''), count(*), count(*) FILTER (WHERE replaced)
    FROM came
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, project, type, importance, person) DO UPDATE
    SET number = c.number + excluded.number, replaced = c.replaced + excluded.replaced;
    INSERT INTO projects (tenant_id, id, name)
    SELECT tenant_id, next_id('projects') - 1 + row_number() OVER (PARTITION BY tenant_id), project
    FROM (SELECT DISTINCT tenant_id, project FROM came WHERE project IS NOT NULL) AS wanted
    WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.tenant_id = wanted.tenant_id AND p.name = wanted.project);
    INSERT INTO embedding_queue (tenant_id, space_id, memory_id)
    SELECT s.tenant_id, s.id, m.id
    FROM came AS m
    JOIN spaces AS s ON s.tenant_id = m.tenant_id AND s.state <> 'retired'
    ON CONFLICT (tenant_id, space_id, memory_id) DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION memories_went() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE memory_counts AS c
    SET number = c.number - less.number, replaced = c.replaced - less.replaced
    FROM (
        SELECT
            tenant_id, coalesce(project, '') AS project, type, importance, coalesce(person, '') AS person,
            count(*) AS number, count(*) FILTER (WHERE replaced) AS replaced
        FROM gone
        GROUP BY 1, 2, 3, 4, 5
    ) AS less
    WHERE (c.tenant_id, c.project, c.type, c.importance, c.person)
        = (less.tenant_id, less.project, less.type, less.importance, less.person);
    DELETE FROM memory_counts AS c
    USING (SELECT DISTINCT tenant_id FROM gone) AS w
    WHERE c.tenant_id = w.tenant_id AND c.number = 0;
    RETURN NULL;
END
$$;

CREATE FUNCTION memories_recounted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE memory_counts AS c
    SET number = c.number - 1, replaced = c.replaced - OLD.replaced::int
    WHERE (c.tenant_id, c.project, c.type, c.importance, c.person)
        = (OLD.tenant_id, coalesce(OLD.project, ''), OLD.type, OLD.importance, coalesce(OLD.person, ''));
    INSERT INTO memory_counts AS c (tenant_id, project, type, importance, person, number, replaced)
    VALUES (
        NEW.tenant_id, coalesce(NEW.project, ''), NEW.type, NEW.importance, coalesce(NEW.person, ''), 1,
        NEW.replaced::int
    )
    ON CONFLICT (tenant_id, project, type, importance, person) DO UPDATE
    SET number = c.number + 1, replaced = c.replaced + excluded.replaced;
    DELETE FROM memory_counts AS c
    WHERE (c.tenant_id, c.project, c.type, c.importance, c.person)
            = (OLD.tenant_id, coalesce(OLD.project, ''), OLD.type, OLD.importance, coalesce(OLD.person, ''))
        AND c.number = 0;
    IF NEW.project IS DISTINCT FROM OLD.project AND NEW.project IS NOT NULL THEN
        INSERT INTO projects (tenant_id, name) VALUES (NEW.tenant_id, NEW.project) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER came AFTER INSERT ON memories REFERENCING NEW TABLE AS came
FOR EACH STATEMENT EXECUTE FUNCTION memories_came();
CREATE TRIGGER went AFTER DELETE ON memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION memories_went();
CREATE TRIGGER recounted AFTER UPDATE OF project, type, importance, person, replaced ON memories FOR EACH ROW
WHEN (
    (NEW.project, NEW.type, NEW.importance, NEW.person, NEW.replaced)
    IS DISTINCT FROM (OLD.project, OLD.type, OLD.importance, OLD.person, OLD.replaced)
)
EXECUTE FUNCTION memories_recounted();

-- Texts that change: the earlier one goes into the history, and the new one waits for its embedding. `memory.reason` is
-- why it is rewritten.

CREATE FUNCTION embed_anew() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM embeddings WHERE tenant_id = NEW.tenant_id AND memory_id = NEW.id;
    INSERT INTO embedding_queue (tenant_id, space_id, memory_id)
    SELECT tenant_id, id, NEW.id FROM spaces WHERE tenant_id = NEW.tenant_id AND state <> 'retired'
    ON CONFLICT (tenant_id, space_id, memory_id) DO UPDATE SET queued_at = excluded.queued_at;
    RETURN NULL;
END
$$;

CREATE FUNCTION memories_rewritten() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO memory_history (tenant_id, memory_id, content, reason, replaced_at)
    VALUES (
        NEW.tenant_id, NEW.id, OLD.content,
        coalesce(nullif(current_setting('memory.reason', true), ''), 'rewritten'), moment()
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER rewritten AFTER UPDATE OF content ON memories FOR EACH ROW WHEN (NEW.content <> OLD.content)
EXECUTE FUNCTION memories_rewritten();
-- The parts of a long text are indexed anew with its tags, so their vectors go.
CREATE TRIGGER embedded_anew AFTER UPDATE OF content, tags ON memories FOR EACH ROW
WHEN (NEW.content <> OLD.content OR NEW.tags <> OLD.tags AND length(NEW.content) > 5000)
EXECUTE FUNCTION embed_anew();

-- Edges: what supersedes a memory, or stands for it, replaces it.

CREATE FUNCTION edges_replace() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE memories SET replaced = NOT replaced
        WHERE tenant_id = OLD.tenant_id AND id = OLD.target_id AND replaced <> is_replaced(OLD.tenant_id, OLD.target_id);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE memories SET replaced = NOT replaced
        WHERE tenant_id = NEW.tenant_id AND id = NEW.target_id AND replaced <> is_replaced(NEW.tenant_id, NEW.target_id);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER replace_came AFTER INSERT ON edges FOR EACH ROW WHEN (NEW.relation IN ('supersedes', 'summarizes'))
EXECUTE FUNCTION edges_replace();
CREATE TRIGGER replace_changed AFTER UPDATE OF target_id, relation, valid_to ON edges FOR EACH ROW
WHEN (NEW.relation IN ('supersedes', 'summarizes') OR OLD.relation IN ('supersedes', 'summarizes'))
EXECUTE FUNCTION edges_replace();
CREATE TRIGGER replace_went AFTER DELETE ON edges FOR EACH ROW WHEN (OLD.relation IN ('supersedes', 'summarizes'))
EXECUTE FUNCTION edges_replace();

-- Digests fall with what they stand for: where that is deleted, rewritten or superseded, the digest says what is no
-- longer so. What somebody rewrites is no longer the server's digest.

CREATE FUNCTION drop_digests(tenant int, digests bigint[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM trash WHERE tenant_id = tenant AND kind = 'memory' AND item_id = ANY (digests);
    DELETE FROM memories WHERE tenant_id = tenant AND id = ANY (digests);
    DELETE FROM digested WHERE tenant_id = tenant AND digest_id = ANY (digests);
END
$$;
REVOKE ALL ON FUNCTION drop_digests FROM PUBLIC;

CREATE FUNCTION digested_went() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    fallen record;
BEGIN
    FOR fallen IN
        SELECT d.tenant_id, array_agg(DISTINCT d.digest_id) AS digests
        FROM gone AS w
        JOIN digested AS d ON d.tenant_id = w.tenant_id AND d.kind = 'memory' AND d.item_id = w.id AND d.digest_id <> 0
        GROUP BY d.tenant_id
    LOOP
        PERFORM drop_digests(fallen.tenant_id, fallen.digests);
    END LOOP;
    RETURN NULL;
END
$$;

-- The argument is the column with the id of the memory.
CREATE FUNCTION digested_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    fallen bigint := (
        SELECT d.digest_id
        FROM digested AS d
        WHERE d.tenant_id = NEW.tenant_id AND d.kind = 'memory' AND d.digest_id <> 0
            AND d.item_id = (to_jsonb(NEW) ->> TG_ARGV[0])::bigint
    );
BEGIN
    IF fallen IS NOT NULL THEN
        PERFORM drop_digests(NEW.tenant_id, ARRAY[fallen]);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER digested_went AFTER DELETE ON memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION digested_went();
CREATE TRIGGER digested_changed AFTER UPDATE OF content ON memories FOR EACH ROW WHEN (NEW.content <> OLD.content)
EXECUTE FUNCTION digested_changed('id');
CREATE TRIGGER digested_superseded AFTER INSERT ON edges FOR EACH ROW
WHEN (NEW.relation = 'supersedes' AND NEW.valid_to IS NULL)
EXECUTE FUNCTION digested_changed('target_id');

CREATE FUNCTION digest_rewritten() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE digested SET digest_id = 0 WHERE tenant_id = NEW.tenant_id AND digest_id = NEW.memory_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER digest_rewritten AFTER INSERT ON memory_history FOR EACH ROW EXECUTE FUNCTION digest_rewritten();

-- From where a thing was imported is forgotten with the thing, unless it lies in the trash. The argument is its kind.

CREATE FUNCTION forget_origins() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM origins AS o
    USING gone
    WHERE o.tenant_id = gone.tenant_id AND o.kind = TG_ARGV[0] AND o.item_id = gone.id AND NOT EXISTS (
        SELECT 1 FROM trash AS t WHERE t.tenant_id = o.tenant_id AND t.kind = o.kind AND t.item_id = o.item_id
    );
    RETURN NULL;
END
$$;

CREATE FUNCTION forget_origins_with_trash() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM origins AS o
    USING gone AS w
    WHERE o.tenant_id = w.tenant_id AND o.kind = w.kind AND o.item_id = w.item_id AND NOT EXISTS (
        SELECT 1 FROM memories AS m WHERE w.kind = 'memory' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM turns AS m WHERE w.kind = 'turn' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM short_term_memories AS m
        WHERE w.kind = 'short_term' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM long_term_memories AS m
        WHERE w.kind = 'long_term' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM trash AS t WHERE t.tenant_id = w.tenant_id AND t.kind = w.kind AND t.item_id = w.item_id
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER forget_origins AFTER DELETE ON memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_origins('memory');
CREATE TRIGGER forget_origins AFTER DELETE ON trash REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_origins_with_trash();

-- The latest 50,000 uses are kept.

CREATE FUNCTION memory_uses_capped() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM memory_uses AS u
    USING (SELECT tenant_id, max(id) AS id FROM came GROUP BY tenant_id) AS newest
    WHERE u.tenant_id = newest.tenant_id AND u.id <= newest.id - 50000;
    RETURN NULL;
END
$$;

CREATE TRIGGER capped AFTER INSERT ON memory_uses REFERENCING NEW TABLE AS came
FOR EACH STATEMENT EXECUTE FUNCTION memory_uses_capped();

-- An edge lies in the trash with what is deleted, and comes back with it, also where the person does not see its other
-- end: these two see it.

CREATE FUNCTION edges_of(memory bigint, without bigint[]) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
    SELECT coalesce(jsonb_agg(to_jsonb(e) - 'tenant_id' ORDER BY e.id), '[]')
    FROM edges AS e
    WHERE e.tenant_id = tenant() AND (
        e.source_id = memory AND e.target_id <> ALL (without) OR e.target_id = memory AND e.source_id <> ALL (without)
    )
$$;

CREATE FUNCTION are_memories(one bigint, other bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
    SELECT count(*) = 2 FROM memories AS m WHERE m.tenant_id = tenant() AND m.id IN (one, other)
$$;


-- ## search

-- What a search asks of the indexes of words and of vectors.
--
-- The operators of these indexes are not leakproof, so that row-level security keeps them from the role memory_server.
-- The functions here act as the owner of the tables. They name the tenant, and give no text: ids and numbers, which the
-- statement outside joins with the rows that the person sees.

-- How often a phrase of several tokens (' one two three ') stands among tokens, also overlapping itself.
CREATE FUNCTION times_in(phrase text, tokens text) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    rest text COLLATE "C" := tokens;
    place int := strpos(rest, phrase COLLATE "C");
    found int := 0;
BEGIN
    WHILE place > 0 LOOP
        found := found + 1;
        rest := substr(rest, place + 1);
        place := strpos(rest, phrase COLLATE "C");
    END LOOP;
    RETURN found;
END
$$;

-- Of each index of words two functions. `asked` are lexemes that a text must have, `phrases` what must stand among its
-- tokens: of a phrase of more than two the index knows the pairs alone.
--
-- …_holding: the newest texts, how often each has the term (`term` is its lexeme without the tenant; NULL where there is
-- one phrase, which is counted), how many tokens it has, and how many texts there are in all.
-- …_some: any texts, no more than `most`.
--
-- Without bitmaps the planner would walk through all texts of the tenant for the few that it is to give.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory_words', 'fact_words', 'turn_words', 'short_term_words'] LOOP
        EXECUTE format(
            $create$
            CREATE FUNCTION %2$I(asked tsquery, term text, phrases text[], most bigint)
            RETURNS TABLE (id bigint, held int, length int, everywhere bigint)
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off SET enable_indexscan = off
            AS $body$
                SELECT
                    w.id,
                    CASE
                        WHEN term IS NULL THEN times_in(phrases[1], w.tokens)
                        ELSE coalesce((w.repeated ->> term)::int, 1)
                    END,
                    w.length,
                    count(*) OVER ()
                FROM %1$I AS w
                WHERE w.tenant_id = tenant() AND w.words @@ asked
                    AND (phrases = '{}' OR (SELECT bool_and(strpos(w.tokens, each) > 0) FROM unnest(phrases) AS each))
                ORDER BY w.id DESC
                LIMIT most
            $body$
            $create$,
            name, name || '_holding'
        );
        EXECUTE format(
            $create$
            CREATE FUNCTION %2$I(asked tsquery, phrases text[], most bigint) RETURNS SETOF bigint
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off SET enable_indexscan = off
            AS $body$
                SELECT w.id
                FROM %1$I AS w
                WHERE w.tenant_id = tenant() AND w.words @@ asked
                    AND (phrases = '{}' OR (SELECT bool_and(strpos(w.tokens, each) > 0) FROM unnest(phrases) AS each))
                LIMIT most
            $body$
            $create$,
            name, name || '_some'
        );
    END LOOP;
END
$$;

-- An index of vectors with so many dimensions, one for all tenants, made when the first space has them. It keeps numbers
-- of two bytes; what it finds is compared by the whole vectors.
CREATE FUNCTION index_vectors(dimensions int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF dimensions BETWEEN 1 AND 4000 THEN -- the most that such an index takes
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %1$I ON embeddings'
            ' USING hnsw ((vector::halfvec(%2$s)) halfvec_cosine_ops) WHERE vector_dims(vector) = %2$s',
            'embeddings_by_meaning_' || dimensions, dimensions
        );
    END IF;
END
$$;


-- ## facts and talk

-- Facts, projects, turns, conversations, short-term and long-term memories: what follows when their rows change.

-- A project comes with the first row that names it. The argument is the column.
CREATE FUNCTION place_project() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    named text;
BEGIN
    IF TG_ARGV[0] = 'owner' THEN
        named := NEW.owner;
    ELSE
        named := NEW.project;
    END IF;
    INSERT INTO projects (tenant_id, name)
    SELECT NEW.tenant_id, named
    WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.tenant_id = NEW.tenant_id AND p.name = named);
    RETURN NULL;
END
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'facts', 'fact_history', 'turns', 'conversations', 'short_term_memories', 'long_term_memories', 'projects'
    ] LOOP
        EXECUTE format(
            'CREATE TRIGGER erase_gone AFTER DELETE ON %I REFERENCING OLD TABLE AS gone'
            ' FOR EACH STATEMENT EXECUTE FUNCTION erase_gone()',
            name
        );
    END LOOP;
END
$$;

CREATE TRIGGER forget_origins AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_origins('fact');
CREATE TRIGGER forget_origins AFTER DELETE ON turns REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_origins('turn');
CREATE TRIGGER forget_origins AFTER DELETE ON short_term_memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_origins('short_term');
CREATE TRIGGER forget_origins AFTER DELETE ON long_term_memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_origins('long_term');

-- Facts

-- No version of a key is used twice, also not after it was deleted. As next_version() of domain/fact.py.
CREATE FUNCTION number_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    NEW.version := greatest(NEW.version, 1 + (
        SELECT max(h.version)
        FROM fact_history AS h
        WHERE h.tenant_id = NEW.tenant_id AND h.scope = NEW.scope AND h.owner = NEW.owner AND h.key = NEW.key
    ));
    RETURN NEW;
END
$$;

-- Each value is in the history, and waits to be embedded.
CREATE FUNCTION keep_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO fact_history
        (tenant_id, fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by)
    VALUES (
        NEW.tenant_id, NEW.id, NEW.scope, NEW.owner, NEW.key, NEW.version, 'written', NEW.value, NEW.tags,
        NEW.expires_at, NEW.updated_at, NEW.updated_by
    );
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM fact_embeddings AS e WHERE e.tenant_id = NEW.tenant_id AND e.fact_id = NEW.id;
    END IF;
    INSERT INTO fact_embedding_queue (tenant_id, space_id, fact_id)
    SELECT s.tenant_id, s.id, NEW.id FROM spaces AS s WHERE s.tenant_id = NEW.tenant_id AND s.state <> 'retired'
    ON CONFLICT (tenant_id, space_id, fact_id) DO UPDATE SET queued_at = excluded.queued_at;
    RETURN NULL;
END
$$;

CREATE FUNCTION keep_deleted_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO fact_history
        (tenant_id, fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at)
    VALUES (
        OLD.tenant_id, OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags,
        OLD.expires_at, moment()
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER number_fact BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION number_fact();
CREATE TRIGGER keep_inserted_fact AFTER INSERT ON facts FOR EACH ROW EXECUTE FUNCTION keep_fact();
CREATE TRIGGER keep_rewritten_fact AFTER UPDATE OF value, tags, expires_at, version ON facts FOR EACH ROW
WHEN (
    (NEW.value, NEW.tags, NEW.expires_at, NEW.version)
    IS DISTINCT FROM (OLD.value, OLD.tags, OLD.expires_at, OLD.version)
)
EXECUTE FUNCTION keep_fact();
CREATE TRIGGER keep_deleted_fact AFTER DELETE ON facts FOR EACH ROW EXECUTE FUNCTION keep_deleted_fact();
CREATE TRIGGER place_project AFTER INSERT ON facts FOR EACH ROW
WHEN (NEW.scope = 'project' AND NEW.owner <> '' AND NEW.person IS NULL)
EXECUTE FUNCTION place_project('owner');
CREATE TRIGGER erase_earlier AFTER UPDATE OF value, tags ON fact_history FOR EACH ROW
WHEN (NEW.value <> OLD.value OR NEW.tags <> OLD.tags)
EXECUTE FUNCTION erase_earlier();

-- Projects

-- The project in which a thing of the trash was, and its parts as of another one.
CREATE FUNCTION project_of_trash(kind text, parts text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE kind
        WHEN 'memory' THEN parts::json #>> '{memories,0,project}'
        WHEN 'turn' THEN parts::json #>> '{turns,0,project}'
    END
$$;

CREATE FUNCTION with_project_of_trash(kind text, parts text, project text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT jsonb_set(
        parts::jsonb,
        CASE kind WHEN 'memory' THEN '{memories,0,project}'::text[] ELSE '{turns,0,project}'::text[] END,
        to_jsonb(project)
    )::text
$$;

CREATE FUNCTION enter_project() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM project_keys AS k WHERE k.tenant_id = NEW.tenant_id AND k.kind = 'name' AND k.key = NEW.name;
    RETURN NULL;
END
$$;

-- Every row follows, whoever sees it, and the old name leads to the project from now on.
CREATE FUNCTION rename_project() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    talk_before text := substr('project:' || OLD.name, 1, 200);
    talk text := substr('project:' || NEW.name, 1, 200);
BEGIN
    DELETE FROM project_keys AS k
    WHERE k.tenant_id = NEW.tenant_id AND k.kind = 'name' AND k.key IN (NEW.name, OLD.name);
    INSERT INTO project_keys (tenant_id, kind, key, project_id) VALUES (NEW.tenant_id, 'name', OLD.name, NEW.id);
    UPDATE memories SET project = NEW.name WHERE tenant_id = NEW.tenant_id AND project = OLD.name;
    UPDATE fact_history SET owner = NEW.name
    WHERE tenant_id = NEW.tenant_id AND scope = 'project' AND owner = OLD.name;
    UPDATE facts SET owner = NEW.name WHERE tenant_id = NEW.tenant_id AND scope = 'project' AND owner = OLD.name;
    UPDATE turns SET project = NEW.name WHERE tenant_id = NEW.tenant_id AND project = OLD.name;
    UPDATE open_questions SET project = NEW.name WHERE tenant_id = NEW.tenant_id AND project = OLD.name;
    UPDATE conversations AS c SET name = coalesce(c.person || chr(31), '') || talk
    WHERE c.tenant_id = NEW.tenant_id AND c.name = coalesce(c.person || chr(31), '') || talk_before
        AND NOT EXISTS (
            SELECT 1
            FROM conversations AS other
            WHERE other.tenant_id = c.tenant_id AND other.name = coalesce(c.person || chr(31), '') || talk
        );
    UPDATE trash AS t SET conversation = coalesce(t.person || chr(31), '') || talk
    WHERE t.tenant_id = NEW.tenant_id AND t.conversation = coalesce(t.person || chr(31), '') || talk_before;
    UPDATE trash SET parts = with_project_of_trash(kind, parts, NEW.name)
    WHERE tenant_id = NEW.tenant_id AND project_of_trash(kind, parts) = OLD.name;
    UPDATE tokens AS t
    SET projects = (
        SELECT json_agg(CASE name WHEN OLD.name THEN NEW.name ELSE name END ORDER BY place)
        FROM json_array_elements_text(t.projects::json) WITH ORDINALITY AS names (name, place)
    )
    WHERE t.tenant_id = NEW.tenant_id AND t.projects::jsonb ? OLD.name;
    RETURN NULL;
END
$$;

CREATE FUNCTION leave_project() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM open_questions AS q USING gone WHERE q.tenant_id = gone.tenant_id AND q.project = gone.name;
    RETURN NULL;
END
$$;

CREATE TRIGGER enter_project AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION enter_project();
CREATE TRIGGER rename_project AFTER UPDATE OF name ON projects FOR EACH ROW
WHEN (NEW.name <> OLD.name)
EXECUTE FUNCTION rename_project();
CREATE TRIGGER erase_earlier AFTER UPDATE OF name ON projects FOR EACH ROW
WHEN (NEW.name <> OLD.name)
EXECUTE FUNCTION erase_earlier();
CREATE TRIGGER leave_project AFTER DELETE ON projects REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION leave_project();

-- Turns

CREATE FUNCTION queue_turn() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM turn_embeddings AS e WHERE e.tenant_id = NEW.tenant_id AND e.turn_id = NEW.id;
        DELETE FROM turn_message_embeddings AS e WHERE e.tenant_id = NEW.tenant_id AND e.turn_id = NEW.id;
    END IF;
    INSERT INTO turn_embedding_queue (tenant_id, space_id, turn_id)
    SELECT s.tenant_id, s.id, NEW.id FROM spaces AS s WHERE s.tenant_id = NEW.tenant_id AND s.state <> 'retired'
    ON CONFLICT (tenant_id, space_id, turn_id) DO UPDATE SET queued_at = excluded.queued_at;
    RETURN NULL;
END
$$;

-- The memory that stands for several turns falls with each of them.
CREATE FUNCTION drop_digest_of_turn() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    digest bigint := (
        SELECT d.digest_id
        FROM digested AS d
        WHERE d.tenant_id = OLD.tenant_id AND d.kind = 'turn' AND d.item_id = OLD.id AND d.digest_id <> 0
    );
BEGIN
    IF digest IS NOT NULL THEN
        PERFORM drop_digests(OLD.tenant_id, ARRAY[digest]);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER queue_inserted_turn AFTER INSERT ON turns FOR EACH ROW EXECUTE FUNCTION queue_turn();
CREATE TRIGGER queue_rewritten_turn AFTER UPDATE OF message, summary ON turns FOR EACH ROW
WHEN (NEW.message <> OLD.message OR NEW.summary <> OLD.summary)
EXECUTE FUNCTION queue_turn();
CREATE TRIGGER erase_earlier AFTER UPDATE OF message, summary ON turns FOR EACH ROW
WHEN (NEW.message <> OLD.message OR NEW.summary <> OLD.summary)
EXECUTE FUNCTION erase_earlier();
CREATE TRIGGER drop_digest_of_rewritten AFTER UPDATE OF message, summary ON turns FOR EACH ROW
WHEN (NEW.message <> OLD.message OR NEW.summary <> OLD.summary)
EXECUTE FUNCTION drop_digest_of_turn();
CREATE TRIGGER drop_digest_of_deleted AFTER DELETE ON turns FOR EACH ROW EXECUTE FUNCTION drop_digest_of_turn();
CREATE TRIGGER place_project AFTER INSERT OR UPDATE OF project ON turns FOR EACH ROW
WHEN (NEW.project <> '')
EXECUTE FUNCTION place_project('project');

-- Short-term memories

CREATE FUNCTION queue_short_term() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM short_term_embeddings AS e WHERE e.tenant_id = NEW.tenant_id AND e.memory_id = NEW.id;
        DELETE FROM short_term_keywords AS k WHERE k.tenant_id = NEW.tenant_id AND k.memory_id = NEW.id;
    END IF;
    INSERT INTO short_term_embedding_queue (tenant_id, space_id, memory_id)
    SELECT s.tenant_id, s.id, NEW.id FROM spaces AS s WHERE s.tenant_id = NEW.tenant_id AND s.state <> 'retired'
    ON CONFLICT (tenant_id, space_id, memory_id) DO UPDATE SET queued_at = excluded.queued_at;
    RETURN NULL;
END
$$;

CREATE FUNCTION unkey_short_term() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
    NEW.keyed := false;
    RETURN NEW;
END
$$;

CREATE FUNCTION move_keywords() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE short_term_keywords SET conversation_id = NEW.conversation_id
    WHERE tenant_id = NEW.tenant_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER unkey_rewritten BEFORE UPDATE OF text ON short_term_memories FOR EACH ROW
WHEN (NEW.text <> OLD.text)
EXECUTE FUNCTION unkey_short_term();
CREATE TRIGGER queue_inserted AFTER INSERT ON short_term_memories FOR EACH ROW EXECUTE FUNCTION queue_short_term();
CREATE TRIGGER queue_rewritten AFTER UPDATE OF text ON short_term_memories FOR EACH ROW
WHEN (NEW.text <> OLD.text)
EXECUTE FUNCTION queue_short_term();
CREATE TRIGGER erase_earlier AFTER UPDATE OF text ON short_term_memories FOR EACH ROW
WHEN (NEW.text <> OLD.text)
EXECUTE FUNCTION erase_earlier();
CREATE TRIGGER move_keywords AFTER UPDATE OF conversation_id ON short_term_memories FOR EACH ROW
WHEN (NEW.conversation_id <> OLD.conversation_id)
EXECUTE FUNCTION move_keywords();

-- What a memory that was said at a moment has lost to time until another one: see domain/short_term.py. The days are
-- those of SQLite's julianday(), to the last digit.
CREATE FUNCTION julian_day(moment text) RETURNS double precision LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (round(1000 * extract(epoch FROM moment::timestamptz))::bigint + 210866760000000)::double precision
        / 86400000.0::double precision
$$;

-- Long-term memories

-- Another trigger has not failed yet.
CREATE FUNCTION retrigger() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
    NEW.error := NULL;
    NEW.failures := 0;
    NEW.quarantined_until := NULL;
    NEW.slow := false;
    NEW.judged_at := NULL;
    RETURN NEW;
END
$$;

CREATE TRIGGER retrigger BEFORE UPDATE OF trigger ON long_term_memories FOR EACH ROW
WHEN (NEW.trigger <> OLD.trigger)
EXECUTE FUNCTION retrigger();
CREATE TRIGGER erase_earlier
AFTER UPDATE OF name, prompt, trigger, created_context, updated_context ON long_term_memories FOR EACH ROW
WHEN (
    (NEW.name, NEW.prompt, NEW.trigger, NEW.created_context, NEW.updated_context)
    IS DISTINCT FROM (OLD.name, OLD.prompt, OLD.trigger, OLD.created_context, OLD.updated_context)
)
EXECUTE FUNCTION erase_earlier();

-- What hooks did: so many rows of each table are kept, the latest.

CREATE FUNCTION cap_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    EXECUTE format('DELETE FROM %I WHERE tenant_id = $1 AND id <= $2 - $3', TG_TABLE_NAME)
    USING NEW.tenant_id, NEW.id, TG_ARGV[0]::bigint;
    RETURN NULL;
END
$$;

CREATE TRIGGER cap_rows AFTER INSERT ON hook_captures FOR EACH ROW EXECUTE FUNCTION cap_rows(50000);
CREATE TRIGGER cap_rows AFTER INSERT ON hook_injections FOR EACH ROW EXECUTE FUNCTION cap_rows(5000);

-- What a hook kept unasked is the user's from the moment that somebody changes it.
CREATE FUNCTION adopt_memory() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM hook_captures AS c
    WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'memory' AND c.item_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER adopt_memory AFTER UPDATE OF content, importance ON memories FOR EACH ROW
EXECUTE FUNCTION adopt_memory();


-- ## copying

-- A tenant into which another database is copied cannot be used before the copy is finished.

ALTER TABLE tenants ADD COLUMN copy_of exact_text; -- of what it is an unfinished copy; NULL where it can be used

CREATE OR REPLACE FUNCTION refuse_newer(known int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    newest int := (SELECT max(version) FROM migrations);
    source text := (SELECT copy_of FROM tenants WHERE id = tenant());
BEGIN
    IF newest > known THEN
        RAISE EXCEPTION 'the schema has version %', newest USING ERRCODE = 'MS001';
    END IF;
    IF source IS NOT NULL THEN
        RAISE EXCEPTION '%', source USING ERRCODE = 'MS002';
    END IF;
END
$$;


-- ## ids of projects

-- Each store and each search in a project reads the ids of all its memories, and who sees them: the index alone has both.

DROP INDEX memories_by_project;
CREATE INDEX memories_by_project ON memories (tenant_id, project, type) INCLUDE (id, person);


-- ## growth

-- While another database is copied into a tenant, no server can read or write it, not even one that had it open before
-- the copy began: each transaction calls this function.

CREATE FUNCTION refuse_unfinished(tenant int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    source text := (SELECT copy_of FROM tenants WHERE id = tenant);
BEGIN
    IF source IS NOT NULL THEN
        RAISE EXCEPTION '%', source USING ERRCODE = 'MS002';
    END IF;
END
$$;

-- Builds an index of vectors with so many dimensions, for each table of vectors except that of short-term memories: one
-- index for all tenants. It keeps numbers of two bytes; what it finds is compared in full precision. Nobody can write to a
-- table while its index is built, so a table with more than `most` rows gets none: there all vectors are compared.
DROP FUNCTION index_vectors(int);
CREATE FUNCTION index_vectors(dimensions int, most real DEFAULT 'infinity') RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    name text;
BEGIN
    IF dimensions NOT BETWEEN 1 AND 4000 THEN -- the most that such an index takes
        RETURN;
    END IF;
    FOREACH name IN ARRAY ARRAY[
        'embeddings', 'part_embeddings', 'fact_embeddings', 'turn_embeddings', 'turn_message_embeddings'
    ] LOOP
        IF to_regclass(format('%I', name || '_by_meaning_' || dimensions)) IS NULL
            AND (SELECT reltuples FROM pg_class WHERE oid = name::regclass) <= most
        THEN
            EXECUTE format(
                'CREATE INDEX IF NOT EXISTS %1$I ON %3$I'
                ' USING hnsw ((vector::halfvec(%2$s)) halfvec_cosine_ops) WHERE vector_dims(vector) = %2$s',
                name || '_by_meaning_' || dimensions, dimensions, name
            );
        END IF;
    END LOOP;
END
$$;

DO $$
BEGIN
    PERFORM index_vectors(dimensions, 100000)
    FROM (SELECT DISTINCT dimensions FROM spaces WHERE state <> 'retired') AS used;
END
$$;

-- For what was written last in all projects. Lists are in the order in which things occurred, the log and the timeline in
-- the order in which they were written; the timeline also counts what was recalled and what was superseded.
CREATE INDEX memories_by_occurrence ON memories (tenant_id, (coalesce(occurred_at, created_at)), id);
CREATE INDEX turns_by_occurrence ON turns (tenant_id, (coalesce(occurred_at, created_at)), id);
CREATE INDEX facts_by_update ON facts (tenant_id, updated_at, id);
CREATE INDEX short_term_memories_by_saying ON short_term_memories (tenant_id, said_at, id);
CREATE INDEX memories_by_creation ON memories (tenant_id, created_at, id);
CREATE INDEX turns_by_creation ON turns (tenant_id, created_at, id);
CREATE INDEX fact_history_by_moment ON fact_history (tenant_id, changed_at, id);
CREATE INDEX memories_by_access ON memories (tenant_id, accessed_at) WHERE accessed_at IS NOT NULL;
CREATE INDEX edges_superseding ON edges (tenant_id, valid_from) WHERE relation = 'supersedes';


-- ## writers

-- The person who alone has written a row, by the name of the token: `created_by` also holds what a client calls itself.
-- NULL: the owner, several people, or nobody knows. Only its writer and the owner erase a row for good; only those who
-- have the right to it change a shared fact. As sqlite/rights.py says for SQLite.

ALTER TABLE memories ADD COLUMN writer exact_text CHECK (length(writer) BETWEEN 1 AND 100);
ALTER TABLE facts ADD COLUMN writer exact_text CHECK (length(writer) BETWEEN 1 AND 100);
ALTER TABLE fact_history ADD COLUMN writer exact_text CHECK (length(writer) BETWEEN 1 AND 100); -- of the value
ALTER TABLE trash ADD COLUMN writer exact_text CHECK (length(writer) BETWEEN 1 AND 100);

-- Of rows from before, it is certain for what is somebody's own.
UPDATE memories SET writer = person WHERE person IS NOT NULL;
UPDATE trash SET writer = person WHERE person IS NOT NULL;
UPDATE facts SET writer = person WHERE person IS NOT NULL;
UPDATE fact_history SET writer = person WHERE person IS NOT NULL;

-- Shared facts are shown with their writer. The history has none, so this gives nobody the right to erase one.
UPDATE facts
SET writer = (
    SELECT t.name
    FROM tokens AS t
    WHERE t.tenant_id = facts.tenant_id
        AND (facts.updated_by = t.name OR starts_with(facts.updated_by, t.name || ' ('))
    ORDER BY length(t.name) DESC
    LIMIT 1
)
WHERE scope = 'shared';

-- A token that may write shared facts, though it has not all projects.
ALTER TABLE tokens ADD COLUMN shared boolean NOT NULL DEFAULT false;

-- The history keeps the writer of each value, also with the step that deletes it.
CREATE OR REPLACE FUNCTION keep_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO fact_history
        (tenant_id, fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, writer)
    VALUES (
        NEW.tenant_id, NEW.id, NEW.scope, NEW.owner, NEW.key, NEW.version, 'written', NEW.value, NEW.tags,
        NEW.expires_at, NEW.updated_at, NEW.updated_by, NEW.writer
    );
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM fact_embeddings AS e WHERE e.tenant_id = NEW.tenant_id AND e.fact_id = NEW.id;
    END IF;
    INSERT INTO fact_embedding_queue (tenant_id, space_id, fact_id)
    SELECT s.tenant_id, s.id, NEW.id FROM spaces AS s WHERE s.tenant_id = NEW.tenant_id AND s.state <> 'retired'
    ON CONFLICT (tenant_id, space_id, fact_id) DO UPDATE SET queued_at = excluded.queued_at;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION keep_deleted_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO fact_history
        (tenant_id, fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, writer)
    VALUES (
        OLD.tenant_id, OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags,
        OLD.expires_at, moment(), OLD.writer
    );
    RETURN NULL;
END
$$;

-- Whether the person changes shared facts.
CREATE FUNCTION shares() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT person() = '' OR coalesce(current_setting('memory.shares', true), '') = 'on' $$;

CREATE FUNCTION refuse_sharing() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'this person may not change shared facts' USING ERRCODE = 'integrity_constraint_violation';
END
$$;

-- To read a fact counts an access, so not every change of its row is one of the fact.
CREATE TRIGGER refuse_sharing BEFORE UPDATE OF value, tags, version, expires_at, updated_at, updated_by, writer ON facts
FOR EACH ROW WHEN (OLD.scope = 'shared' AND NOT shares()) EXECUTE FUNCTION refuse_sharing();
CREATE TRIGGER refuse_sharing_anew BEFORE INSERT ON facts
FOR EACH ROW WHEN (NEW.scope = 'shared' AND NOT shares()) EXECUTE FUNCTION refuse_sharing();
CREATE TRIGGER refuse_sharing_no_more BEFORE DELETE ON facts
FOR EACH ROW WHEN (OLD.scope = 'shared' AND NOT shares()) EXECUTE FUNCTION refuse_sharing();
CREATE TRIGGER refuse_sharing BEFORE UPDATE OR DELETE ON fact_history
FOR EACH ROW WHEN (OLD.scope = 'shared' AND NOT shares()) EXECUTE FUNCTION refuse_sharing();

-- Whether the person has written a row alone.
CREATE FUNCTION wrote(writer text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT person() = '' OR writer IS NOT DISTINCT FROM person() $$;

-- Whether the person alone has written all values that a key of a fact has had.
CREATE FUNCTION wrote_all(fact_scope text, fact_owner text, fact_key text) RETURNS boolean LANGUAGE sql STABLE
SECURITY DEFINER SET search_path FROM CURRENT
AS $$
    SELECT person() = '' OR NOT EXISTS (
        SELECT 1
        FROM fact_history AS h
        WHERE h.tenant_id = tenant() AND h.scope = fact_scope AND h.owner = fact_owner AND h.key = fact_key
            AND h.writer IS DISTINCT FROM person()
    )
$$;

CREATE POLICY erasing ON memories AS RESTRICTIVE FOR DELETE USING (
    wrote(writer) OR EXISTS (
        SELECT 1
        FROM trash AS t
        WHERE t.tenant_id = memories.tenant_id AND t.kind = 'memory' AND t.item_id = memories.id
    )
);
CREATE POLICY erasing ON trash AS RESTRICTIVE FOR DELETE USING (
    wrote(writer) OR kind = 'memory' AND EXISTS (
        SELECT 1 FROM memories AS m WHERE m.tenant_id = trash.tenant_id AND m.id = trash.item_id
    )
);
CREATE POLICY erasing ON fact_history AS RESTRICTIVE FOR DELETE USING (wrote_all(scope, owner, key));

-- Nobody writes in the name of somebody else. What is brought back from the trash has the writer that it had.
CREATE POLICY signing ON memories AS RESTRICTIVE FOR INSERT WITH CHECK (
    writer IS NULL OR wrote(writer) OR EXISTS (
        SELECT 1
        FROM trash AS t
        WHERE t.tenant_id = memories.tenant_id AND t.kind = 'memory' AND t.item_id = memories.id
            AND t.writer = memories.writer
    )
);
CREATE POLICY signing ON facts AS RESTRICTIVE FOR INSERT WITH CHECK (wrote(writer));
CREATE POLICY signing ON fact_history AS RESTRICTIVE FOR INSERT WITH CHECK (writer IS NULL OR wrote(writer));
CREATE POLICY signing ON trash AS RESTRICTIVE FOR INSERT WITH CHECK (
    writer IS NULL OR wrote(writer) OR EXISTS (
        SELECT 1
        FROM memories AS m
        WHERE m.tenant_id = trash.tenant_id AND m.id = trash.item_id AND m.writer = trash.writer
    )
);

CREATE FUNCTION refuse_signing() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'its writer would be somebody else' USING ERRCODE = 'integrity_constraint_violation';
END
$$;

CREATE TRIGGER refuse_signing BEFORE UPDATE OF writer ON memories FOR EACH ROW
WHEN (person() <> '' AND NEW.writer IS NOT NULL AND NEW.writer IS DISTINCT FROM OLD.writer)
EXECUTE FUNCTION refuse_signing();
CREATE TRIGGER refuse_signing BEFORE UPDATE OF writer ON facts FOR EACH ROW
WHEN (NEW.writer IS DISTINCT FROM OLD.writer AND NOT wrote(NEW.writer))
EXECUTE FUNCTION refuse_signing();
CREATE TRIGGER refuse_signing BEFORE UPDATE OF writer ON fact_history FOR EACH ROW
WHEN (person() <> '' AND NEW.writer IS DISTINCT FROM OLD.writer)
EXECUTE FUNCTION refuse_signing();
CREATE TRIGGER refuse_signing BEFORE UPDATE OF writer ON trash FOR EACH ROW
WHEN (person() <> '' AND NEW.writer IS DISTINCT FROM OLD.writer)
EXECUTE FUNCTION refuse_signing();


-- ## server days

-- The last two days on which a server did the background jobs of a tenant, in days since 1970. What is removed by its age
-- is removed as of the day before today: a clock that leaps for one start removes nothing.

CREATE TABLE server_days (
    tenant_id int NOT NULL DEFAULT tenant(),
    day int NOT NULL,
    PRIMARY KEY (tenant_id, day)
);
ALTER TABLE server_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON server_days USING (tenant_id = (SELECT tenant())) WITH CHECK (tenant_id = (SELECT tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON server_days TO memory_server;


-- ## likely updates

-- A memory and a fact, a turn or another memory of which the newer one probably replaces the older one, until a client has
-- said so. It holds no words: what is erased is gone from here too. A row outlives both, which may come back out of the
-- trash.
CREATE TABLE likely_updates (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('likely_updates'),
    memory_id bigint NOT NULL,
    kind exact_text NOT NULL CHECK (kind IN ('memory', 'fact', 'turn')),
    item_id bigint NOT NULL,
    newer boolean NOT NULL, -- the memory is the newer one
    found_at exact_text NOT NULL DEFAULT moment(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, memory_id, kind, item_id)
);
CREATE INDEX likely_updates_by_moment ON likely_updates (tenant_id, found_at);

ALTER TABLE likely_updates ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON likely_updates USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM memories AS m WHERE m.tenant_id = likely_updates.tenant_id AND m.id = likely_updates.memory_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON likely_updates TO memory_server;

-- The latest 1,000 are kept.
CREATE FUNCTION likely_updates_capped() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM likely_updates AS u
    USING (SELECT tenant_id, max(id) AS id FROM came GROUP BY tenant_id) AS newest
    WHERE u.tenant_id = newest.tenant_id AND u.id <= newest.id - 1000;
    RETURN NULL;
END
$$;

CREATE TRIGGER capped AFTER INSERT ON likely_updates REFERENCING NEW TABLE AS came
FOR EACH STATEMENT EXECUTE FUNCTION likely_updates_capped();


-- ## token vectors

-- The vectors of the tokens of memories, by which a search reads its best candidates token by token. They are made by the
-- run that makes the embedding, and go with it: whatever removes an embedding removes them.
CREATE TABLE token_vectors (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    text_id bigint NOT NULL, -- of the memory, or of a part after the first
    memory_id bigint NOT NULL,
    vectors bytea NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (tenant_id, space_id, text_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX token_vectors_by_memory ON token_vectors (tenant_id, memory_id);
-- They hardly shrink, and every search reads a hundred of them.
ALTER TABLE token_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

ALTER TABLE token_vectors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON token_vectors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM memories AS m WHERE m.tenant_id = token_vectors.tenant_id AND m.id = token_vectors.memory_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON token_vectors TO memory_server;

CREATE FUNCTION embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.text_id = gone.memory_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION embeddings_deleted();

CREATE FUNCTION part_embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.text_id = gone.part_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON part_embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION part_embeddings_deleted();


-- ## days

-- The memories of some days, found between two moments. Row-level security did not let the index of 0010_growth search
-- between them, only order by them: PostgreSQL does not count `coalesce` among the expressions that leak nothing. `CASE` it does.
CREATE INDEX memories_by_day ON memories (
    tenant_id, (CASE WHEN occurred_at IS NULL THEN created_at ELSE occurred_at END), id
);
DROP INDEX memories_by_occurrence;


-- ## tokens of turns and facts

-- The vectors of the tokens of turns and facts, as `token_vectors` has those of memories. They go with the embedding.
CREATE TABLE turn_token_vectors (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    turn_id bigint NOT NULL,
    vectors bytea NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (tenant_id, space_id, turn_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_token_vectors_by_turn ON turn_token_vectors (tenant_id, turn_id);
ALTER TABLE turn_token_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

CREATE TABLE fact_token_vectors (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    fact_id bigint NOT NULL,
    vectors bytea NOT NULL,
    PRIMARY KEY (tenant_id, space_id, fact_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX fact_token_vectors_by_fact ON fact_token_vectors (tenant_id, fact_id);
ALTER TABLE fact_token_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

ALTER TABLE turn_token_vectors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON turn_token_vectors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM turns AS t WHERE t.tenant_id = turn_token_vectors.tenant_id AND t.id = turn_token_vectors.turn_id
        )
    )
);
ALTER TABLE fact_token_vectors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON fact_token_vectors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM facts AS f WHERE f.tenant_id = fact_token_vectors.tenant_id AND f.id = fact_token_vectors.fact_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON turn_token_vectors, fact_token_vectors TO memory_server;

CREATE FUNCTION turn_embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM turn_token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.turn_id = gone.turn_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON turn_embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION turn_embeddings_deleted();

CREATE FUNCTION fact_embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM fact_token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.fact_id = gone.fact_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON fact_embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION fact_embeddings_deleted();


-- ## events

-- What was done to many things at once, and is undone as one: an import, a merge, and what was forgotten together. `changes`,
-- `trash` and `fact_history` hold one thing a row, and none of them says that a thing was added, and with which others.
CREATE TABLE events (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('events'),
    action exact_text NOT NULL CHECK (action IN ('imported', 'forgot')),
    source exact_text NOT NULL, -- the format of an import, or what chose the things that were forgotten
    path exact_text NOT NULL DEFAULT '',
    counts exact_text NOT NULL DEFAULT '', -- how many of which kind: 'memories added 12, updated 1'
    happened_at exact_text NOT NULL DEFAULT moment(),
    happened_by exact_text,
    session exact_text,
    undone_at exact_text,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX events_by_moment ON events (tenant_id, happened_at);

-- What an event did to each thing. They are there for as long as it can be undone.
CREATE TABLE event_steps (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('event_steps'),
    event_id bigint NOT NULL,
    did exact_text NOT NULL CHECK (did IN ('added', 'changed', 'ended', 'returned')),
    kind exact_text NOT NULL,
    item_id bigint NOT NULL,
    before exact_text, -- the record as it was, where it was changed; where from it came, if it ended
    after exact_text NOT NULL DEFAULT '', -- a digest of what the thing says since
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES events (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX event_steps_by_event ON event_steps (tenant_id, event_id);
CREATE INDEX event_steps_by_item ON event_steps (tenant_id, kind, item_id);

-- Of the owner alone, as origins are.
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON events USING (tenant_id = (SELECT tenant()) AND (SELECT person()) = '');
ALTER TABLE event_steps ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON event_steps USING (tenant_id = (SELECT tenant()) AND (SELECT person()) = '');
GRANT SELECT, INSERT, UPDATE, DELETE ON events, event_steps TO memory_server;

-- What is erased leaves no text here. What lies in the trash may come back. The argument is the kind.
CREATE FUNCTION forget_steps() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM event_steps AS s
    USING gone
    WHERE s.tenant_id = gone.tenant_id AND s.kind = TG_ARGV[0] AND s.item_id = gone.id AND NOT EXISTS (
        SELECT 1 FROM trash AS t WHERE t.tenant_id = s.tenant_id AND t.kind = s.kind AND t.item_id = s.item_id
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER forget_steps AFTER DELETE ON memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_steps('memory');
CREATE TRIGGER forget_steps AFTER DELETE ON turns REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_steps('turn');
CREATE TRIGGER forget_steps AFTER DELETE ON short_term_memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_steps('short_term');
CREATE TRIGGER forget_steps AFTER DELETE ON long_term_memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_steps('long_term');

CREATE FUNCTION forget_steps_with_trash() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM event_steps AS s
    USING gone AS w
    WHERE s.tenant_id = w.tenant_id AND s.kind = w.kind AND s.item_id = w.item_id AND NOT EXISTS (
        SELECT 1 FROM memories AS m WHERE w.kind = 'memory' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM turns AS m WHERE w.kind = 'turn' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM short_term_memories AS m
        WHERE w.kind = 'short_term' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM long_term_memories AS m
        WHERE w.kind = 'long_term' AND m.tenant_id = w.tenant_id AND m.id = w.item_id
        UNION ALL
        SELECT 1 FROM trash AS t WHERE t.tenant_id = w.tenant_id AND t.kind = w.kind AND t.item_id = w.item_id
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER forget_steps AFTER DELETE ON trash REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_steps_with_trash();

CREATE FUNCTION forget_fact_steps() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM event_steps WHERE tenant_id = OLD.tenant_id AND kind = 'fact' AND item_id = OLD.fact_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER forget_steps AFTER DELETE ON fact_history FOR EACH ROW EXECUTE FUNCTION forget_fact_steps();
-- The value of an expired fact is taken out of its history.
CREATE TRIGGER forget_steps_of_expired AFTER UPDATE OF value ON fact_history FOR EACH ROW
WHEN (NEW.value <> OLD.value) EXECUTE FUNCTION forget_fact_steps();

CREATE TRIGGER erase_gone AFTER DELETE ON event_steps REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION erase_gone();

-- The file that has the item, and the heading or the entity under which it stands there: `~/CLAUDE.md#Style`.
-- An item that stands there no longer has ended.
ALTER TABLE origins ADD COLUMN place exact_text NOT NULL DEFAULT '';
CREATE INDEX origins_by_place ON origins (tenant_id, source, place);


-- ## marks

-- Which turns were read from transcripts: searches and lists of what was stored leave them out, and need not look at each turn.
ALTER TABLE turns ADD COLUMN transcript int
GENERATED ALWAYS AS (CASE WHEN created_by LIKE '%(transcript)' THEN 1 ELSE 0 END) STORED;
CREATE INDEX turns_by_transcript ON turns (tenant_id, transcript, id);

-- The digest of what the file of a memory says, as far as it was written back; NULL: corrections are not written back to it.
ALTER TABLE origins ADD COLUMN written exact_text;
CREATE INDEX origins_written ON origins (tenant_id, item_id) WHERE written IS NOT NULL;


-- ## trust

-- Who said a text first: 'typed', 'told', 'seen', 'web HOST', 'mcp:NAME', 'imported:FORMAT', 'inferred', or 'unknown', as of
-- what is from before. The program stamps it, and no caller can: `created_by` holds what a client calls itself.

ALTER TABLE memories ADD COLUMN origin exact_text NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE facts ADD COLUMN origin exact_text NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE fact_history ADD COLUMN origin exact_text NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE turns ADD COLUMN origin exact_text NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE short_term_memories ADD COLUMN origin exact_text NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);
ALTER TABLE long_term_memories ADD COLUMN origin exact_text NOT NULL DEFAULT 'unknown' CHECK (length(origin) BETWEEN 1 AND 200);

-- The history keeps the origin of each value, also with the step that deletes it.
CREATE OR REPLACE FUNCTION keep_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO fact_history
        (tenant_id, fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by, writer, origin)
    VALUES (
        NEW.tenant_id, NEW.id, NEW.scope, NEW.owner, NEW.key, NEW.version, 'written', NEW.value, NEW.tags,
        NEW.expires_at, NEW.updated_at, NEW.updated_by, NEW.writer, NEW.origin
    );
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM fact_embeddings AS e WHERE e.tenant_id = NEW.tenant_id AND e.fact_id = NEW.id;
    END IF;
    INSERT INTO fact_embedding_queue (tenant_id, space_id, fact_id)
    SELECT s.tenant_id, s.id, NEW.id FROM spaces AS s WHERE s.tenant_id = NEW.tenant_id AND s.state <> 'retired'
    ON CONFLICT (tenant_id, space_id, fact_id) DO UPDATE SET queued_at = excluded.queued_at;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION keep_deleted_fact() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO fact_history
        (tenant_id, fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, writer, origin)
    VALUES (
        OLD.tenant_id, OLD.id, OLD.scope, OLD.owner, OLD.key, OLD.version + 1, 'deleted', OLD.value, OLD.tags,
        OLD.expires_at, moment(), OLD.writer, OLD.origin
    );
    RETURN NULL;
END
$$;


-- ## anchors

-- What of the working tree a memory or a fact speaks of, as it stood there when it was written: files, and lines that hold
-- a name. A list of objects with name, path, line, digests, value, commit and branch: see docs/ground.md. `project` is the
-- key of the project in whose tree it was seen: a file of the same name in another one is another file.
CREATE TABLE memory_anchors (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('memory_anchors'),
    memory_id bigint NOT NULL,
    project exact_text NOT NULL,
    anchors exact_text NOT NULL,
    observed_at exact_text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE fact_anchors (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('fact_anchors'),
    fact_id bigint NOT NULL,
    project exact_text NOT NULL,
    anchors exact_text NOT NULL,
    observed_at exact_text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, fact_id),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);

ALTER TABLE memory_anchors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memory_anchors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM memories AS m WHERE m.tenant_id = memory_anchors.tenant_id AND m.id = memory_anchors.memory_id
        )
    )
);
ALTER TABLE fact_anchors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON fact_anchors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM facts AS f WHERE f.tenant_id = fact_anchors.tenant_id AND f.id = fact_anchors.fact_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_anchors, fact_anchors TO memory_server;

-- Another text speaks of something else.
CREATE FUNCTION memory_reworded() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM memory_anchors WHERE tenant_id = NEW.tenant_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER reworded AFTER UPDATE OF content ON memories
FOR EACH ROW WHEN (OLD.content IS DISTINCT FROM NEW.content) EXECUTE FUNCTION memory_reworded();

CREATE FUNCTION fact_reworded() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM fact_anchors WHERE tenant_id = NEW.tenant_id AND fact_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER reworded AFTER UPDATE OF value ON facts
FOR EACH ROW WHEN (OLD.value IS DISTINCT FROM NEW.value) EXECUTE FUNCTION fact_reworded();


-- ## oldest program

-- Servers are upgraded one after the other: the first new one brings the schema forward, and older ones go on with it. A
-- migration that adds leaves them alone. One that takes away or changes what they use comes a version later than the
-- program that does without, and says so: it replaces this function. A program is known by the last migration that it has.
CREATE FUNCTION oldest_program() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 24';

CREATE OR REPLACE FUNCTION refuse_newer(known int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
BEGIN
    IF known < oldest_program() THEN
        RAISE EXCEPTION 'the schema has version %', (SELECT max(version) FROM migrations) USING ERRCODE = 'MS001';
    END IF;
END
$$;


-- ## acts

-- Hooks say and keep something around acts too: before a tool runs, after it, and after it has failed.
ALTER TABLE hook_injections DROP CONSTRAINT hook_injections_event_check;
ALTER TABLE hook_injections ADD CONSTRAINT hook_injections_event_check CHECK (
    event IN ('SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure')
);
ALTER TABLE hook_captures DROP CONSTRAINT hook_captures_event_check;
ALTER TABLE hook_captures ADD CONSTRAINT hook_captures_event_check CHECK (
    event IN ('Stop', 'PreCompact', 'SessionEnd', 'PostToolUse')
);


-- ## rules

-- A long-term memory whose trigger reads `act` is a rule: before an act of an assistant that it holds, its prompt is said, a
-- person is asked, or the act is denied. `holds` and `passes` are acts on which it was tried. Until a person confirms a
-- rule, it does no more than say. `off`: a person has switched it off.
CREATE TABLE rules (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('rules'),
    memory_id bigint NOT NULL,
    effect exact_text NOT NULL CHECK (effect IN ('say', 'ask', 'deny')),
    holds exact_text NOT NULL,
    passes exact_text NOT NULL,
    confirmed_at exact_text,
    off boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES long_term_memories (tenant_id, id) ON DELETE CASCADE
);

-- What rules did, the last ones. `act` is cut, and without credentials. `overruled_at`: the act ran all the same.
CREATE TABLE rule_hits (
    tenant_id int NOT NULL DEFAULT tenant(),
    id bigint NOT NULL DEFAULT next_id('rule_hits'),
    memory_id bigint NOT NULL,
    at exact_text NOT NULL,
    client exact_text,
    session exact_text,
    effect exact_text NOT NULL,
    act exact_text NOT NULL,
    overruled_at exact_text,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES long_term_memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX rule_hits_of ON rule_hits (tenant_id, memory_id);

ALTER TABLE rules ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON rules USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM long_term_memories AS m WHERE m.tenant_id = rules.tenant_id AND m.id = rules.memory_id
        )
    )
);
ALTER TABLE rule_hits ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON rule_hits USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM long_term_memories AS m WHERE m.tenant_id = rule_hits.tenant_id AND m.id = rule_hits.memory_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON rules, rule_hits TO memory_server;

-- A person has confirmed these words and this trigger, no others.
CREATE FUNCTION rule_reworded() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE rules SET confirmed_at = NULL WHERE tenant_id = NEW.tenant_id AND memory_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER reworded AFTER UPDATE OF prompt, trigger ON long_term_memories
FOR EACH ROW WHEN (OLD.prompt IS DISTINCT FROM NEW.prompt OR OLD.trigger IS DISTINCT FROM NEW.trigger)
EXECUTE FUNCTION rule_reworded();


-- ## moved tenants

-- A tenant can move into another database while servers use it. Then its old database refuses each transaction with the
-- new address, and the servers go there.
ALTER TABLE tenants
    ADD COLUMN moved_to exact_text, -- its address now, without a password; NULL where it has not moved
    ADD COLUMN whole boolean NOT NULL DEFAULT false; -- a copy that has all rows, and waits for its source to be left

CREATE OR REPLACE FUNCTION refuse_unfinished(tenant int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    source text;
    target text;
BEGIN
    SELECT copy_of, moved_to INTO source, target FROM tenants WHERE id = tenant;
    IF target IS NOT NULL THEN
        RAISE EXCEPTION '%', target USING ERRCODE = 'MS003';
    END IF;
    IF source IS NOT NULL THEN
        RAISE EXCEPTION '%', source USING ERRCODE = 'MS002';
    END IF;
END
$$;
