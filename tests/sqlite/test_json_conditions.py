"""Conditions that version 0.1.0 took as JSON become the JavaScript that they mean."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memory_server.sqlite.database import Database
from tests.conftest import ROOT, Clock, problems

BEFORE = 5
"""The schema of version 0.1.0."""

PAIRS: list[tuple[Any, str]] = [
    ({'match_keys': ['birthday', '生日']},
     'match_keys(messages, ["birthday", "生日"])'),
    ({'match_keys': ['a'], 'scope': 'user', 'depth': 6},
     'match_keys(messages, ["a"], "user", 6)'),
    ({'match_keys': ['a'], 'depth': None},
     'match_keys(messages, ["a"])'),
    ({'match_keys': []},
     'match_keys(messages, [])'),
    ({'match_keys_all': ['a', {'regex': 'b+', 'flags': 'i'}]},
     'match_keys_all(messages, ["a", /b+/i])'),
    ({'match_keys': [{'regex': 'a/b|\\n', 'flags': 'i'}]},
     'match_keys(messages, [new RegExp("a/b|\\\\n", "i")])'),
    ({'scope': 'user', 'depth': 2, 'match_keys': ['say "hi"\n', '\u2028']},
     'match_keys(messages, ["say \\"hi\\"\\n", "\u2028"], "user", 2)'),
    ({'and': [{'not': {'or': [False, {'<': [-1, {'get': 'date.hour'}]}]}}, {'match_keys': ['a']}, True]},
     '(!((false || ((-1) < new Date().getHours()))) && match_keys(messages, ["a"]) && true)'),
    ({'===': [{'get': 'participants.the user'}, 'Ann']},
     '(participants["the user"] === "Ann")'),
    ({'match_keys': [{'regex': 'b'}]},
     'match_keys(messages, [/b/])'),
    ({'similar': 'a party'},
     'similar(messages, "a party")'),
    ({'similar': 'a party', 'threshold': 1},
     'similar(messages, "a party", 1)'),
    ({'and': [True, False, None]},
     '(true && false && null)'),
    ({'or': [1, 'a', {'not': 0.5}]},
     '(1 || "a" || !(0.5))'),
    ({'and': [{'or': [1, 2]}, 3]},
     '((1 || 2) && 3)'),
    ({'===': [{'get': 'date.month'}, 7]},
     '((new Date().getMonth() + 1) === 7)'),
    ({'!==': [{'get': 'date.day'}, {'get': 'date.weekday'}]},
     '(new Date().getDate() !== new Date().getDay())'),
    ({'<': [{'get': 'date.hour'}, {'get': 'date.minute'}]},
     '(new Date().getHours() < new Date().getMinutes())'),
    ({'<=': [{'get': 'date.second'}, {'get': 'date.year'}]},
     '(new Date().getSeconds() <= new Date().getFullYear())'),
    ({'>': [{'get': 'messages.length'}, {'+': [1, 2]}]},
     '(messages.length > (1 + 2))'),
    ({'>=': [{'%': [{'/': [1, 2]}, 3]}, {'-': [{'*': [4, 5]}, 6]}]},
     '(((1 / 2) % 3) >= ((4 * 5) - 6))'),
    ({'===': [{'get': 'conversation_id'}, 'talk-1']},
     '(conversation_id === "talk-1")'),
    ({'===': [{'get': 'participants.user'}, 'Ann']},
     '(participants.user === "Ann")'),
    ({'some': {'includes': [{'get': 'message.content'}, 'x']}},
     'messages.some(m => m.content.includes("x"))'),
    ({'some': {'or': [{'===': [{'get': 'message.role'}, 'user']}, {'length': {'get': 'message.content'}}]}},
     'messages.some(m => ((m.role === "user") || m.content.length))'),
    ({'startsWith': [{'toLowerCase': 'A'}, 'a']},
     '"A".toLowerCase().startsWith("a")'),
    ({'endsWith': [{'get': 'conversation_id'}, 'a']},
     'conversation_id.endsWith("a")'),
    ({'test': [{'regex': 'a', 'flags': 'i'}, {'get': 'conversation_id'}]},
     '/a/i.test(conversation_id)'),
]  # fmt: skip

NO_CONDITIONS = [
    "true",
    "{ const n = 1; n === 1 }",
    "{}",
    '{"keywords": ["a"]}',
    '{"and": [',
    '[{"get": "a"}]',
]
"""What stays as it was written."""


def before(tmp_path: Path, clock: Clock, sources: list[str]) -> Path:
    """A closed file of the schema before, with a memory for each source."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for file in sorted((ROOT / "migrations").glob("*.sql"))[:BEFORE]:
        shutil.copy(file, folder)
    path = tmp_path / "memory.db"
    database = Database(path, clock, folder)
    with database.write() as tx:
        tx.execute("INSERT INTO conversations (name) VALUES ('talk')")
        for number, source in enumerate(sources):
            tx.execute(
                "INSERT INTO long_term_memories (conversation_id, name, prompt, \"trigger\") VALUES (1, ?, 'p', ?)",
                (str(number), source),
            )
    database.close()
    return path


def after(path: Path, clock: Clock) -> list[str]:
    """The triggers of the memories after the upgrade."""
    database = Database(path, clock)
    with database.read() as tx:
        kept = tx.rows('SELECT "trigger" FROM long_term_memories ORDER BY id')
    assert problems(database) == []
    database.close()
    return [source for (source,) in kept]


def test_a_condition_in_json_becomes_the_javascript_that_it_means(tmp_path: Path, clock: Clock) -> None:
    sources = [json.dumps(condition, ensure_ascii=False, indent=1) for condition, _ in PAIRS]
    kept = after(before(tmp_path, clock, sources), clock)
    for written, (_, meant) in zip(kept, PAIRS, strict=True):
        assert written == meant


@pytest.mark.parametrize("source", NO_CONDITIONS)
def test_what_is_no_condition_in_json_stays_as_it_is(tmp_path: Path, clock: Clock, source: str) -> None:
    assert after(before(tmp_path, clock, [source]), clock) == [source]
