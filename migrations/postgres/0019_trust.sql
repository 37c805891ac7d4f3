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
