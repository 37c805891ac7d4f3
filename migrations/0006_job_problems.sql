-- What went wrong last in each background job of each running process: `doctor` and `memory_stats` tell it.
-- A row goes when the job succeeds; one that is five minutes old belongs to a process that has ended.

CREATE TABLE job_problems (
    job TEXT NOT NULL,
    process TEXT NOT NULL,
    problem TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (job, process)
) STRICT, WITHOUT ROWID;
