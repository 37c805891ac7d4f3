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
