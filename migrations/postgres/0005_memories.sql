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
