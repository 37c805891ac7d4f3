-- Which vectors of facts, turns, short-term memories and parts have changed, for processes that hold a copy of their signs:
-- as `bits_changes` for memories.
CREATE TABLE vector_changes (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL, -- the table of the vector
    item_id INTEGER NOT NULL,
    mark INTEGER NOT NULL DEFAULT (random())
) STRICT;

-- No change: where every copy begins that was made before the first one.
INSERT INTO vector_changes (id, source, item_id) VALUES (0, '', 0);

CREATE TRIGGER part_embeddings_bits_inserted AFTER INSERT ON part_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('part_embeddings', NEW.part_id);
END;

CREATE TRIGGER part_embeddings_bits_updated AFTER UPDATE ON part_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('part_embeddings', NEW.part_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'part_embeddings', OLD.part_id WHERE OLD.part_id <> NEW.part_id;
END;

CREATE TRIGGER part_embeddings_bits_deleted AFTER DELETE ON part_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('part_embeddings', OLD.part_id);
END;

CREATE TRIGGER turn_embeddings_bits_inserted AFTER INSERT ON turn_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_embeddings', NEW.turn_id);
END;

CREATE TRIGGER turn_embeddings_bits_updated AFTER UPDATE ON turn_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_embeddings', NEW.turn_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'turn_embeddings', OLD.turn_id WHERE OLD.turn_id <> NEW.turn_id;
END;

CREATE TRIGGER turn_embeddings_bits_deleted AFTER DELETE ON turn_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_embeddings', OLD.turn_id);
END;

CREATE TRIGGER turn_message_embeddings_bits_inserted AFTER INSERT ON turn_message_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_message_embeddings', NEW.turn_id);
END;

CREATE TRIGGER turn_message_embeddings_bits_updated AFTER UPDATE ON turn_message_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_message_embeddings', NEW.turn_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'turn_message_embeddings', OLD.turn_id WHERE OLD.turn_id <> NEW.turn_id;
END;

CREATE TRIGGER turn_message_embeddings_bits_deleted AFTER DELETE ON turn_message_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('turn_message_embeddings', OLD.turn_id);
END;

CREATE TRIGGER fact_embeddings_bits_inserted AFTER INSERT ON fact_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('fact_embeddings', NEW.fact_id);
END;

CREATE TRIGGER fact_embeddings_bits_updated AFTER UPDATE ON fact_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('fact_embeddings', NEW.fact_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'fact_embeddings', OLD.fact_id WHERE OLD.fact_id <> NEW.fact_id;
END;

CREATE TRIGGER fact_embeddings_bits_deleted AFTER DELETE ON fact_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('fact_embeddings', OLD.fact_id);
END;

CREATE TRIGGER short_term_embeddings_bits_inserted AFTER INSERT ON short_term_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('short_term_embeddings', NEW.memory_id);
END;

CREATE TRIGGER short_term_embeddings_bits_updated AFTER UPDATE ON short_term_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('short_term_embeddings', NEW.memory_id);
    INSERT INTO vector_changes (source, item_id) SELECT 'short_term_embeddings', OLD.memory_id WHERE OLD.memory_id <> NEW.memory_id;
END;

CREATE TRIGGER short_term_embeddings_bits_deleted AFTER DELETE ON short_term_embeddings BEGIN
    INSERT INTO vector_changes (source, item_id) VALUES ('short_term_embeddings', OLD.memory_id);
END;

-- A copy that is further behind is read anew. In steps, so that a store touches one page of this table.
CREATE TRIGGER vector_changes_inserted AFTER INSERT ON vector_changes WHEN NEW.id % 1000 = 0 BEGIN
    DELETE FROM vector_changes WHERE id <= NEW.id - 10000;
END;
