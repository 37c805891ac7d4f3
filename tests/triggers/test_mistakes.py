"""Mistakes that are found in the source of a trigger, and ways to write that only look like one."""

import re

import pytest

from memory_server.errors import TriggerRejected
from memory_server.triggers import odd_keys
from memory_server.triggers.javascript.parts import Parts, parts_of
from memory_server.triggers.mistakes import no_day, warnings


@pytest.mark.parametrize(
    ("source", "mend"),
    [
        ("messages.includes('tea')", "m.content.includes"),
        ("context.messages.join(' ')", "map(m => m.content).join"),
        ("/tea/.test(messages)", "match_keys(messages, [/…/])"),
        ("'tea' in messages", "messages.some"),
        ("messages[-1].content", "messages.at(-1)"),
        ("context.message.includes('a')", "context.messages"),
        ("messages.count > 3", "messages.length"),
        ("messages.some(async m => true)", "`async`"),
        ("messages.some(m => { m.content.includes('a') })", "no `return`"),
        ("messages.some(function (m) { m.content })", "no `return`"),
        ("messages.findIndex(m => m.role === 'user')", ".some("),
        ("messages.some(m => m.content.indexOf('a'))", ".includes("),
        ("import('fs')", "no files"),
        ("new Date() === '2026-07-17'", "getMonth() === 6"),
        ("new Date() > '2026-07-17'", "new Date() >= new Date("),
        ("new Date().getMonth === 6", "getMonth()"),
        ("new Date().toDateString() === '2026-07-17'", "Fri Jul 17 2026"),
        ("new Date().getDay() in [5, 6]", "[5, 6].includes"),
        ("Date().getDay()", "`new`"),
    ],
)
def test_what_is_a_mistake_for_certain_is_refused_with_its_mend(source: str, mend: str) -> None:
    with pytest.raises(TriggerRejected) as refused:
        warnings(source)
    assert mend in str(refused.value)


@pytest.mark.parametrize(
    ("source", "mend"),
    [
        ("messages.some(m => m.role === 'human')", "'user'"),
        ("messages.some(m => m.role === 'User')", "'user'"),
        ("messages.some(({ role }) => 'ai' === role)", "'assistant'"),
        ("messages.some(m => m.content === 'tea')", ".includes('tea')"),
        ("match_keys(messages, ['a']) == true", "> 0"),
        ("match_keys_all(messages, ['a', 'b']) >= 2", "match_keys(…)"),
        ("similar(messages, 'a') > 0.5", "last argument"),
        ("new Date().getMonth() == 'July'", "getMonth() === 6"),
        ("'Friday' == new Date().getDay()", "getDay() === 5"),
        ("new Date().getDay() === 5 || 6", "[5, 6].includes"),
        ("match_keys(messages, ['a' || 'b'])", "is 'a' alone"),
        ("22 < new Date().getHours() < 24", "&&"),
        ("match_keys(messages, ['a']) & true", "&&"),
        ("messages.some(m => m.role = 'user')", "==="),
        ("messages.length > 'five'", "number"),
        ("new Date().getYear() === 126", "getFullYear"),
        ("new Date().toISOString().slice(0, 10) === '2026-07-17'", "in UTC"),
        ("new Date().getDay() === 'Tuesday'", "getDay() === 2"),
        ("messages.some(m => /\\b生日\\b/.test(m.content))", "Leave \\b out"),
        ("messages.some(m => ['hi', 'hello'].includes(m.content))", "match_keys"),
        ("messages.some(m => m.content.includes('時間'))", "时间"),
        ("messages.some(m => m.content.toLowerCase().includes('Tea'))", "'tea'"),
        ("match_keys_all(messages, ['hot tea'])", "several keys"),
        ("new Date().getHours() >= 24", "never true"),
        ("new Date().getHours() > 22 && new Date().getHours() < 6", "over midnight"),
        ("conversation_id === 3", "never a number"),
        ("similar(messages, 'a', 40)", "its maximum is 1"),
        ("match_keys(messages, ['a']) > 0 ? 'yes' : 'no'", "condition alone"),
    ],
)
def test_what_is_probably_a_mistake_is_a_warning(source: str, mend: str) -> None:
    assert any(mend in warning for warning in warnings(source)), warnings(source)


