-- How many memories there are and which of them a briefing shows: kept by triggers and an index, so that no answer reads
-- all memories.

-- 1 where another memory supersedes or stands for this one. Edges say it; it is repeated here to be counted and indexed.
ALTER TABLE memories ADD COLUMN replaced INTEGER NOT NULL DEFAULT 0 CHECK (replaced IN (0, 1));

UPDATE memories SET replaced = 1
WHERE id IN (SELECT target_id FROM edges WHERE relation IN ('supersedes', 'summarizes') AND valid_to IS NULL);

CREATE TRIGGER edges_replace AFTER INSERT ON edges WHEN NEW.relation IN ('supersedes', 'summarizes') BEGIN
    UPDATE memories
    SET replaced = EXISTS (SELECT 1 FROM edges WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    WHERE id = NEW.target_id;
END;

CREATE TRIGGER edges_replace_others AFTER UPDATE OF target_id, relation, valid_to ON edges
WHEN NEW.relation IN ('supersedes', 'summarizes') OR OLD.relation IN ('supersedes', 'summarizes')
BEGIN
    UPDATE memories
    SET replaced = EXISTS (SELECT 1 FROM edges WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    WHERE id IN (OLD.target_id, NEW.target_id);
END;

CREATE TRIGGER edges_replace_no_more AFTER DELETE ON edges WHEN OLD.relation IN ('supersedes', 'summarizes') BEGIN
    UPDATE memories
    SET replaced = EXISTS (SELECT 1 FROM edges WHERE target_id = memories.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
    WHERE id = OLD.target_id;
END;

-- Out of the trash it comes as it was; and what somebody sets by hand is what edges say again.
CREATE TRIGGER memories_inserted_replaced AFTER INSERT ON memories
WHEN NEW.replaced <> EXISTS (SELECT 1 FROM edges WHERE target_id = NEW.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
BEGIN
    UPDATE memories SET replaced = 1 - NEW.replaced WHERE id = NEW.id;
END;

CREATE TRIGGER memories_set_replaced AFTER UPDATE OF replaced ON memories
WHEN NEW.replaced <> EXISTS (SELECT 1 FROM edges WHERE target_id = NEW.id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL)
BEGIN
    UPDATE memories SET replaced = 1 - NEW.replaced WHERE id = NEW.id;
END;

-- How many memories of a project ('' is none), type and importance there are, and how many of these are replaced.
CREATE TABLE memory_counts (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    importance INTEGER NOT NULL,
    number INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    PRIMARY KEY (project, type, importance)
) STRICT, WITHOUT ROWID;

INSERT INTO memory_counts (project, type, importance, number, replaced)
SELECT ifnull(project, ''), type, importance, count(*), sum(replaced) FROM memories GROUP BY 1, 2, 3;

-- The memory that an INSERT OR REPLACE overwrites: it goes without waking the delete trigger. Empty in between.
CREATE TABLE memory_overwritten (
    id INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    importance INTEGER NOT NULL,
    replaced INTEGER NOT NULL
) STRICT;

-- An insertion that is ignored then leaves a row here, which the next one takes away.
CREATE TRIGGER memories_counted_before BEFORE INSERT ON memories BEGIN
    DELETE FROM memory_overwritten;
    INSERT INTO memory_overwritten (id, project, type, importance, replaced)
    SELECT id, ifnull(project, ''), type, importance, replaced FROM memories WHERE id = NEW.id;
END;

CREATE TRIGGER memories_counted AFTER INSERT ON memories BEGIN
    UPDATE memory_counts
    SET number = number - 1,
        replaced = replaced - (SELECT replaced FROM memory_overwritten WHERE id = NEW.id)
    WHERE (project, type, importance) = (
        SELECT project, type, importance FROM memory_overwritten WHERE id = NEW.id
    );
    DELETE FROM memory_counts
    WHERE number = 0 AND replaced = 0 AND (project, type, importance) = (
        SELECT project, type, importance FROM memory_overwritten WHERE id = NEW.id
    );
    DELETE FROM memory_overwritten;
    INSERT INTO memory_counts (project, type, importance, number, replaced)
    SELECT ifnull(NEW.project, ''), NEW.type, NEW.importance, 0, 0
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_counts
        WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
    );
    UPDATE memory_counts SET number = number + 1, replaced = replaced + NEW.replaced
    WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance;
END;

CREATE TRIGGER memories_recounted AFTER UPDATE OF project, type, importance, replaced ON memories
WHEN (ifnull(NEW.project, ''), NEW.type, NEW.importance, NEW.replaced)
    <> (ifnull(OLD.project, ''), OLD.type, OLD.importance, OLD.replaced)
BEGIN
    INSERT INTO memory_counts (project, type, importance, number, replaced)
    SELECT ifnull(NEW.project, ''), NEW.type, NEW.importance, 0, 0
    WHERE NOT EXISTS (
        SELECT 1 FROM memory_counts
        WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance
    );
    UPDATE memory_counts SET number = number + 1, replaced = replaced + NEW.replaced
    WHERE project = ifnull(NEW.project, '') AND type = NEW.type AND importance = NEW.importance;
    UPDATE memory_counts SET number = number - 1, replaced = replaced - OLD.replaced
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance;
    DELETE FROM memory_counts
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND number = 0 AND replaced = 0;
END;

CREATE TRIGGER memories_counted_no_more AFTER DELETE ON memories BEGIN
    DELETE FROM memory_overwritten;
    UPDATE memory_counts SET number = number - 1, replaced = replaced - OLD.replaced
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance;
    DELETE FROM memory_counts
    WHERE project = ifnull(OLD.project, '') AND type = OLD.type AND importance = OLD.importance
        AND number = 0 AND replaced = 0;
END;

-- The score of a memory is importance x e^(-rate x days) x log2(access_count + 2). All memories of a type fade at the same
-- rate: which of two is ahead never changes while nobody uses them. So this number orders those of a type and an
-- importance: rate x day + ln(log2(access_count + 2)). Beyond 40 accesses the second term is an upper bound. (The stock
-- program may have no logarithm.)
ALTER TABLE memories ADD COLUMN standing REAL GENERATED ALWAYS AS (
    CASE type WHEN 'decision' THEN 0.001 WHEN 'preference' THEN 0.002 WHEN 'learning' THEN 0.003 WHEN 'pattern' THEN 0.005 WHEN 'error' THEN 0.01 WHEN 'observation' THEN 0.05 END
        * (julianday(ifnull(occurred_at, created_at)) - 2460000.5)
        + CASE access_count
                WHEN 0 THEN 0.0
                WHEN 1 THEN 0.4605607481983633  WHEN 2 THEN 0.6931471805599453  WHEN 3 THEN 0.8423979159087749  WHEN 4 THEN 0.9497110013643236
                WHEN 5 THEN 1.0322427311599407  WHEN 6 THEN 1.0986122886681098  WHEN 7 THEN 1.1537079287583085  WHEN 8 THEN 1.2005453658296201
                WHEN 9 THEN 1.2411043035053533  WHEN 10 THEN 1.2767480139469902  WHEN 11 THEN 1.3084516553297754  WHEN 12 THEN 1.3369347018590294
                WHEN 13 THEN 1.3627418135330593  WHEN 14 THEN 1.3862943611198906  WHEN 15 THEN 1.4079244453564448  WHEN 16 THEN 1.4278980503833407
                WHEN 17 THEN 1.4464312201037466  WHEN 18 THEN 1.4637016209466132  WHEN 19 THEN 1.4798569745416497  WHEN 20 THEN 1.4950213181434133
                WHEN 21 THEN 1.5092997268764363  WHEN 22 THEN 1.5227819269882117  WHEN 23 THEN 1.5355450964687203  WHEN 24 THEN 1.547656061391121
                WHEN 25 THEN 1.559173036866473  WHEN 26 THEN 1.570147020606335  WHEN 27 THEN 1.5806229184948424  WHEN 28 THEN 1.5906404612832064
                WHEN 29 THEN 1.600234956924539  WHEN 30 THEN 1.6094379124341003  WHEN 31 THEN 1.6182775513226864  WHEN 32 THEN 1.6267792468109024
                WHEN 33 THEN 1.6349658866361918  WHEN 34 THEN 1.642858181924269  WHEN 35 THEN 1.650474930035994  WHEN 36 THEN 1.6578332393214716
                WHEN 37 THEN 1.6649487221712913  WHEN 38 THEN 1.671835661544901  WHEN 39 THEN 1.678507155200067  WHEN 40 THEN 1.6849752410869927
                ELSE CASE
                    WHEN access_count <= 62 THEN 1.79176
                    WHEN access_count <= 94 THEN 1.884789
                    WHEN access_count <= 126 THEN 1.945911
                    WHEN access_count <= 254 THEN 2.079442
                    WHEN access_count <= 510 THEN 2.197225
                    WHEN access_count <= 1022 THEN 2.302586
                    WHEN access_count <= 4094 THEN 2.484907
                    WHEN access_count <= 65534 THEN 2.772589
                    ELSE 4.143135
                END
        END
) VIRTUAL;

CREATE INDEX memories_by_standing ON memories (project, type, importance, standing) WHERE replaced = 0;
