-- The newest memories of a type and the newest turns of a project are found without a look at all others.

CREATE INDEX memories_by_moment ON memories (project, type, ifnull(occurred_at, created_at));
CREATE INDEX turns_by_moment ON turns (project, ifnull(occurred_at, created_at));
