-- Triggers are JavaScript. Conditions written as JSON, which servers before this version evaluated too, become the
-- JavaScript that they mean, also those of deleted memories.
--
-- Each value of a condition writes a text before what is inside it and one after it: `{"and": [A, B]}` writes `(`, A,
-- ` && `, B, `)`. All these texts, in the order of the document, are the JavaScript. (Tables instead of WITH: two of the
-- steps need an index.)

CREATE TABLE old_conditions (id INTEGER PRIMARY KEY, memory_id INTEGER, trash_id INTEGER, source TEXT);

INSERT INTO old_conditions (memory_id, source)
SELECT id, "trigger" FROM long_term_memories
WHERE ltrim("trigger", char(9, 10, 13, 32)) LIKE '{%' AND json_valid("trigger");

INSERT INTO old_conditions (trash_id, source)
SELECT id, source
FROM (
    SELECT id, json_extract(parts, '$.long_term_memories[0].trigger') AS source FROM trash WHERE kind = 'long_term'
)
WHERE ltrim(source, char(9, 10, 13, 32)) LIKE '{%' AND json_valid(source);

CREATE TABLE old_values (
    condition_id INTEGER, id INTEGER, parent INTEGER, key TEXT, type TEXT, atom, value,
    PRIMARY KEY (condition_id, id)
);
CREATE INDEX old_values_by_parent ON old_values (condition_id, parent);

INSERT INTO old_values
SELECT c.id, j.id, j.parent, j.key, j.type, j.atom, j.value
FROM old_conditions AS c, json_tree(c.source) AS j;

-- A person may have written something else that is JSON: it stays as it is.
DELETE FROM old_conditions
WHERE source NOT GLOB '*"*' OR id IN (
    SELECT v.condition_id
    FROM old_values AS v
    JOIN old_values AS p ON p.condition_id = v.condition_id AND p.id = v.parent
    WHERE p.type = 'object' AND v.key NOT IN (
        'and', 'or', 'not', 'match_keys', 'match_keys_all', 'similar', 'get', 'some', 'includes', 'startsWith',
        'endsWith', 'toLowerCase', 'length', 'test', '===', '!==', '<', '<=', '>', '>=', '+', '-', '*', '/', '%',
        'scope', 'depth', 'threshold', 'regex', 'flags'
    )
);

CREATE TABLE old_texts (condition_id INTEGER, at INTEGER, closing INTEGER, text TEXT);

-- What is written before a value: what separates it from its neighbour, its sign, and the value itself.
INSERT INTO old_texts
SELECT
    v.condition_id,
    v.id,
    NULL,
    CASE
        WHEN p.type <> 'array' OR v.key = '0' THEN ''
        WHEN p.key = 'and' THEN ' && '
        WHEN p.key = 'or' THEN ' || '
        WHEN p.key IN ('match_keys', 'match_keys_all') THEN ', '
        WHEN p.key IN ('includes', 'startsWith', 'endsWith', 'test') THEN '.' || p.key || '('
        ELSE ' ' || p.key || ' '
    END
    || CASE
        WHEN p.type IS NOT 'object' THEN ''
        WHEN v.key IN ('match_keys', 'match_keys_all') THEN v.key || '(messages, ['
        WHEN v.key = 'some' THEN 'messages.some(m => '
        WHEN v.key = 'not' THEN '!('
        WHEN v.key = 'similar' THEN
            'similar(messages, ' || json_quote(v.atom)
            || ifnull(', ' || json_extract(p.value, '$.threshold'), '') || ')'
        WHEN v.key IN ('toLowerCase', 'length', 'includes', 'startsWith', 'endsWith', 'test', 'get') THEN ''
        WHEN v.key IN ('scope', 'depth', 'threshold', 'regex', 'flags') THEN ''
        ELSE '('
    END
    || CASE
        WHEN p.type = 'object' AND v.key IN ('similar', 'scope', 'depth', 'threshold', 'regex', 'flags') THEN ''
        WHEN p.type = 'object' AND v.key = 'get' THEN
            CASE
                WHEN v.atom = 'date.month' THEN '(new Date().getMonth() + 1)'
                WHEN v.atom = 'date.year' THEN 'new Date().getFullYear()'
                WHEN v.atom = 'date.day' THEN 'new Date().getDate()'
                WHEN v.atom = 'date.weekday' THEN 'new Date().getDay()'
                WHEN v.atom = 'date.hour' THEN 'new Date().getHours()'
                WHEN v.atom = 'date.minute' THEN 'new Date().getMinutes()'
                WHEN v.atom = 'date.second' THEN 'new Date().getSeconds()'
                WHEN v.atom = 'message.content' THEN 'm.content'
                WHEN v.atom = 'message.role' THEN 'm.role'
                WHEN v.atom NOT GLOB 'participants.*' THEN v.atom
                WHEN v.atom GLOB 'participants.[A-Za-z_$]*' AND substr(v.atom, 14) NOT GLOB '*[^A-Za-z0-9_$]*' THEN v.atom
                ELSE 'participants[' || json_quote(substr(v.atom, 14)) || ']'
            END
        WHEN v.type = 'object' AND json_type(v.value, '$.regex') = 'text' THEN
            -- A literal holds no `/` and no end of a line, and is not empty.
            CASE
                WHEN json_extract(v.value, '$.regex') GLOB '*[/' || char(10, 13, 8232, 8233) || ']*'
                    OR json_extract(v.value, '$.regex') = ''
                THEN
                    'new RegExp(' || json_quote(json_extract(v.value, '$.regex')) || ', '
                    || json_quote(ifnull(json_extract(v.value, '$.flags'), '')) || ')'
                ELSE
                    '/' || json_extract(v.value, '$.regex') || '/' || ifnull(json_extract(v.value, '$.flags'), '')
            END
        WHEN v.type IN ('object', 'array') THEN ''
        WHEN v.type IN ('true', 'false', 'null') THEN v.type
        WHEN v.type IN ('integer', 'real') AND v.atom < 0 THEN '(' || json_quote(v.atom) || ')'
        ELSE json_quote(v.atom)
    END
