-- What a search asks of the indexes of words and of vectors.
--
-- The operators of these indexes are not leakproof, so that row-level security keeps them from the role memory_server.
-- The functions here act as the owner of the tables. They name the tenant, and give no text: ids and numbers, which the
-- statement outside joins with the rows that the person sees.

-- How often a phrase of several tokens (' one two three ') stands among tokens, also overlapping itself.
CREATE FUNCTION times_in(phrase text, tokens text) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    rest text COLLATE "C" := tokens;
    place int := strpos(rest, phrase COLLATE "C");
    found int := 0;
BEGIN
    WHILE place > 0 LOOP
        found := found + 1;
        rest := substr(rest, place + 1);
        place := strpos(rest, phrase COLLATE "C");
    END LOOP;
    RETURN found;
END
$$;

-- Of each index of words two functions. `asked` are lexemes that a text must have, `phrases` what must stand among its
-- tokens: of a phrase of more than two the index knows the pairs alone.
--
-- …_holding: the newest texts, how often each has the term (`term` is its lexeme without the tenant; NULL where there is
-- one phrase, which is counted), how many tokens it has, and how many texts there are in all.
-- …_some: any texts, no more than `most`.
--
-- Without bitmaps the planner would walk through all texts of the tenant for the few that it is to give.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory_words', 'fact_words', 'turn_words', 'short_term_words'] LOOP
        EXECUTE format(
            $create$
            CREATE FUNCTION %2$I(asked tsquery, term text, phrases text[], most bigint)
            RETURNS TABLE (id bigint, held int, length int, everywhere bigint)
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off SET enable_indexscan = off
            AS $body$
                SELECT
                    w.id,
                    CASE
                        WHEN term IS NULL THEN times_in(phrases[1], w.tokens)
                        ELSE coalesce((w.repeated ->> term)::int, 1)
                    END,
                    w.length,
                    count(*) OVER ()
                FROM %1$I AS w
                WHERE w.tenant_id = tenant() AND w.words @@ asked
                    AND (phrases = '{}' OR (SELECT bool_and(strpos(w.tokens, each) > 0) FROM unnest(phrases) AS each))
                ORDER BY w.id DESC
                LIMIT most
            $body$
            $create$,
            name, name || '_holding'
        );
        EXECUTE format(
            $create$
            CREATE FUNCTION %2$I(asked tsquery, phrases text[], most bigint) RETURNS SETOF bigint
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off SET enable_indexscan = off
            AS $body$
                SELECT w.id
                FROM %1$I AS w
                WHERE w.tenant_id = tenant() AND w.words @@ asked
                    AND (phrases = '{}' OR (SELECT bool_and(strpos(w.tokens, each) > 0) FROM unnest(phrases) AS each))
                LIMIT most
            $body$
            $create$,
            name, name || '_some'
        );
    END LOOP;
END
$$;

-- An index of vectors with so many dimensions, one for all tenants, made when the first space has them. It keeps numbers
-- of two bytes; what it finds is compared by the whole vectors.
CREATE FUNCTION index_vectors(dimensions int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF dimensions BETWEEN 1 AND 4000 THEN -- the most that such an index takes
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %1$I ON embeddings'
            ' USING hnsw ((vector::halfvec(%2$s)) halfvec_cosine_ops) WHERE vector_dims(vector) = %2$s',
            'embeddings_by_meaning_' || dimensions, dimensions
        );
    END IF;
END
$$;
