-- Each store and each search in a project reads the ids of all its memories, and who sees them: the index alone has both.

DROP INDEX memories_by_project;
CREATE INDEX memories_by_project ON memories (tenant_id, project, type) INCLUDE (id, person);
