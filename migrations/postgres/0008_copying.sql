-- A tenant into which another database is copied cannot be used before the copy is finished.

ALTER TABLE tenants ADD COLUMN copy_of exact_text; -- of what it is an unfinished copy; NULL where it can be used

CREATE OR REPLACE FUNCTION refuse_newer(known int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    newest int := (SELECT max(version) FROM migrations);
    source text := (SELECT copy_of FROM tenants WHERE id = tenant());
BEGIN
    IF newest > known THEN
        RAISE EXCEPTION 'the schema has version %', newest USING ERRCODE = 'MS001';
    END IF;
    IF source IS NOT NULL THEN
        RAISE EXCEPTION '%', source USING ERRCODE = 'MS002';
    END IF;
END
$$;
