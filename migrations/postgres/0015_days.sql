-- The memories of some days, found between two moments. Row-level security did not let the index of 0010_growth search
-- between them, only order by them: PostgreSQL does not count `coalesce` among the expressions that leak nothing. `CASE` it does.
CREATE INDEX memories_by_day ON memories (
    tenant_id, (CASE WHEN occurred_at IS NULL THEN created_at ELSE occurred_at END), id
);
DROP INDEX memories_by_occurrence;
