-- Projects: memories, facts and turns name theirs by one short name, which means the same project for all of them.
-- Until now facts and turns had the path of its folder, and memories the name of that folder.

CREATE TABLE projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    -- The root in which it was used last; NULL where only its name is known.
    folder TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- What a project is known by besides its name. 'remote': the address of its git remote, without scheme and
-- credentials. 'folder': the real path of a root without a remote. 'name': a name that it had before.
CREATE TABLE project_keys (
    kind TEXT NOT NULL CHECK (kind IN ('remote', 'folder', 'name')),
    key TEXT NOT NULL CHECK (length(key) >= 1),
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_keys_by_project ON project_keys (project_id);

-- What facts and turns are filed under now: a path, or a name that was given; those with the most rows first.
CREATE TABLE old_owners (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL UNIQUE,
    path TEXT, -- without / at its end, and with / instead of \
    base TEXT, -- its last folder
    above TEXT, -- the folder above that
    name TEXT
) STRICT;

INSERT INTO old_owners (owner)
SELECT owner
FROM (
    SELECT owner FROM facts WHERE scope = 'project'
    UNION ALL
    SELECT owner FROM fact_history WHERE scope = 'project'
    UNION ALL
    SELECT project FROM turns
    UNION ALL
    SELECT json_extract(parts, '$.turns[0].project') FROM trash WHERE kind = 'turn'
)
WHERE owner <> ''
GROUP BY owner
ORDER BY count(*) DESC, owner;

UPDATE old_owners SET path = rtrim(owner, '/') WHERE owner GLOB '/*';
UPDATE old_owners SET path = rtrim(replace(owner, '\', '/'), '/')
WHERE owner GLOB '[A-Za-z]:[\/]*' OR owner GLOB '\\*';

-- rtrim(path, replace(path, '/', '')) is the path up to its last /.
UPDATE old_owners
SET base = substr(path, length(rtrim(path, replace(path, '/', ''))) + 1),
    above = rtrim(rtrim(path, replace(path, '/', '')), '/')
WHERE path IS NOT NULL;

UPDATE old_owners SET above = substr(above, length(rtrim(above, replace(above, '/', ''))) + 1);

UPDATE old_owners SET base = substr(base, 1, length(base) - 4) WHERE base GLOB '?*.git';
UPDATE old_owners
SET base = trim(substr(replace(replace(replace(base, char(9), ' '), char(10), ' '), char(13), ' '), 1, 200));

-- Names that were given, and those of memories.
UPDATE old_owners SET name = substr(owner, 1, 200) WHERE path IS NULL;
UPDATE old_owners
SET name = 'project-' || id
WHERE length(owner) > 200 AND EXISTS (SELECT 1 FROM old_owners AS o WHERE o.name = old_owners.name AND o.id <> old_owners.id);

INSERT OR IGNORE INTO projects (name)
SELECT name FROM old_owners WHERE name IS NOT NULL
UNION
SELECT project FROM memories WHERE project IS NOT NULL
UNION
SELECT json_extract(parts, '$.memories[0].project') FROM trash
WHERE kind = 'memory' AND json_extract(parts, '$.memories[0].project') <> '';

-- Of the folders that have one name, that with the most rows gets it, and with it the memories of this name; but not
-- where the same name was given for facts or turns: those were apart from the ones of every folder.
UPDATE old_owners
SET name = base
WHERE id = (SELECT min(id) FROM old_owners AS o WHERE o.base = old_owners.base)
    AND base NOT IN ('', '*')
    AND base NOT IN (SELECT name FROM old_owners WHERE name IS NOT NULL);

INSERT OR IGNORE INTO projects (name) SELECT name FROM old_owners WHERE path IS NOT NULL AND name IS NOT NULL;

-- The others are named with the folder above, where that is enough: `me/app`.
UPDATE old_owners
SET name = above || '/' || base
WHERE name IS NULL AND base <> '' AND above NOT IN ('', '.', '..', '~') AND above NOT GLOB '[A-Za-z]:'
    AND length(above || '/' || base) <= 200;

-- Where it is not, they get a number: `app-7`.
UPDATE old_owners
SET name = ifnull(nullif(substr(base, 1, 180), ''), 'project') || '-' || id
WHERE path IS NOT NULL AND (
    name IS NULL
    OR name <> base AND name IN (SELECT name FROM projects)
    OR id <> (SELECT min(id) FROM old_owners AS o WHERE o.name = old_owners.name)
);

UPDATE old_owners
SET name = 'project-' || id || '-' || lower(hex(randomblob(4)))
WHERE name GLOB '*-' || id AND name IN (SELECT name FROM projects) AND name NOT IN (owner, base);

INSERT OR IGNORE INTO projects (name) SELECT name FROM old_owners;

UPDATE projects
SET folder = (SELECT owner FROM old_owners AS o WHERE o.name = projects.name AND o.path IS NOT NULL);

INSERT INTO project_keys (kind, key, project_id)
SELECT 'folder', o.owner, p.id FROM old_owners AS o JOIN projects AS p ON p.name = o.name WHERE o.path IS NOT NULL;

DROP TRIGGER facts_keep_place;

UPDATE facts
SET owner = (SELECT name FROM old_owners AS o WHERE o.owner = facts.owner)
WHERE scope = 'project' AND owner IN (SELECT owner FROM old_owners WHERE name <> owner);

UPDATE fact_history
SET owner = (SELECT name FROM old_owners AS o WHERE o.owner = fact_history.owner)
WHERE scope = 'project' AND owner IN (SELECT owner FROM old_owners WHERE name <> owner);

UPDATE turns
SET project = (SELECT name FROM old_owners AS o WHERE o.owner = turns.project)
WHERE project IN (SELECT owner FROM old_owners WHERE name <> owner);

UPDATE trash
SET parts = json_set(
    parts,
    '$.turns[0].project',
    (SELECT name FROM old_owners AS o WHERE o.owner = json_extract(trash.parts, '$.turns[0].project'))
)
WHERE kind = 'turn'
    AND json_extract(parts, '$.turns[0].project') IN (SELECT owner FROM old_owners WHERE name <> owner);

DROP TABLE old_owners;

-- A fact moves to another project only where its own exists no more under that name: it was renamed or joined.
CREATE TRIGGER facts_keep_place BEFORE UPDATE OF id, scope, owner, key ON facts
WHEN NEW.id <> OLD.id OR NEW.scope <> OLD.scope OR NEW.key <> OLD.key
    OR NEW.owner <> OLD.owner
    AND (OLD.scope <> 'project' OR OLD.owner = '' OR OLD.owner IN (SELECT name FROM projects))
BEGIN
    SELECT RAISE (ABORT, 'a fact never changes its key or scope: insert a new one and delete the old one');
END;

-- Each name that a row has is that of a project, also where a person wrote the row. A former name is borne again then.
CREATE TRIGGER memories_placed AFTER INSERT ON memories
WHEN NEW.project IS NOT NULL AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER memories_moved AFTER UPDATE OF project ON memories
WHEN NEW.project IS NOT NULL AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER facts_placed AFTER INSERT ON facts
WHEN NEW.scope = 'project' AND NEW.owner <> '' AND NEW.owner NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.owner);
END;

CREATE TRIGGER turns_placed AFTER INSERT ON turns
WHEN NEW.project <> '' AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER turns_moved AFTER UPDATE OF project ON turns
WHEN NEW.project <> '' AND NEW.project NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.project);
END;

CREATE TRIGGER projects_inserted AFTER INSERT ON projects BEGIN
    DELETE FROM project_keys WHERE kind = 'name' AND key = NEW.name;
    -- An INSERT OR REPLACE removes the old row without waking the delete trigger: its keys are the new one's.
    UPDATE project_keys SET project_id = NEW.id WHERE project_id NOT IN (SELECT id FROM projects);
END;

CREATE TRIGGER projects_keep_id BEFORE UPDATE OF id ON projects WHEN NEW.id <> OLD.id BEGIN
    SELECT RAISE (ABORT, 'a project never changes its id');
END;

-- A new name, also one that a person gives here: every row follows, and the old name leads to the project too.
CREATE TRIGGER projects_renamed AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    DELETE FROM project_keys WHERE kind = 'name' AND key IN (NEW.name, OLD.name);
    INSERT INTO project_keys (kind, key, project_id) VALUES ('name', OLD.name, NEW.id);
    UPDATE memories SET project = NEW.name WHERE project = OLD.name;
    UPDATE fact_history SET owner = NEW.name WHERE scope = 'project' AND owner = OLD.name;
    UPDATE facts SET owner = NEW.name WHERE scope = 'project' AND owner = OLD.name;
    UPDATE turns SET project = NEW.name WHERE project = OLD.name;
    UPDATE OR IGNORE conversations SET name = substr('project:' || NEW.name, 1, 200)
    WHERE name = substr('project:' || OLD.name, 1, 200);
    UPDATE trash SET conversation = substr('project:' || NEW.name, 1, 200)
    WHERE conversation = substr('project:' || OLD.name, 1, 200);
    UPDATE trash SET parts = json_set(parts, '$.memories[0].project', NEW.name)
    WHERE kind = 'memory' AND json_extract(parts, '$.memories[0].project') = OLD.name;
    UPDATE trash SET parts = json_set(parts, '$.turns[0].project', NEW.name)
    WHERE kind = 'turn' AND json_extract(parts, '$.turns[0].project') = OLD.name;
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

-- The stock program does not enforce foreign keys unless it is told to.
CREATE TRIGGER projects_deleted AFTER DELETE ON projects BEGIN
    DELETE FROM project_keys WHERE project_id = OLD.id;
    UPDATE erasures SET asked = asked + 1 WHERE what = 'file';
END;

CREATE VIEW readable_projects AS
SELECT
    p.name,
    ifnull((SELECT group_concat(key, ', ') FROM project_keys AS k WHERE k.project_id = p.id AND kind <> 'name'), '-')
        AS known_by,
    ifnull((SELECT group_concat(key, ', ') FROM project_keys AS k WHERE k.project_id = p.id AND kind = 'name'), '-')
        AS former_names,
    ifnull(p.folder, '-') AS folder,
    (SELECT count(*) FROM memories AS m WHERE m.project = p.name) AS memories,
    (SELECT count(*) FROM facts AS f WHERE f.scope = 'project' AND f.owner = p.name) AS facts,
    (SELECT count(*) FROM turns AS t WHERE t.project = p.name) AS turns
FROM projects AS p;

DROP VIEW readable_turns;
CREATE VIEW readable_turns AS
SELECT
    id,
    summary,
    message,
    CASE WHEN project = '' THEN '-' ELSE project END AS project,
    replace(substr(created_at, 1, 16), 'T', ' ') AS created,
    ifnull(created_by, '-') AS created_by
FROM turns;
