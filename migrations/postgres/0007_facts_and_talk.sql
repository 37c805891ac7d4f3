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
