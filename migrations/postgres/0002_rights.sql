-- What a person sees and changes: row-level security, the same as sqlite/rights.py says for SQLite. The owner ('') sees
-- all that is of the tenant. A row that the person does not see is passed over, as one that is not there, and no row
-- can become one that the person does not see. What belongs to another row is seen with it.

DO $$
DECLARE
    own text := 'r.person = (SELECT person()) OR r.person IS NULL AND has_project(r.project)';
    alone text := 'r.person = (SELECT person())';
    fact text := $fact$
        r.scope = 'shared' OR r.person = (SELECT person())
        OR r.scope = 'project' AND r.person IS NULL AND has_project(r.owner)
    $fact$;
    part text := 'EXISTS (SELECT 1 FROM %I AS seen WHERE seen.tenant_id = r.tenant_id AND seen.id = r.%I)';
    everybody text := 'true';
    nobody text := 'false';
    rights text[] := ARRAY[
        ARRAY['memories', own],
        ARRAY['turns', alone],
        ARRAY['facts', fact],
        ARRAY['fact_history', fact],
        ARRAY['conversations', alone],
        ARRAY['memory_uses', alone],
        ARRAY['open_questions', alone],
        ARRAY[
            'trash',
            'r.person = (SELECT person())'
            ' OR r.person IS NULL AND has_project(readable_json(r.parts) -> ''memories'' -> 0 ->> ''project'')'
        ],
        ARRAY['projects', 'has_project(r.name)'],
        ARRAY['memory_counts', 'r.person = (SELECT person()) OR r.person = '''' AND has_project(r.project)'],
        ARRAY['project_keys', format(part, 'projects', 'project_id')],
        ARRAY['memory_history', format(part, 'memories', 'memory_id')],
        ARRAY['memory_parts', format(part, 'memories', 'memory_id')],
        ARRAY['memory_words', format(part, 'memories', 'memory_id')],
        ARRAY['fact_words', format(part, 'facts', 'id')],
        ARRAY['turn_words', format(part, 'turns', 'id')],
        ARRAY['short_term_words', format(part, 'short_term_memories', 'id')],
        ARRAY['digested', format(part, 'memories', 'digest_id')],
        ARRAY[
            'changes',
            format(part, 'memories', 'memory_id') || ' OR ' || format(part, 'long_term_memories', 'long_term_id')
        ],
        ARRAY['short_term_memories', format(part, 'conversations', 'conversation_id')],
        ARRAY['short_term_keywords', format(part, 'conversations', 'conversation_id')],
        ARRAY['long_term_memories', format(part, 'conversations', 'conversation_id')],
        ARRAY['wakes', format(part, 'long_term_memories', 'memory_id')],
        ARRAY['embeddings', format(part, 'memories', 'memory_id')],
        ARRAY['part_embeddings', format(part, 'memory_parts', 'part_id')],
        ARRAY['turn_embeddings', format(part, 'turns', 'turn_id')],
        ARRAY['turn_message_embeddings', format(part, 'turns', 'turn_id')],
        ARRAY['fact_embeddings', format(part, 'facts', 'fact_id')],
        ARRAY['short_term_embeddings', format(part, 'short_term_memories', 'memory_id')],
        ARRAY['embedding_queue', format(part, 'memories', 'memory_id')],
        ARRAY['turn_embedding_queue', format(part, 'turns', 'turn_id')],
        ARRAY['fact_embedding_queue', format(part, 'facts', 'fact_id')],
        ARRAY['short_term_embedding_queue', format(part, 'short_term_memories', 'memory_id')],
        ARRAY['spaces', everybody],
        ARRAY['erasures', everybody],
        ARRAY['word_totals', everybody],
        -- The owner's alone: what hooks and imports do, the problems of jobs, and who may come in.
        ARRAY['hook_captures', nobody],
        ARRAY['hook_injections', nobody],
        ARRAY['job_problems', nobody],
        ARRAY['origins', nobody],
        ARRAY['tokens', nobody],
        ARRAY['call_counts', nobody]
    ];
    name text;
    sees text;
BEGIN
    FOR i IN 1 .. array_length(rights, 1) LOOP
        name := rights[i][1];
        -- A policy has no name for its own row: the columns of the table stand for it.
        sees := format(
            'tenant_id = (SELECT tenant()) AND ((SELECT person()) = '''' OR (%s))',
            replace(rights[i][2], 'r.', name || '.')
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY seen ON %I USING (%s) WITH CHECK (%s)', name, sees, sees);
    END LOOP;
END
$$;

-- With a memory that was deleted, its edges come back, also those to what the person does not see.
ALTER TABLE edges ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON edges FOR ALL USING (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = ''
        OR EXISTS (SELECT 1 FROM memories AS m WHERE m.tenant_id = edges.tenant_id AND m.id = edges.source_id)
            AND EXISTS (SELECT 1 FROM memories AS m WHERE m.tenant_id = edges.tenant_id AND m.id = edges.target_id)
    )
);
CREATE POLICY entering ON edges FOR INSERT WITH CHECK (
    tenant_id = (SELECT tenant()) AND (
        (SELECT person()) = '' OR EXISTS (
            SELECT 1 FROM memories AS m
            WHERE m.tenant_id = edges.tenant_id AND m.id IN (edges.source_id, edges.target_id)
        )
    )
);

DO $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO memory_server', current_schema());
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO memory_server', current_schema());
END
$$;
REVOKE ALL ON migrations, tenants, deleted_ids FROM memory_server;
REVOKE INSERT, UPDATE, DELETE ON word_totals FROM memory_server;
GRANT SELECT ON migrations, tenants TO memory_server;
