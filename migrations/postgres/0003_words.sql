-- How many texts and terms the indexes of words have, kept whenever their rows come and go: BM25 needs both.

CREATE FUNCTION words_came() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO word_totals (tenant_id, name, texts, terms)
    SELECT tenant_id, TG_TABLE_NAME, count(*), sum(length) FROM came GROUP BY tenant_id
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET texts = word_totals.texts + excluded.texts, terms = word_totals.terms + excluded.terms;
    RETURN NULL;
END
$$;

CREATE FUNCTION words_went() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    UPDATE word_totals
    SET texts = word_totals.texts - less.texts, terms = word_totals.terms - less.terms
    FROM (SELECT tenant_id, count(*) AS texts, sum(length) AS terms FROM went GROUP BY tenant_id) AS less
    WHERE word_totals.tenant_id = less.tenant_id AND word_totals.name = TG_TABLE_NAME;
    RETURN NULL;
END
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory_words', 'fact_words', 'turn_words', 'short_term_words'] LOOP
        EXECUTE format(
            'CREATE TRIGGER words_came AFTER INSERT ON %I REFERENCING NEW TABLE AS came'
            ' FOR EACH STATEMENT EXECUTE FUNCTION words_came()',
            name
        );
        EXECUTE format(
            'CREATE TRIGGER words_went AFTER DELETE ON %I REFERENCING OLD TABLE AS went'
            ' FOR EACH STATEMENT EXECUTE FUNCTION words_went()',
            name
        );
        -- Words are never rewritten, but deleted and inserted again: so their numbers stay right.
        EXECUTE format('REVOKE UPDATE ON %I FROM memory_server', name);
    END LOOP;
END
$$;
