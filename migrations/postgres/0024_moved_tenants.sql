-- A tenant can move into another database while servers use it. Then its old database refuses each transaction with the
-- new address, and the servers go there.
ALTER TABLE tenants
    ADD COLUMN moved_to exact_text, -- its address now, without a password; NULL where it has not moved
    ADD COLUMN whole boolean NOT NULL DEFAULT false; -- a copy that has all rows, and waits for its source to be left

CREATE OR REPLACE FUNCTION refuse_unfinished(tenant int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    source text;
    target text;
BEGIN
    SELECT copy_of, moved_to INTO source, target FROM tenants WHERE id = tenant;
    IF target IS NOT NULL THEN
        RAISE EXCEPTION '%', target USING ERRCODE = 'MS003';
    END IF;
    IF source IS NOT NULL THEN
        RAISE EXCEPTION '%', source USING ERRCODE = 'MS002';
    END IF;
END
$$;
