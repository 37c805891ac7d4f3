"""Conditions in JSON: the same tree as in JavaScript, and errors that name the part."""

import json
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.errors import TriggerRejected
from memory_server.triggers import MOST_BYTES
from memory_server.triggers.simple.json_form import is_json, parse_json
from memory_server.triggers.simple.parser import parse
from memory_server.triggers.simple.values import Undecided
from tests.triggers.test_simple import scene

DATE = "new Date()"

PAIRS: list[tuple[Any, str]] = [
    ({"match_keys": ["birthday", "生日"]}, "match_keys(messages, ['birthday', '生日'])"),
    ({"match_keys": ["a"], "scope": "user", "depth": 6}, "match_keys(messages, ['a'], 'user', 6)"),
    ({"match_keys": ["a"], "depth": None}, "match_keys(messages, ['a'], 'any')"),
    ({"match_keys": []}, "match_keys(messages, [])"),
    ({"match_keys_all": ["a", {"regex": "b+", "flags": "i"}]}, "match_keys_all(messages, ['a', /b+/i])"),
    ({"match_keys": [{"regex": "b"}]}, "match_keys(messages, [/b/])"),
    ({"similar": "a party"}, "similar(messages, 'a party')"),
    ({"similar": "a party", "threshold": 1}, "similar(messages, 'a party', 1)"),
    ({"and": [True, False, None]}, "true && false && null"),
    ({"or": [1, "a", {"not": 0.5}]}, "1 || 'a' || !0.5"),
    ({"and": [{"or": [1, 2]}, 3]}, "(1 || 2) && 3"),
    ({"===": [{"get": "date.month"}, 7]}, f"{DATE}.getMonth() + 1 === 7"),
    ({"!==": [{"get": "date.day"}, {"get": "date.weekday"}]}, f"{DATE}.getDate() !== {DATE}.getDay()"),
    ({"<": [{"get": "date.hour"}, {"get": "date.minute"}]}, f"{DATE}.getHours() < {DATE}.getMinutes()"),
    ({"<=": [{"get": "date.second"}, {"get": "date.year"}]}, f"{DATE}.getSeconds() <= {DATE}.getFullYear()"),
    ({">": [{"get": "messages.length"}, {"+": [1, 2]}]}, "messages.length > 1 + 2"),
    ({">=": [{"%": [{"/": [1, 2]}, 3]}, {"-": [{"*": [4, 5]}, 6]}]}, "1 / 2 % 3 >= 4 * 5 - 6"),
    ({"===": [{"get": "conversation_id"}, "talk-1"]}, "conversation_id === 'talk-1'"),
    ({"===": [{"get": "participants.user"}, "Ann"]}, "participants.user === 'Ann'"),
    ({"some": {"includes": [{"get": "message.content"}, "x"]}}, "messages.some(m => m.content.includes('x'))"),
    (
        {"some": {"or": [{"===": [{"get": "message.role"}, "user"]}, {"length": {"get": "message.content"}}]}},
        "messages.some(m => m.role === 'user' || m.content.length)",
    ),
    ({"startsWith": [{"toLowerCase": "A"}, "a"]}, "'A'.toLowerCase().startsWith('a')"),
    ({"endsWith": [{"get": "conversation_id"}, "a"]}, "conversation_id.endsWith('a')"),
    ({"test": [{"regex": "a", "flags": "i"}, {"get": "conversation_id"}]}, "/a/i.test(conversation_id)"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "source"), PAIRS, ids=[source for _, source in PAIRS])
