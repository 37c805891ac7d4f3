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
