-- Which turns were read from transcripts: searches and lists of what was stored leave them out, and need not look at each turn.
ALTER TABLE turns ADD COLUMN transcript int
GENERATED ALWAYS AS (CASE WHEN created_by LIKE '%(transcript)' THEN 1 ELSE 0 END) STORED;
CREATE INDEX turns_by_transcript ON turns (tenant_id, transcript, id);

-- The digest of what the file of a memory says, as far as it was written back; NULL: corrections are not written back to it.
ALTER TABLE origins ADD COLUMN written exact_text;
CREATE INDEX origins_written ON origins (tenant_id, item_id) WHERE written IS NOT NULL;
