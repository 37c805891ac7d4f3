-- The summary and the message of a turn are embedded apart: a question is near to one of them, seldom to both.

-- The vector of the summary is in `turn_embeddings`.
CREATE TABLE turn_message_embeddings (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    PRIMARY KEY (space_id, turn_id)
) STRICT;

CREATE INDEX turn_message_embeddings_by_turn ON turn_message_embeddings (turn_id);

-- An INSERT OR REPLACE removes the old row without waking the delete trigger.
CREATE TRIGGER turns_inserted_again AFTER INSERT ON turns BEGIN
    DELETE FROM turn_message_embeddings WHERE turn_id = NEW.id;
END;

CREATE TRIGGER turns_message_rewritten AFTER UPDATE OF message, summary ON turns
WHEN NEW.message <> OLD.message OR NEW.summary <> OLD.summary
BEGIN
    DELETE FROM turn_message_embeddings WHERE turn_id = NEW.id;
END;

CREATE TRIGGER turns_message_deleted AFTER DELETE ON turns BEGIN
    DELETE FROM turn_message_embeddings WHERE turn_id = OLD.id;
END;

-- The vectors that are there are of summary and message together: they serve until both have been embedded.
INSERT OR IGNORE INTO turn_embedding_queue (space_id, turn_id)
SELECT spaces.id, turns.id FROM spaces, turns WHERE spaces.state <> 'retired';
