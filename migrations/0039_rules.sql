-- A long-term memory whose trigger reads `act` is a rule: before an act of an assistant that it holds, its prompt is said, a
-- person is asked, or the act is denied. `holds` and `passes` are acts on which it was tried. Until a person confirms a
-- rule, it does no more than say. `off`: a person has switched it off.
CREATE TABLE rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES long_term_memories (id) ON DELETE CASCADE,
    effect TEXT NOT NULL CHECK (effect IN ('say', 'ask', 'deny')),
    holds TEXT NOT NULL CHECK (json_valid(holds)),
    passes TEXT NOT NULL CHECK (json_valid(passes)),
    confirmed_at TEXT,
    off INTEGER NOT NULL DEFAULT 0 CHECK (off IN (0, 1))
) STRICT;

-- What rules did, the last ones. `act` is cut, and without credentials. `overruled_at`: the act ran all the same.
CREATE TABLE rule_hits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES long_term_memories (id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    client TEXT,
    session TEXT,
    effect TEXT NOT NULL,
    act TEXT NOT NULL,
    overruled_at TEXT
) STRICT;
CREATE INDEX rule_hits_of ON rule_hits (memory_id);

-- A person has confirmed these words and this trigger, no others.
CREATE TRIGGER rules_reworded AFTER UPDATE OF prompt, "trigger" ON long_term_memories
WHEN OLD.prompt IS NOT NEW.prompt OR OLD."trigger" IS NOT NEW."trigger" BEGIN
    UPDATE rules SET confirmed_at = NULL WHERE memory_id = OLD.id;
END;
