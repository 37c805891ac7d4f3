-- Which rows of `embedding_bits` have changed, for processes that hold a copy of them. A row that was written with another
-- change has another mark: a file that was restored has other marks than the one that was read.

CREATE TABLE bits_changes (
    id INTEGER PRIMARY KEY,
    memory_id INTEGER NOT NULL,
    mark INTEGER NOT NULL DEFAULT (random())
) STRICT;

-- No change: where every copy begins that was made before the first one.
INSERT INTO bits_changes (id, memory_id) VALUES (0, 0);

CREATE TRIGGER embedding_bits_inserted AFTER INSERT ON embedding_bits BEGIN
    INSERT INTO bits_changes (memory_id) VALUES (NEW.memory_id);
END;

CREATE TRIGGER embedding_bits_updated AFTER UPDATE ON embedding_bits BEGIN
    INSERT INTO bits_changes (memory_id) VALUES (NEW.memory_id);
    INSERT INTO bits_changes (memory_id) SELECT OLD.memory_id WHERE OLD.memory_id <> NEW.memory_id;
END;

CREATE TRIGGER embedding_bits_deleted AFTER DELETE ON embedding_bits BEGIN
    INSERT INTO bits_changes (memory_id) VALUES (OLD.memory_id);
END;

-- A copy that is further behind is read anew. In steps, so that a store touches one page of this table.
CREATE TRIGGER bits_changes_inserted AFTER INSERT ON bits_changes WHEN NEW.id % 1000 = 0 BEGIN
    DELETE FROM bits_changes WHERE id <= NEW.id - 5000;
END;
