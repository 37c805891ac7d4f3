-- The vectors of the tokens of memories, by which a search reads its best candidates token by token. They are made by the
-- run that makes the embedding, and go with it: whatever removes an embedding removes them.
CREATE TABLE token_vectors (
    tenant_id int NOT NULL DEFAULT tenant(),
    space_id bigint NOT NULL,
    text_id bigint NOT NULL, -- of the memory, or of a part after the first
    memory_id bigint NOT NULL,
    vectors bytea NOT NULL, -- 32 numbers of 8 bits for each token
    PRIMARY KEY (tenant_id, space_id, text_id),
    FOREIGN KEY (tenant_id, space_id) REFERENCES spaces (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX token_vectors_by_memory ON token_vectors (tenant_id, memory_id);
-- They hardly shrink, and every search reads a hundred of them.
ALTER TABLE token_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;

ALTER TABLE token_vectors ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON token_vectors USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM memories AS m WHERE m.tenant_id = token_vectors.tenant_id AND m.id = token_vectors.memory_id
        )
    )
);
GRANT SELECT, INSERT, UPDATE, DELETE ON token_vectors TO memory_server;

CREATE FUNCTION embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.text_id = gone.memory_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION embeddings_deleted();

CREATE FUNCTION part_embeddings_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM token_vectors AS t
    USING gone
    WHERE t.tenant_id = gone.tenant_id AND t.space_id = gone.space_id AND t.text_id = gone.part_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER tokens AFTER DELETE ON part_embeddings REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION part_embeddings_deleted();
