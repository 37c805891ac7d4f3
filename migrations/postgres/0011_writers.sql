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
