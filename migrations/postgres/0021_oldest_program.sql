-- Servers are upgraded one after the other: the first new one brings the schema forward, and older ones go on with it. A
-- migration that adds leaves them alone. One that takes away or changes what they use comes a version later than the
-- program that does without, and says so: it replaces this function. A program is known by the last migration that it has.
CREATE FUNCTION oldest_program() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 20';

CREATE OR REPLACE FUNCTION refuse_newer(known int) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
BEGIN
    IF known < oldest_program() THEN
        RAISE EXCEPTION 'the schema has version %', (SELECT max(version) FROM migrations) USING ERRCODE = 'MS001';
    END IF;
END
$$;