@pytest.mark.parametrize(
    "source",
    [
        "messages.indexOf(messages[0]) === 0",
        "const i = messages.findIndex(m => m.role === 'user'); i >= 0",
        "!!messages[messages.findIndex(m => m.role === 'user')]",
        "messages.some(m => ~m.content.indexOf('a'))",
        "messages.some(m => m.content.indexOf('a') !== -1)",
        "messages.forEach(m => { m.content; }); true",
        "messages.some(m => { const c = m.content; return c.includes('a'); })",
        "(m.name || 'nobody').length > 3",
        "messages.length > 3 || match_keys(messages, ['a'])",
        "1 < messages.length && messages.length < 3",
        "const context = { text: 'a' }; context.text === 'a'",
        "const f = (messages) => messages.includes('a'); f(['a'])",
        "new Date().getDay() == '5'",
        "new Date().toISOString() === '2026-07-17T09:05:59.000Z'",
        "new Date('2026-07-01') < new Date()",
        "[new Date().getDay()].includes(5)",
        "messages.some(m => m.role === 'tool')",
        "messages.some(m => m.content === '/start')",
        "let n = 0; for (const m of messages) n += m.content.length; n > 100",
        "messages.length | 0",
        "'messages.includes(1)' === 'async'",
        "messages.some(m => /\\bbirthday\\b|生日/.test(m.content))",
        "['user', 'tool'].includes(messages[0].role)",
        "messages.some(m => m.content.toLowerCase().includes('tea') && m.content.includes('时间'))",
        "const h = new Date().getHours(); h >= 22 || h < 6",
        "new Date().getHours() > 6 && new Date().getHours() < 22",
        "messages.length > 2 && messages.length < 4",
        "match_keys_all(messages, ['hot tea', 'milk'])",
    ],
)
def test_what_only_looks_like_a_mistake_is_left_alone(source: str) -> None:
    assert warnings(source) == ()


@pytest.mark.parametrize(
    ("key", "mend"),
    [
        ("tea|茶", "['tea', '茶']"),
        ("/tea/i", "/tea/i"),
        ("tea*", "/tea/i"),
        ("tea, coffee", "['tea', 'coffee']"),
        ("茶、咖啡", "['茶', '咖啡']"),
        ("生 日", "['生', '日']"),
        ("\\btea\\b", "/\\btea\\b/i"),
        (".*tea", "/.*tea/i"),
        ("tea\u200b", "U+200B"),
    ],
)
def test_a_key_that_means_something_else_is_warned_of(key: str, mend: str) -> None:
    [warning] = odd_keys.warnings([key])
    assert mend in warning


@pytest.mark.parametrize(
    "key",
    [
        "tea",
        "hot tea",
        "C++",
        "don't",
        "||",
        "state-of-the-art",
        "1,000",
        "生日",
        "10:30",
        "A/B",
        "C#",
        "3.5",
        "Yes, please do it now if you have the time",
        "👨\u200d👩\u200d👧",
    ],
)
def test_an_ordinary_key_is_not_warned_of(key: str) -> None:
    assert list(odd_keys.warnings([key])) == []


@pytest.mark.parametrize(
    ("keys", "plural", "mend"),
    [
        (["price"], "prices", r"/\bprices?\b/i"),
        (["Night shift", "rota"], "night shifts", r"/\bnight shifts?\b/i"),
        (["delivery"], "deliveries", r"/\bdeliver(?:y|ies)\b/i"),
        (["box"], "boxes", r"/\bbox(?:es)?\b/i"),
    ],
)
def test_a_whole_word_that_misses_its_plural_is_told_with_the_form_that_finds_both(
    keys: list[str], plural: str, mend: str
) -> None:
    [warning] = odd_keys.warnings(keys)
    assert f"does not find '{plural}'" in warning
    assert mend in warning
    for text in (keys[0], plural):
        assert re.search(mend.strip("/i"), f"the {text} again", re.IGNORECASE)


@pytest.mark.parametrize(
    "keys", [["price", "prices"], ["prices"], ["weather"], ["价格"], ["tomorrow", "urgent"]]
)
def test_a_key_whose_plural_is_there_or_unusual_is_left_alone(keys: list[str]) -> None:
    assert list(odd_keys.warnings(keys)) == []


@pytest.mark.parametrize(
    ("source", "before", "parts"),
    [
        ("a && b || c", "", ("a", "b", "c")),
        ("const x = 1; x > 0 && (y || z);", "const x = 1; ", ("x > 0", "(y || z)")),
        ("a ? b : c", "", ("a ? b : c",)),
        ("m => a && b", "", ("m => a && b",)),
        ("f('a && b') && g", "", ("f('a && b')", "g")),
        ("if (a && b) { c }", "", ("if (a && b) { c }",)),
    ],
)
def test_the_parts_of_a_trigger(source: str, before: str, parts: tuple[str, ...]) -> None:
    found = parts_of(source)
    assert found.sources == parts
    assert found.before in (before, "") or found == Parts("", (source,))


def test_a_date_in_words_is_compared_with_its_declaration_and_no_time_of_day_is() -> None:
    compared, constants = no_day.comparisons("const d = new Date(); d.toDateString().includes('Juli') && x")
    assert [each.source for each in compared] == ["d.toDateString().includes('Juli')"]
    assert constants == "const d = new Date();"
    assert no_day.comparisons("new Date().toLocaleTimeString() === '9:05:00 AM'") == ([], "")
