-- What each write asks and tells.

CREATE FUNCTION refuse_newer(known int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    newest int := (SELECT max(version) FROM migrations);
BEGIN
    IF newest > known THEN
        RAISE EXCEPTION 'the schema has version %', newest USING ERRCODE = 'MS001';
    END IF;
END
$$;

-- How many writes a tenant has seen: it tells a page whether to look again.
CREATE TABLE writes (
    tenant_id int PRIMARY KEY DEFAULT tenant(),
    number bigint NOT NULL
);
ALTER TABLE writes ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON writes USING (tenant_id = (SELECT tenant()));
GRANT SELECT ON writes TO memory_server;

-- Count a write, and tell the other servers when it is committed.
CREATE FUNCTION tell_write() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    reached bigint;
BEGIN
    INSERT INTO writes (tenant_id, number) VALUES (tenant(), 1)
    ON CONFLICT (tenant_id) DO UPDATE SET number = writes.number + 1
    RETURNING number INTO reached;
    PERFORM pg_notify('memory_server', tenant() || ' ' || reached);
END
$$;

-- Which server does the background work of a tenant, by the clock of the database.
CREATE TABLE leads (
    tenant_id int PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL
);
