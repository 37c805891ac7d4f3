-- What of the working tree a memory or a fact speaks of, as it stood there when it was written: files, and lines that hold
-- a name. A list of objects with name, path, line, digests, value, commit and branch: see docs/ground.md. `project` is the
-- key of the project in whose tree it was seen: a file of the same name in another one is another file.
CREATE TABLE memory_anchors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES memories (id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    anchors TEXT NOT NULL CHECK (json_valid(anchors)),
    observed_at TEXT NOT NULL
) STRICT;

CREATE TABLE fact_anchors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fact_id INTEGER NOT NULL UNIQUE REFERENCES facts (id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    anchors TEXT NOT NULL CHECK (json_valid(anchors)),
    observed_at TEXT NOT NULL
) STRICT;

-- Another text speaks of something else.
CREATE TRIGGER memory_anchors_reworded AFTER UPDATE OF content ON memories WHEN OLD.content IS NOT NEW.content BEGIN
    DELETE FROM memory_anchors WHERE memory_id = OLD.id;
END;

CREATE TRIGGER fact_anchors_reworded AFTER UPDATE OF value ON facts WHEN OLD.value IS NOT NEW.value BEGIN
    DELETE FROM fact_anchors WHERE fact_id = OLD.id;
END;
