-- The graph: its indexes serve walks by relation and from memory to memory, and an edge always has both its ends.

DROP INDEX edges_by_source;
DROP INDEX edges_by_target;
CREATE INDEX edges_by_source ON edges (source_id, target_id);
CREATE INDEX edges_by_target ON edges (target_id, relation);

-- The stock program does not enforce foreign keys, so an edge added there by hand may lead nowhere.
DELETE FROM edges
WHERE source_id NOT IN (SELECT id FROM memories) OR target_id NOT IN (SELECT id FROM memories);

CREATE TRIGGER edges_inserted BEFORE INSERT ON edges
WHEN (SELECT count(*) FROM memories WHERE id IN (NEW.source_id, NEW.target_id)) < 2 BEGIN
    SELECT RAISE (ABORT, 'an edge leads from one memory to another: source_id and target_id must be ids of memories');
END;

CREATE TRIGGER edges_moved BEFORE UPDATE OF source_id, target_id ON edges
WHEN (SELECT count(*) FROM memories WHERE id IN (NEW.source_id, NEW.target_id)) < 2 BEGIN
    SELECT RAISE (ABORT, 'an edge leads from one memory to another: source_id and target_id must be ids of memories');
END;
