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
