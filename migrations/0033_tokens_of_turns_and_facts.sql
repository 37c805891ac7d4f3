-- The vectors of the tokens of turns and facts, as `token_vectors` has those of memories. They go with the embedding.
CREATE TABLE turn_token_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    vectors BLOB NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (space_id, turn_id)
) STRICT;

CREATE INDEX turn_token_vectors_by_turn ON turn_token_vectors (turn_id);

CREATE TRIGGER turn_embeddings_deleted AFTER DELETE ON turn_embeddings BEGIN
    DELETE FROM turn_token_vectors WHERE space_id = OLD.space_id AND turn_id = OLD.turn_id;
END;

CREATE TABLE fact_token_vectors (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    vectors BLOB NOT NULL,
    PRIMARY KEY (space_id, fact_id)
) STRICT;

CREATE INDEX fact_token_vectors_by_fact ON fact_token_vectors (fact_id);

CREATE TRIGGER fact_embeddings_deleted AFTER DELETE ON fact_embeddings BEGIN
    DELETE FROM fact_token_vectors WHERE space_id = OLD.space_id AND fact_id = OLD.fact_id;
END;
