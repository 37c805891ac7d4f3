"""Simple conditions in Python: what is understood, its value, and what is left to JavaScript."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.triggers import MOST_BYTES
from memory_server.triggers.simple.parser import MOST_NESTED, parse
from memory_server.triggers.simple.pattern import NotSimple, translate
from memory_server.triggers.simple.scene import Scene, TooLong
from memory_server.triggers.simple.values import JsValue, Special, Undecided
from tests.triggers.vectors import ERRORS, VECTORS

NOW = datetime(2026, 7, 17, 9, 5, 59, tzinfo=UTC)
"""A Friday."""

TALK = (
    Message("system", "You help."),
    Message("user", "My birthday is in May 🎂"),
    Message("assistant", "Noted: 生日!"),
    Message("user", "The deadline of the C++ project"),
)


def scene(
    messages: tuple[Message, ...] = TALK,
    near: float | None = None,
    now: datetime = NOW,
    participants: Mapping[str, Any] | None = None,
) -> Scene:
    people = {"user": "Ann"} if participants is None else participants
    return Scene(Situation(messages, "talk-1", now, 7, people), lambda recent, wanted: near)


def value(source: str, where: Scene | None = None) -> JsValue:
    node = parse(source)
    assert node is not None, f"not understood: {source}"
    return node.value(where or scene())


def written(keys: Any) -> str:
    """Keys of a vector as JavaScript."""
    if isinstance(keys, list):
        return f"[{', '.join(map(written, keys))}]"
    return json.dumps(keys) if isinstance(keys, str) else f"/{keys['regex'] or '(?:)'}/{keys['flags']}"


def called(function: str, vector: Mapping[str, Any]) -> str:
    """The call that a vector describes."""
    arguments = ["messages", written(vector["keys"])]
    if "scope" in vector or "depth" in vector:
        arguments.append(json.dumps(vector.get("scope")))
    if "depth" in vector:
        arguments.append(json.dumps(vector["depth"]))
    return f"{function}({', '.join(arguments)})"


def of_vector(vector: Mapping[str, Any]) -> Scene:
    return scene(tuple(Message(said["role"], said["content"]) for said in vector["messages"]))


LEFT_TO_JAVASCRIPT = {
    "/a.b/u in 'a🎂b'",
    "/É/i in 'é'",
    "/k/iu in '\u212a'",
    "/tea/y in 'tea'",
    "/tea/y in 'a tea'",
    "/(a+)b\\1/ in 'aabaa'",
    "/tea(?= please)/ in 'tea please'",
    "/\\p{Script=Han}/u in '生'",
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
def test_the_table(vector: dict[str, Any]) -> None:
    sources = [called("match_keys", vector), called("match_keys_all", vector)]
    if vector["name"] in LEFT_TO_JAVASCRIPT:
        assert [parse(source) for source in sources] == [None, None]
    else:
        assert [value(source, of_vector(vector)) for source in sources] == [vector["count"], vector["all"]]


@pytest.mark.parametrize("vector", ERRORS, ids=lambda vector: str(vector["name"]))
def test_errors_are_left_to_javascript(vector: dict[str, Any]) -> None:
    assert parse(called("match_keys", vector)) is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("match_keys(context.messages, ['birthday', '生日'], 'any')", 2),
        ("match_keys(context.messages, ['anniversary'], 'any')"
         " || (new Date().getMonth() === 6 && new Date().getDate() === 17)", True),
        ("match_keys_all(context.messages, ['project', 'deadline'], 'user')", True),
        ("match_keys(context.messages, [/deadlines?/i, 'C++'], 'user', 6) >= 2", True),
        ("context.messages.some(m => m.content.includes('生日'))", True),
        ("context.participants.user === 'Ann'", True),
    ],
)  # fmt: skip
def test_triggers_that_people_have(source: str, expected: JsValue) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("true", True), ("false", False), ("null", None), ("undefined", Special.UNDEFINED),
        ("'a' // b", "a"), ("/* a */ 1 ;; ", 1.0), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0),
        ("\"it's\"", "it's"), ("'\\u{1F382}'", "🎂"), ("'\\ud83c\\udf82'", "🎂"),
        ("'\\x41\\n\\'\\\\'", "A\n'\\"), ("((((1))))", 1.0), ("!0", True), ("!!'a'", True),
        ("0 || 'a'", "a"), ("'' && 1", ""), ("1 && 0 || 2", 2.0), ("1 || 0 && 2", 1.0),
        ("!'' && !null", True), ("1 < 2 < 3", True), ("3 > 2 > 1", False), ("1 < 3 < 2", True),
        ("1 === 1 === true", True), ("1 === true", False), ("1 == true", True), ("null == undefined", True),
        ("null === undefined", False), ("null == 0", False), ("null >= 0", True), ("undefined >= 0", False),
        ("'10' < '9'", True), ("'a' < 'B'", False), ("'\U0001f382' < '\uff61'", True),
        ("NaN === NaN", False), ("NaN !== NaN", True), ("-0 === 0", True), ("1 / -0 < 0", True),
        ("1 / (0 * -1) < 0", True), ("0 / 0 === 0 / 0", False), ("1 / 0 === Infinity", True),
        ("-5 % 3 === -2", True), ("5 % 0 === NaN", False), ("5 % Infinity", 5.0), ("7 - 2 - 1", 4.0),
        ("2 + 3 * 4", 14.0), ("1 + true", 2.0), ("1 + null", 1.0), ("0.1 + 0.2 === 0.3", False),
        ("1e308 * 10 === Infinity", True), ("new Date().getFullYear()", 2026.0),
        ("new Date().getMonth()", 6.0), ("(new Date()).getDate()", 17.0), ("new Date().getDay()", 5.0),
        ("new Date().getHours() * 60 + new Date().getMinutes()", 545.0), ("new Date().getSeconds()", 59.0),
        ("(new Date().getMonth() + 1) % 12", 7.0), ("messages.length", 4.0),
        ("context.messages.length > 4", False), ("conversation_id", "talk-1"),
        ("context.conversation_id === 'talk-1'", True), ("conversation_id.startsWith('talk')", True),
        ("conversation_id.length", 6.0), ("conversation_id.toLowerCase().endsWith('-1')", True),
        ("participants.nobody", Special.UNDEFINED), ("!participants.nobody", True),
        ("participants.user == 'Ann'", True), ("participants.user != null", True),
        ("context.participants?.user", "Ann"),
        ("messages.some((msg) => msg.role === 'system' && msg.content.length === 9,)", True),
        ("messages.some(m => m.content.toLowerCase().includes('BIRTHDAY'))", False),
        ("messages.some(m => /BIRTH(?:day|month)/i.test(m.content))", True),
        ("messages.some(m => m.role === 'user' && /^no/i.test(m.content))", False),
        ("messages.some(m => new Date().getMonth() === 6)", True), ("messages.some(m => 0)", False),
        ("match_keys(messages, ['a',], 'any', 2,)", 0.0), ("match_keys(messages, [],)", 0.0),
        ("match_keys(messages, ['birthday'], undefined, Infinity)", 1.0),
        ("match_keys(messages, ['birthday'], null, -3)", 0.0),
        ("`a`", "a"), ("1 ? 2 : 3", 2.0), ("1 ?? 2", 1.0), ("null ?? undefined ?? 'a'", "a"), ("0 ?? 2", 0.0),
        ("messages.at(-1).content.includes('C++')", True), ("messages[messages.length - 1].role", "user"),
        ("messages[4]?.content.includes('a')", Special.UNDEFINED), ("messages.at(-9)?.role ?? 'none'", "none"),
        ("!!messages[3] && !messages[4]", True), ("messages[0] !== undefined", True),
        ("messages.filter(m => m.role === 'user').length", 2.0),
        ("messages.filter(m => m.role === 'user').at(-1).content.startsWith('The')", True),
        ("messages.slice(-2).some(m => m.role === 'system')", False), ("messages.slice(1, 3).length", 2.0),
        ("messages.every(({ role, content }) => role !== 'tool' && content.length > 3)", True),
        ("messages.find(m => m.role === 'tool') === undefined", True),
        ("messages.findIndex(m => m.role === 'user')", 1.0),
        ("messages.map(m => m.content).join(' ').includes('May 🎂 Noted')", True),
        ("[0, 5].includes(new Date().getDay())", True),
        ("['a', 'May'].some(w => messages.some(m => m.content.includes(w)))", True),
        ("['a', 'b'].every(w => w.length === 1)", True), ("['system'].includes(messages[0].role)", True),
        ("match_keys(messages.filter(m => m.role === 'user'), ['deadline'])", 1.0),
        ("const keys = ['deadline', /生日/]; match_keys(messages, keys, 'any')", 2.0),
        ("const d = new Date(), h = d.getHours()\nlet late = h > 8\nlate && d.getMonth() === 6", True),
        ("const last = messages.at(-1); last && last.content.indexOf('deadline') >= 0", True),
        ("(() => { const d = new Date(); if (d.getDay() === 5) return 'Fri'; return 'other'; })()", "Fri"),
        ("if (messages.length > 3) { true } else { false }", True), ("Boolean('')", False),
        ("new Date() > new Date('2026-07-17') && new Date() < new Date(2026, 6, 18)", True),
        ("(new Date('2026-07-18') - new Date()) / 3600000 < 15", True),
        ("Date.now() === new Date().getTime()", True),
        ("new Date().toISOString().slice(0, 10)", "2026-07-17"),
        ("new Date().toISOString().split('T')[0]", "2026-07-17"),
        ("new Date().toDateString()", "Fri Jul 17 2026"), ("Math.floor(-0.5)", -1.0), ("Math.ceil(2.1)", 3.0),
        ("' Tea '.trim().toUpperCase()", "TEA"), ("'tea'.match(/e/) ? 1 : 2", 1.0),
        ("messages.some(m => { const c = m.content; return c.includes('May') })", True),
        ("messages.some(function (m) { return m.role === 'system'; })", True),
        ("match_keys(messages, [/[/]|\\//, /=/])", 0.0), ("/=1/.test('a=1')", True),
    ],
)  # fmt: skip
def test_values_are_those_of_javascript(source: str, expected: JsValue) -> None:
    found = value(source)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "source",
    [
        "", ";", "{}", "[]", "x", "1 2", "1,2", "let a = 1", "1;2", "010", "1_000", "0x10", "10n",
        "1.toString()", "1a", "a=1", "'a", "'a\nb'", "'\\d'", "'\\0'", "'\\\n'", "'\\ud83c'",
        "'\\u{110000}'", "'\ud83c'", "a\\u0062", "ünder", "1 ** 2", "1 | 2",
        "1 & 2", "~1", "--1", "- -x", "typeof 1", "void 0", "1 in 2", "(1, 2)", "1 <!-- 2", "1 --> 2",
        "#!a", "1 === ", "(1", "1)", "!", "&& 1", "1 /* a", "'a' + 'b'", "1 + 'a'", "-'1'", "'1' == 1",
        "'1' < 2", "participants.user < 1", "participants.user === participants.user",
        "participants.a == participants.b", "participants.user == 1", "participants.toString",
        "participants.__proto__", "participants.constructor", "participants.user.name",
        "context", "context.x", "messages[-1]",
        "messages.x", "messages.filter(m => 1)", "1 ?? 2 || 3",
        "messages.some(function (m) {})", "messages.some((m, i) => 1)",
        "messages.some(m\n=> 1)", "messages.some((m) /*\n*/ => 1)", "messages.some(m => m.name)",
        "messages.some(m => context)",
        "messages.some(m => match_keys(messages, ['a']))",
        "messages.some(m => m.content.includes('a', 1))", "messages.some(m => m.content.includes(/a/))",
        "messages.some(context => 1)", "const messages = 1; 1", "const a = 1; const a = 2; a", "const a; 1",
        "let a = 1 a",
        "const a = 1\n(2)", "const a = /x/g; a.test('x')", "a + 1; const a = 1", "(() => { 1 })()", "() => 1",
        "messages.filter(m => 1) == 1", "messages.map(m => m.content)", "messages[messages.length - 0]",
        "new Date('2026-1-1') < new Date()", "new Date('July 1') < new Date()", "new Date(2026, 1, 30) < new Date()",
        "new Date(99, 1, 3) < new Date()", "new Date() + 1", "new Date() === new Date()", "[1, 'a'].some(w => w)",
        "'a'.split('')[0]", "messages.at(0.5)", "`a${1}`", "if (1) { 2 }",
        "messages.some(await => 1)", "messages.some(NaN => 1)",
        "messages.some(m => 1, 2)", "m.content", "new Date",
        "new Date()", "(new Date())", "new Date(0).getMonth()",
        "new Date().getMonth", "new Date.getMonth()", "new Date().getUTCDay()", "Math.random() < 1",
        "!new Date()", "match_keys", "match_keys()", "match_keys(messages)", "match_keys(messages, key)",
        "match_keys(messages, [,])", "match_keys(messages, ['a',,])", "match_keys(messages, [1])",
        "match_keys(messages, ['a' + 'b'])", "match_keys(messages, [...'a'])", "match_keys(context, ['a'])",
        "match_keys([], ['a'])", "match_keys(messages, ['a'], 'x')",
        "match_keys(messages, ['a'], 'any', '4')", "match_keys(messages, ['a'], 'any', 4, 5)",
        "match_keys(messages, ['a'],,)", "match_keys(messages, ['a'], 'any', 2 + 2)",
        "match_keys(messages, ['a'], 'any', --4)", "match_keys(messages, [/a/gg])",
        "match_keys(messages, ['a']).length", "match_keys (messages, ['a']) .x",
        "match_keys(messages, [/(a+)+/])", "/a/", "/a/.exec('a')", "/a/.test(1)",
        "/a/.test(participants.user)", "/a/.test()", "similar(messages)", "similar(messages, ['a'])",
        "similar(messages, 'a', '1')", "match_keys_any(messages, ['a'])", "return 1", "a => 1",
        "async () => 1", "import('a')", "(" * 50 + "1" + ")" * 50, "!" * 50 + "1", "1 +" * 200 + "1",
        "1 " + " " * MOST_BYTES,
    ],
)  # fmt: skip
def test_what_is_left_to_javascript(source: str) -> None:
    assert parse(source) is None


def test_nesting_is_taken_up_to_its_limit() -> None:
    inside = MOST_NESTED - 1
    assert value("(" * inside + "1" + ")" * inside) == 1
    assert parse("(" * (inside + 1) + "1" + ")" * (inside + 1)) is None


def test_a_long_row_of_conditions_is_simple() -> None:
    assert value("||".join(["0"] * 4000) + "|| 'end'") == "end"


@pytest.mark.parametrize("unknown", [True, 1.5, 3, ["Ann"], {"name": "Ann"}])
def test_what_javascript_would_convert_is_undecided(unknown: Any) -> None:
    node = parse("participants.user == 'Ann'")
    assert node is not None
    with pytest.raises(Undecided):
        node.value(scene(participants={"user": unknown}))
    assert value("participants.user === 'Ann'", scene(participants={"user": unknown})) is False
    assert value("!!participants.user", scene(participants={"user": unknown})) is True


@pytest.mark.parametrize(
    ("near", "expected", "notes"),
    [(0.5, True, 0), (0.4, True, 0), (0.39, False, 0), (None, False, 1)],
)
def test_similar_is_true_when_the_recent_messages_are_near(
    near: float | None, expected: bool, notes: int
) -> None:
    where = scene(near=near)
    assert value("similar(messages, 'a party')", where) is expected
    assert len(where.notes) == notes
    assert value("similar(context.messages, 'a party', 0.95)", where) is False


def test_similar_is_false_without_messages() -> None:
    assert value("similar(messages, 'a party')", scene(messages=(), near=1.0)) is False


@pytest.mark.parametrize(
    "source",
    [
        "(a+)+", "(a*)*", "(a|b)*", "(a|b){2}", "a+b+", "a*b*", "(?=a)", "(?!a)", "(?<=a)", "(?<n>a)",
        "\\1", "\\k<a>", "\\p{L}", "\\B", "\\cA", "\\0", "\\_", "[]", "[^]", "[b-a]", "[a-\\d]", "[\\S]",
        "[\\b]", "a**", "a{2}{3}", "*", "+a", "a{", "{", "}", "]", "(", ")", "[a", "\\", "^*", "\\b+",
        "a{3,2}", "a{51}", "a{51,}", "(a?){20}", "a?" * 20, "a{0,50}" * 3, "x" * 1001, "(" * 30 + ")" * 30,
        "\\u12", "\\xg",
    ],
)  # fmt: skip
def test_patterns_that_are_left_to_javascript(source: str) -> None:
    with pytest.raises(NotSimple):
        translate(source)


@pytest.mark.parametrize("flags", ["u", "y", "d", "v", "gg", "ii", "x"])
def test_flags_that_are_left_to_javascript(flags: str) -> None:
    with pytest.raises(NotSimple):
        translate("a", flags)


@pytest.mark.parametrize("source", ["É", "[é]", "[а-я]", "\\u00e9", "ß", "ﬀ", "Ω", "ⓐ", "ƛ", "ა"])
def test_letters_with_case_beyond_ascii_are_left_to_javascript_without_regard_to_case(source: str) -> None:
    assert translate(source)
    with pytest.raises(NotSimple):
        translate(source, "i")


def test_a_pattern_that_may_take_long_is_not_tried_on_a_long_text() -> None:
    long = scene((Message("user", "a" * 100_000),))
    for source in ("match_keys(messages, [/a.*b/])", "messages.some(m => /a.*b/.test(m.content))"):
        with pytest.raises(TooLong):
            value(source, long)
    long.begin()
    assert value("match_keys(messages, [/ab/])", long) == 0


def test_much_work_is_not_begun() -> None:
    long = scene((Message("user", "tea " * 500_000),))
    with pytest.raises(TooLong):
        value("match_keys(messages, [" + ",".join(f"'{number}'" for number in range(200)) + "])", long)


MUCH = {
    "many keys": "match_keys(messages, ["
    + ",".join(f"'{number}'" for number in range(2000))
    + "], 'any', 1e9)",
    "many depths": "||".join(
        f"match_keys_all(messages, ['a', 'no'], 'any', {number})" for number in range(250)
    ),
    "many patterns": "||".join(
        ["/a.*b.?z/i.test(conversation_id)", *["match_keys(messages, [/a.*z/i])"] * 400]
    ),
    "patterns in some": f"messages.some(m => {'||'.join(['/a.*b/i.test(m.content)'] * 500)})",
    "lower case in some": f"messages.some(m => {'||'.join(['m.content.toLowerCase().length < 0'] * 400)})",
    "lower case of lower case": f"messages.some(m => m.content{'.toLowerCase()' * 90}.length < 0)",
    "comparisons in some": f"messages.some(m => {'||'.join(['m.content < m.content'] * 600)})",
    "steps in some": f"messages.some(m => {'||'.join(['0'] * 4000)})",
    "texts in some": f"messages.some(m => '{'a' * 16000}'.toLowerCase().includes('b'))",
    "similar": "||".join(f"similar(messages, '{number}')" for number in range(500)),
    "sums": "||".join(["0%1-0*1/1"] * 1500),
    "nested": "(" * 39 + "0" + "||0)" * 39 + "||0" * 3000,
    "not closed": "match_keys(messages, [" + "/*" * 8000,
    "escapes": "'" + "\\x41" * 3900 + "'",
    "classes": "/" + "[" * 16000 + "/.test('a')",
}


@pytest.mark.parametrize("name", MUCH)
@pytest.mark.parametrize(
    "messages",
    [
        [("user", "ab🎂 " * 250_000)],
        [("user", "a" * 1_000_000)],
        [("user", "a")] * 20_000,
        [("user", "生日 🎂 ab " * 10)] * 2_000,
    ],
    ids=["long", "one word", "many", "many longer"],
)
def test_no_condition_takes_long(name: str, messages: list[tuple[str, str]]) -> None:
    where = scene(tuple(Message(role, content) for role, content in messages))
    for said in where.messages:
        assert said.searchable
        assert said.utf16
    began = time.process_time()
    node = parse(MUCH[name])
    try:
        if node is not None:
            node.value(where)
    except TooLong:
        pass
    assert time.process_time() - began < 1.0
