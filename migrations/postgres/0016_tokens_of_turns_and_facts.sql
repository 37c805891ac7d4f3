-- The vectors of the tokens of turns and facts, as `token_vectors` has those of memories. They go with the embedding.
CREATE TABLE turn_token_vectors (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    turn_id bigint NOT NULL,
    vectors bytea NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (tenant_id, space_id, turn_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_token_vectors_by_turn ON turn_token_vectors (tenant_id, turn_id);
ALTER TABLE turn_token_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

CREATE TABLE fact_token_vectors (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    fact_id bigint NOT NULL,
    vectors bytea NOT NULL,
    PRIMARY KEY (tenant_id, space_id, fact_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX fact_token_vectors_by_fact ON fact_token_vectors (tenant_id, fact_id);
ALTER TABLE fact_token_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

ALTER TABLE turn_token_vectors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON turn_token_vectors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM turns AS t WHERE t.tenant_id = turn_token_vectors.tenant_id AND t.id = turn_token_vectors.turn_id
        )
    )
);
ALTER TABLE fact_token_vectors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON fact_token_vectors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM facts AS f WHERE f.tenant_id = fact_token_vectors.tenant_id AND f.id = fact_token_vectors.fact_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON turn_token_vectors, fact_token_vectors TO memory_server;

CREATE FUNCTION turn_embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM turn_token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.turn_id = gone.turn_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON turn_embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION turn_embeddings_deleted();

CREATE FUNCTION fact_embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM fact_token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.fact_id = gone.fact_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON fact_embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION fact_embeddings_deleted();
