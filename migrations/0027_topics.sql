-- The topic of a fact in a briefing, made of its key as `heading_of`, `is_progress` and `is_overview` of the domain do it,
-- and an index by it: a briefing reads only the first facts of each topic, however many there are.
ALTER TABLE facts ADD COLUMN topic TEXT GENERATED ALWAYS AS (
    CASE
        WHEN key GLOB 'current.block*' THEN 'blocked'
        WHEN key GLOB 'current.task*' THEN 'task'
        WHEN key = 'current' OR key GLOB 'current.*' THEN 'under_way'
        WHEN key = 'discovered' OR key GLOB 'discovered.*' THEN 'found_out'
        WHEN key GLOB 'project.decision*' THEN 'decided'
        WHEN key = 'project' OR key GLOB 'project.*' THEN 'conventions'
        WHEN key IN ('shared', 'ai') OR key GLOB 'shared.*' OR key GLOB 'ai.*' THEN 'shared'
        ELSE 'other'
    END
    || CASE
        WHEN key GLOB 'current.*' AND key NOT GLOB 'current.block*' AND (
            lower(substr(key, 9)) GLOB 'task[._]*'
            OR lower(substr(key, 9)) IN (
                'progress', 'percent', 'percentage', 'completion', 'status', 'state', 'phase', 'stage', 'step', 'steps',
                'substep', 'subtask', 'subtasks', 'next', 'next_step', 'next_steps', 'next_action', 'next_actions',
                'todo', 'todos', 'remaining', 'completed', 'done', 'wip',
                '进度', '状态', '阶段', '步骤', '下一步', '待办', '剩余', '完成度'
            )
        ) THEN '.progress'
        ELSE ''
    END
    || CASE
        -- What follows the last dot.
        WHEN lower(substr(key, 1 + length(rtrim(key, replace(key, '.', ''))))) IN (
            'overview', 'about', 'description', 'summary', 'purpose', 'goal', 'what', '概述', '简介', '目标', '说明'
        ) THEN '.overview'
        ELSE ''
    END
) VIRTUAL;

CREATE INDEX facts_by_topic ON facts (scope, owner, topic, updated_at, expires_at);
