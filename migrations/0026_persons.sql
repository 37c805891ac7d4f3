-- Whose own a row is, where one server serves several people. NULL: nobody's own. It belongs to its project then, or, where
-- it has none, to the one whose file it is.
--
-- What has a key that is unique has the person in the key: `ana`, the character 31, and what the others have there. So two
-- people have their own `current.task` and their own conversation `default`. Rows from before keep their keys.

ALTER TABLE memories ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE turns ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE trash ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE memory_uses ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);
ALTER TABLE open_questions ADD COLUMN person TEXT CHECK (length(person) BETWEEN 1 AND 100);

-- Only what is somebody's own is in these: other files do not grow.
CREATE INDEX memories_by_person ON memories (person) WHERE person IS NOT NULL;
CREATE INDEX memories_by_person_in_projects ON memories (person) WHERE person IS NOT NULL AND project IS NOT NULL;
CREATE INDEX turns_by_person ON turns (person) WHERE person IS NOT NULL;

-- A wider CHECK is a change of the schema itself that no row can break: see 0011.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(
    sql, 'CHECK (scope IN (''project'', ''session'') OR owner = '''')', 
    'CHECK (scope IN (''project'', ''session'') OR owner = '''' OR (scope = ''global'' AND instr(owner, char(31)) > 1))'
)
WHERE type = 'table' AND name = 'facts';
UPDATE sqlite_schema
SET sql = replace(
    sql, 'CHECK (length(name) BETWEEN 1 AND 200)',
    'CHECK (length(substr(name, instr(name, char(31)) + 1)) BETWEEN 1 AND 200)'
)
WHERE type = 'table' AND name = 'conversations';
PRAGMA writable_schema = RESET;

ALTER TABLE facts ADD COLUMN person TEXT
    GENERATED ALWAYS AS (nullif(substr(owner, 1, instr(owner, char(31)) - 1), '')) VIRTUAL;
ALTER TABLE fact_history ADD COLUMN person TEXT
    GENERATED ALWAYS AS (nullif(substr(owner, 1, instr(owner, char(31)) - 1), '')) VIRTUAL;
ALTER TABLE conversations ADD COLUMN person TEXT
    GENERATED ALWAYS AS (nullif(substr(name, 1, instr(name, char(31)) - 1), '')) VIRTUAL;

-- A fact of no project is the person's own: its owner names no project.
DROP TRIGGER facts_placed;
CREATE TRIGGER facts_placed AFTER INSERT ON facts
WHEN NEW.scope = 'project' AND NEW.owner <> '' AND NEW.person IS NULL AND NEW.owner NOT IN (SELECT name FROM projects)
BEGIN
    INSERT INTO projects (name) VALUES (NEW.owner);
END;

-- The conversations that people have of a project follow its name too.
CREATE TRIGGER projects_renamed_conversations AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    UPDATE OR IGNORE conversations SET name = person || char(31) || substr('project:' || NEW.name, 1, 200)
    WHERE name = person || char(31) || substr('project:' || OLD.name, 1, 200);
    UPDATE trash SET conversation = person || char(31) || substr('project:' || NEW.name, 1, 200)
    WHERE conversation = person || char(31) || substr('project:' || OLD.name, 1, 200);
END;

-- And so do the tokens that have it.
CREATE TRIGGER projects_renamed_tokens AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name BEGIN
    UPDATE tokens
    SET projects = (
        SELECT json_group_array(CASE value WHEN OLD.name THEN NEW.name ELSE value END) FROM json_each(tokens.projects)
    )
    WHERE OLD.name IN (SELECT value FROM json_each(tokens.projects));
END;

-- The counts of memories: also by person ('' is nobody's own).
DROP TRIGGER memories_counted_before;
DROP TRIGGER memories_counted;
DROP TRIGGER memories_recounted;
DROP TRIGGER memories_counted_no_more;
DROP TABLE memory_counts;
ALTER TABLE memory_overwritten ADD COLUMN person TEXT NOT NULL DEFAULT '';

CREATE TABLE memory_counts (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    importance INTEGER NOT NULL,
    person TEXT NOT NULL,
    number INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    PRIMARY KEY (project, type, importance, person)
) STRICT, WITHOUT ROWID;

INSERT INTO memory_counts (project, type, importance, person, number, replaced)
SELECT ifnull(project, ''), type, importance, ifnull(person, ''), count(*), sum(replaced) FROM memories GROUP BY 1, 2, 3, 4;

-- An insertion that is ignored then leaves a row here, which the next one takes away.
CREATE TRIGGER memories_counted_before BEFORE INSERT ON memories BEGIN
    DELETE FROM memory_overwritten;
    INSERT INTO memory_overwritten (id, project, type, importance, person, replaced)
    SELECT id, ifnull(project, ''), type, importance, ifnull(person, ''), replaced FROM memories WHERE id = NEW.id;
END;

CREATE TRIGGER memories_counted AFTER INSERT ON memories BEGIN
    UPDATE memory_counts
    SET number = number - 1,
        replaced = replaced - (SELECT replaced FROM memory_overwritten WHERE id = NEW.id)
    WHERE (project, type, importance, person) = (
        SELECT project, type, importance, person FROM memory_overwritten WHERE id = NEW.id
    );
    DELETE FROM memory_counts
    WHERE number = 0 AND replaced = 0 AND (project, type, importance, person) = (
        SELECT project, type, importance, person FROM memory_overwritten WHERE id = NEW.id
    );
    DELETE FROM memory_overwritten;
    INSERT INTO memory_counts (project, type, importance, person, number, replaced)
    SELECT ifnull(NEW.project, ''), NEW.type, NEW.importance, ifnull(NEW.person, ''), 0, 0
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_counts
        WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
            AND person = ifnull(NEW.person, '')
    );
    UPDATE memory_counts SET number = number + 1, replaced = replaced + NEW.replaced
    WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
        AND person = ifnull(NEW.person, '');
END;

CREATE TRIGGER memories_recounted AFTER UPDATE OF project, type, importance, person, replaced ON memories
WHEN (ifnull(NEW.project, ''), NEW.type, NEW.importance, ifnull(NEW.person, ''), NEW.replaced)
    <> (ifnull(OLD.project, ''), OLD.type, OLD.importance, ifnull(OLD.person, ''), OLD.replaced)
BEGIN
    INSERT INTO memory_counts (project, type, importance, person, number, replaced)
    SELECT ifnull(NEW.project, ''), NEW.type, NEW.importance, ifnull(NEW.person, ''), 0, 0
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_counts
        WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
            AND person = ifnull(NEW.person, '')
    );
    UPDATE memory_counts SET number = number + 1, replaced = replaced + NEW.replaced
    WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
        AND person = ifnull(NEW.person, '');
    UPDATE memory_counts SET number = number - 1, replaced = replaced - OLD.replaced
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '');
    DELETE FROM memory_counts
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '') AND number = 0 AND replaced = 0;
END;

CREATE TRIGGER memories_counted_no_more AFTER DELETE ON memories BEGIN
    DELETE FROM memory_overwritten;
    UPDATE memory_counts SET number = number - 1, replaced = replaced - OLD.replaced
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '');
    DELETE FROM memory_counts
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND person = ifnull(OLD.person, '') AND number = 0 AND replaced = 0;
END;
