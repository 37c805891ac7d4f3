-- Who may reach the memory over HTTP, and how the tools are used.

-- Only the hash of a token is kept: nobody can read a token out of the file.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Of the person. Several tokens may have the same one, such as one for each machine.
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64), -- SHA-256 of the whole token, in hexadecimal
    prefix TEXT NOT NULL CHECK (length(prefix) BETWEEN 4 AND 20), -- the beginning of the token, by which people know it
    -- Names of the projects that it may see; NULL is all.
    projects TEXT CHECK (projects IS NULL OR (json_valid(projects) AND json_type(projects) = 'array')),
    read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(created_at) IS NOT NULL),
    expires_at TEXT CHECK (expires_at IS NULL OR julianday(expires_at) IS NOT NULL),
    revoked_at TEXT CHECK (revoked_at IS NULL OR julianday(revoked_at) IS NOT NULL),
    last_used TEXT CHECK (last_used IS NULL OR julianday(last_used) IS NOT NULL) -- the day, in UTC
) STRICT;

CREATE VIEW readable_tokens AS
SELECT
    t.id,
    t.name,
    t.prefix || '…' AS token,
    ifnull((SELECT group_concat(value, ', ') FROM json_each(t.projects)), '(all)') AS projects,
    CASE t.read_only WHEN 1 THEN 'read' ELSE 'read and write' END AS may,
    CASE
        WHEN t.revoked_at IS NOT NULL THEN 'revoked'
        WHEN t.expires_at IS NOT NULL AND julianday(t.expires_at) <= julianday('now') THEN 'expired'
        ELSE 'valid'
    END AS state,
    replace(substr(t.created_at, 1, 16), 'T', ' ') AS created,
    ifnull(replace(substr(t.expires_at, 1, 16), 'T', ' '), '-') AS expires,
    ifnull(t.last_used, '-') AS last_used
FROM tokens AS t;

-- The calls of a day by tool: numbers only. `times` counts them by how long they took.
CREATE TABLE call_counts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    day TEXT NOT NULL CHECK (julianday(day) IS NOT NULL), -- in UTC
    tool TEXT NOT NULL CHECK (length(tool) BETWEEN 1 AND 100),
    calls INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0, -- answered with an error that says what mends it
    failed INTEGER NOT NULL DEFAULT 0, -- a bug of the server
    degraded INTEGER NOT NULL DEFAULT 0, -- answered without what it should have used, such as the embedder
    timed_out INTEGER NOT NULL DEFAULT 0, -- triggers that exceeded their time, or were left for the next search
    milliseconds INTEGER NOT NULL DEFAULT 0, -- of all calls together
    times TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(times) AND json_type(times) = 'array'),
    UNIQUE (day, tool)
) STRICT;

CREATE VIEW readable_call_counts AS
SELECT
    c.day,
    c.tool,
    c.calls,
    c.refused,
    c.failed,
    c.degraded,
    c.timed_out,
    CASE WHEN c.calls > 0 THEN round(1.0 * c.milliseconds / c.calls, 1) END AS milliseconds_each
FROM call_counts AS c;
