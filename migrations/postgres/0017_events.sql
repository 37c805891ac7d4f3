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
