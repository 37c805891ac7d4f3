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