FROM old_values AS v
JOIN old_conditions AS c ON c.id = v.condition_id
LEFT JOIN old_values AS p ON p.condition_id = v.condition_id AND p.id = v.parent;

-- What is written after a value, behind the last value inside it; the innermost first.
INSERT INTO old_texts
WITH RECURSIVE inside (condition_id, outer_id, id) AS (
    SELECT condition_id, id, id FROM old_values
    UNION ALL
    SELECT v.condition_id, inside.outer_id, v.id
    FROM inside
    JOIN old_values AS v ON v.condition_id = inside.condition_id AND v.parent = inside.id
)
SELECT
    v.condition_id,
    last.id,
    -v.id,
    CASE
        WHEN v.key IN ('similar', 'get', 'scope', 'depth', 'threshold', 'regex', 'flags') THEN ''
        WHEN v.key = 'toLowerCase' THEN '.toLowerCase()'
        WHEN v.key = 'length' THEN '.length'
        WHEN v.key NOT IN ('match_keys', 'match_keys_all') THEN ')'
        WHEN json_extract(p.value, '$.depth') IS NOT NULL THEN
            '], "' || ifnull(json_extract(p.value, '$.scope'), 'any') || '", ' || json_extract(p.value, '$.depth') || ')'
        ELSE ifnull('], "' || json_extract(p.value, '$.scope') || '")', '])')
    END
FROM (SELECT condition_id, outer_id, max(id) AS id FROM inside GROUP BY condition_id, outer_id) AS last
JOIN old_values AS v ON v.condition_id = last.condition_id AND v.id = last.outer_id
JOIN old_values AS p ON p.condition_id = v.condition_id AND p.id = v.parent AND p.type = 'object'
JOIN old_conditions AS c ON c.id = v.condition_id;

CREATE TABLE new_triggers (memory_id INTEGER, trash_id INTEGER, javascript TEXT);

INSERT INTO new_triggers
SELECT c.memory_id, c.trash_id, group_concat(t.text, '')
FROM old_conditions AS c
JOIN (SELECT * FROM old_texts ORDER BY condition_id, at, closing IS NOT NULL, closing) AS t ON t.condition_id = c.id
GROUP BY c.id;

UPDATE long_term_memories
SET "trigger" = (SELECT javascript FROM new_triggers WHERE memory_id = long_term_memories.id)
WHERE id IN (SELECT memory_id FROM new_triggers WHERE length(javascript) <= 16384);

UPDATE trash
SET parts = json_set(
    parts, '$.long_term_memories[0].trigger', (SELECT javascript FROM new_triggers WHERE trash_id = trash.id)
)
WHERE id IN (SELECT trash_id FROM new_triggers WHERE length(javascript) <= 16384);

DROP TABLE new_triggers;
DROP TABLE old_texts;
DROP TABLE old_values;
DROP TABLE old_conditions;