def test_json_is_the_same_tree(condition: Any, source: str) -> None:
    written = json.dumps(condition, ensure_ascii=False, indent=1)
    assert is_json(written)
    assert parse_json(written) == parse(source)


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("{}", "In the condition: exactly one of and, or, not,"),
        ('{"and": [true],\n "or": [true]}', "not and, or"),
        ('{"match_key": ["a"]}', "not match_key"),
        ('{"and": [true, {"or": [{"match_keys": "a"}]}]}', "condition, and[1], or[0], match_keys: a list of keys"),
        ('{"match_keys": ["a", 7]}', "In the condition, match_keys[1]: a string or"),
        ('{"match_keys": [{"regex": 7}]}', "match_keys[0]: a string is needed, not 7"),
        ('{"match_keys": [{"regex": "a", "flag": "i"}]}', "match_keys[0]: a string or"),
        ('{"match_keys": [{"regex": "(a+)+"}]}', "match_keys[0]: /(a+)+/ is too complex"),
        ('{"match_keys": ["\\ud800"]}', "match_keys[0]: the string contains a lone surrogate."),
        ('{"match_keys": ["a"], "scope": "users"}', "scope must be one of any, user,"),
        ('{"match_keys": ["a"], "scope": ["user"]}', "scope must be one of any, user,"),
        ('{"match_keys": ["a"], "depth": 0}', "depth must be a whole number of messages, 1 or more, not 0"),
        ('{"match_keys": ["a"], "depth": true}', "not True"),
        ('{"match_keys": ["a"], "depth": 1.5}', "not 1.5"),
        ('{"match_keys": ["a"], "threshold": 1}', "match_keys has no option 'threshold'"),
        ('{"similar": 7}', "similar: a string is needed, not 7"),
        ('{"similar": "a", "threshold": "1"}', "threshold must be a number"),
        ('{"and": []}', "and: a list of conditions is needed"),
        ('{"and": true}', "and: a list of conditions is needed"),
        ('{"not": [true]}', "In the condition, not: a list is not a condition"),
        ('{"===": [1]}', "===: a list of two values is needed"),
        ('{"<": [1, "a"]}', "both values must be numbers, or both strings"),
        ('{"+": [1, "a"]}', "two numbers are needed"),
        ('{"==": [1, 1]}', "exactly one of"),
        ('{"get": "date.century"}', "'date.century' is unknown; use messages.length,"),
        ('{"get": 7}', "get: 7 is unknown; use"),
        ('{"get": "message.content"}', "message.content is available only inside some"),
        ('{"some": {"some": true}}', "some cannot be used inside some"),
        ('{"some": {"match_keys": ["a"]}}', "it cannot be used inside some"),
        ('{"some": {"similar": "a"}}', "it cannot be used inside some"),
        ('{"includes": ["a"]}', "a list of two is needed: where to look, and a string"),
        ('{"includes": [1, "a"]}', "includes[0]: a string is needed"),
        ('{"includes": ["a", 1]}', "includes[1]: a string is needed, not 1"),
        ('{"test": "a"}', "a list of two is needed: a regex, and where to look"),
        ('{"length": 1}', "length: a string is needed"),
        ('{"and": [NaN]}', "NaN is not a JSON number"),
        ('{"and": [1' + "0" * 400 + "]}", "and[0]: the number is too large"),
        ('{"and": [true]', "Not JSON at 1:15"),
        ('{"and": [true]} x', "Not JSON at 1:17"),
        ('{"not": true, "not": false}', "an object has the same name twice: not, not"),
        ('{"not": ' * 50 + "true" + "}" * 50, "nested too deep"),
        ('{"not": ' * 5000 + "true" + "}" * 5000, "longer than"),
        ('{"and": ' + "[" * 3000 + "]" * 3000 + "}", ""),
    ],
)  # fmt: skip
def test_errors_name_the_part(written: str, complaint: str) -> None:
    with pytest.raises(TriggerRejected) as raised:
        parse_json(written)
    assert complaint in str(raised.value)
    assert len(str(raised.value)) < 2000


def test_a_block_of_javascript_is_not_taken_for_json() -> None:
    assert not is_json("{ const n = 1; n === 1 }")
    assert is_json(' {\n "not": true}')
    assert parse("{}") is None


def test_the_longest_json() -> None:
    begin = '{"match_keys": ["'
    fits = begin + "a" * (MOST_BYTES - len(begin) - 3) + '"]}'
    assert parse_json(fits)
    with pytest.raises(TriggerRejected):
        parse_json(fits + " ")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


def replaced(value: Any, other: Any, random: Random) -> Any:
    """The value with something in it replaced."""
    if random.random() < 0.3:
        return other
    match value:
        case dict() if value:
            name = random.choice(list(value))
            return {**value, name: replaced(value[name], other, random)}
        case list() if value:
            place = random.randrange(len(value))
            return [*value[:place], replaced(value[place], other, random), *value[place + 1 :]]
        case _:
            return other


@settings(max_examples=500, deadline=None)
@given(
    pair=st.sampled_from(PAIRS),
    other=ANYTHING | st.sampled_from([condition for condition, _ in PAIRS]),
    random=st.randoms(use_true_random=True),
)
def test_whatever_stands_in_json_is_a_condition_or_is_rejected_in_a_sentence(
    pair: tuple[Any, str], other: Any, random: Random
) -> None:
    written = json.dumps(replaced(pair[0], other, random))
    complaint = rejection(written)
    assert complaint is None or (complaint.endswith(".") and len(complaint) < 500)
    if complaint is None:
        for about in (scene(), scene(messages=())):
            with suppress(Undecided):
                parse_json(written).value(about)


def rejection(written: str) -> str | None:
    try:
        parse_json(written)
    except TriggerRejected as error:
        return str(error)
    return None
