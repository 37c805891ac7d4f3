-- The last two days on which a server did the background jobs of a tenant, in days since 1970. What is removed by its age
-- is removed as of the day before today: a clock that leaps for one start removes nothing.

CREATE TABLE server_days (
    tenant_id int NOT NULL DEFAULT tenant(),
    day int NOT NULL,
    PRIMARY KEY (tenant_id, day)
);
ALTER TABLE server_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON server_days USING (tenant_id = (SELECT tenant())) WITH CHECK (tenant_id = (SELECT tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON server_days TO memory_server;
