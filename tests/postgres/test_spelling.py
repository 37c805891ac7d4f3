"""Statements of shared tables, as PostgreSQL and its driver read them."""

import pytest

from memory_server.postgres.spelling import spelled

SPELLED = [
    ("WHERE project = :project AND at < :now", "WHERE project = %(project)s AND at < %(now)s"),
    ("id IN (SELECT value FROM json_each(:ids))", "id = ANY (%(ids)s)"),
    ("id NOT IN (SELECT value FROM json_each(:ids))", "id <> ALL (%(ids)s)"),
    (
        "(SELECT key FROM json_each(:places) WHERE value = conversation_id)",
        "array_position(%(places)s::bigint[], conversation_id)",
    ),
    ("ORDER BY ifnull(occurred_at, created_at)", "ORDER BY coalesce(occurred_at, created_at)"),
    ("DELETE FROM main.facts", "DELETE FROM facts"),
    ("ON CONFLICT (day, tool) DO UPDATE", "ON CONFLICT (tenant_id, day, tool) DO UPDATE"),
    ("ON CONFLICT DO NOTHING", "ON CONFLICT DO NOTHING"),
    ("julianday(at) >= julianday(:since)", "as_moment(at) >= as_moment(%(since)s)"),
    ("(julianday(:now) - julianday(m.at)) * 2", "(julian_day(%(now)s) - julian_day(m.at)) * 2"),
    ("min(100.0, score + :reward)", "least(100.0, score + %(reward)s)"),
    ("max(-700, min(0, x))", "greatest(-700, least(0, x))"),
    ("min(said_at), max(score)", "min(said_at), max(score)"),
    ("FROM json_each(:asked) AS a", "FROM json_array_elements(%(asked)s::json) AS a"),
    ("FROM json_each(a.texts) AS t", "FROM json_array_elements_text(a.texts::json) AS t"),
    ("CAST(m.text AS BLOB) = :text", "convert_to(m.text, 'UTF8') = %(text)s"),
    ("WHERE keyed = 0 AND", "WHERE NOT keyed AND"),
    (
        "total(a.weight + k.weight)",
        "coalesce(sum((floor((a.weight + k.weight) * 1048576::double precision) / 1048576::double precision))"
        " + sum((a.weight + k.weight) - (floor((a.weight + k.weight) * 1048576::double precision)"
        " / 1048576::double precision)), 0)",
    ),
    ("person || char(31)", "person || chr(31)"),
    ("name LIKE 'project:%'", "name LIKE 'project:%%'"),
    ("id % 10 = 1", "id %% 10 = 1"),
    ("name = 'main.:id ON CONFLICT ('", "name = 'main.:id ON CONFLICT ('"),
    ("domain.name", "domain.name"),
    (":id::bigint", "%(id)s::bigint"),
    (
        "SET parts = json_set(parts, '$.turns[0].project', :target)",
        "SET parts = jsonb_set(parts::jsonb, '{turns,0,project}', to_jsonb(%(target)s::text))::text",
    ),
    ("json_extract(draft, '$.content')", "(readable_json(draft) #>> '{content}')"),
    ("json_extract(t.parts, '$.turns[0].project')", "(readable_json(t.parts) #>> '{turns,0,project}')"),
]


@pytest.mark.parametrize(("shared", "postgres"), SPELLED)
def test_what_differs_is_spelled_anew(shared: str, postgres: str) -> None:
    assert spelled(shared) == postgres
