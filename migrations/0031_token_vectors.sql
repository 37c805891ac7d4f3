-- The vectors of the tokens of memories, by which a search reads its best candidates token by token. They are made by the
-- run that makes the embedding, and go with it: whatever removes an embedding removes them.
CREATE TABLE token_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    text_id INTEGER NOT NULL, -- of the memory, or of a part after the first
    memory_id INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    vectors BLOB NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (space_id, text_id)
) STRICT;

CREATE INDEX token_vectors_by_memory ON token_vectors (memory_id);

CREATE TRIGGER embeddings_deleted AFTER DELETE ON embeddings BEGIN
    DELETE FROM token_vectors WHERE space_id = OLD.space_id AND text_id = OLD.memory_id;
END;

CREATE TRIGGER part_embeddings_deleted AFTER DELETE ON part_embeddings BEGIN
    DELETE FROM token_vectors WHERE space_id = OLD.space_id AND text_id = OLD.part_id;
END;
