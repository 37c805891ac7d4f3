-- Which turns were read from transcripts: searches and lists of what was stored leave them out, and need not look at each turn.
ALTER TABLE turns ADD COLUMN transcript INTEGER
GENERATED ALWAYS AS (substr(ifnull(created_by, ''), -12) = '(transcript)') VIRTUAL;

CREATE INDEX turns_by_transcript ON turns (transcript, person);

-- The digest of what the file of a memory says, as far as it was written back; NULL: corrections are not written back to it.
ALTER TABLE origins ADD COLUMN written TEXT;

CREATE INDEX origins_written ON origins (item_id) WHERE written IS NOT NULL;
