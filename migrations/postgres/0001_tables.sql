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
