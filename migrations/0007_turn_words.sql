-- Turns have a word index as memories and facts have: they are found without a model, and before they are embedded.

CREATE VIRTUAL TABLE turn_words USING fts5 (
    summary, message, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER turns_worded AFTER INSERT ON turns BEGIN
    DELETE FROM turn_words WHERE rowid = NEW.id;
    INSERT INTO turn_words (rowid, summary, message)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'summary', NEW.summary
        UNION ALL
        SELECT 'message', NEW.message
    ),
    pieces (name, number, piece, rest) AS (
        SELECT name, 0, substr(text, 1, 500), substr(text, 501) FROM texts
        UNION ALL
        SELECT name, number + 1, substr(rest, 1, 500), substr(rest, 501) FROM pieces WHERE rest <> ''
    ),
    positions (position) AS (
        SELECT 1
        UNION ALL
        SELECT position + 1 FROM positions WHERE position < 500
    ),
    spaced (name, number, piece) AS (
        SELECT name, number, CASE
            WHEN piece NOT GLOB '*[^ -~
]*' THEN piece
            ELSE (
                SELECT group_concat(CASE WHEN folded GLOB '[⺀-⿕々-〇ぁ-ヿㇰ-ㇿ㐀-䶿一-鿿가-힣﨎-﨩𠀀-𲎯]' THEN ' ' || folded || ' ' ELSE folded END, '')
                FROM (
                    SELECT ifnull(
                        (SELECT folded FROM character_forms WHERE form = substr(piece, position, 1)),
                        substr(piece, position, 1)
                    ) AS folded
                    FROM positions
                    WHERE position <= length(piece)
                    ORDER BY position
                )
            )
        END
        FROM pieces
    )
    SELECT
        NEW.id,
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'summary' ORDER BY number)),
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'message' ORDER BY number));
END;

CREATE TRIGGER turns_reworded AFTER UPDATE OF message, summary ON turns BEGIN
    DELETE FROM turn_words WHERE rowid = NEW.id;
    INSERT INTO turn_words (rowid, summary, message)
    WITH RECURSIVE texts (name, text) AS (
        SELECT 'summary', NEW.summary
        UNION ALL
        SELECT 'message', NEW.message
    ),
    pieces (name, number, piece, rest) AS (
        SELECT name, 0, substr(text, 1, 500), substr(text, 501) FROM texts
        UNION ALL
        SELECT name, number + 1, substr(rest, 1, 500), substr(rest, 501) FROM pieces WHERE rest <> ''
    ),
    positions (position) AS (
        SELECT 1
        UNION ALL
        SELECT position + 1 FROM positions WHERE position < 500
    ),
    spaced (name, number, piece) AS (
        SELECT name, number, CASE
            WHEN piece NOT GLOB '*[^ -~
]*' THEN piece
            ELSE (
                SELECT group_concat(CASE WHEN folded GLOB '[⺀-⿕々-〇ぁ-ヿㇰ-ㇿ㐀-䶿一-鿿가-힣﨎-﨩𠀀-𲎯]' THEN ' ' || folded || ' ' ELSE folded END, '')
                FROM (
                    SELECT ifnull(
                        (SELECT folded FROM character_forms WHERE form = substr(piece, position, 1)),
                        substr(piece, position, 1)
                    ) AS folded
                    FROM positions
                    WHERE position <= length(piece)
                    ORDER BY position
                )
            )
        END
        FROM pieces
    )
    SELECT
        NEW.id,
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'summary' ORDER BY number)),
        (SELECT group_concat(piece, '') FROM (SELECT piece FROM spaced WHERE name = 'message' ORDER BY number));
END;

CREATE TRIGGER turns_unworded AFTER DELETE ON turns BEGIN
    DELETE FROM turn_words WHERE rowid = OLD.id;
END;

-- The turns that are there already: to write a text again wakes the trigger.
UPDATE turns SET message = message;
