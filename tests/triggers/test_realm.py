"""One realm for all triggers: whatever one of them does, the next gives the value that it has alone."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.triggers import Failure, Outcome, Value
from memory_server.triggers.javascript import sandbox
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.triggers import hostile_more
from tests.triggers.hostile import HOSTILE

SECRET = "the ferry leaves at six"
ABOUT = Situation(
    (
        Message("user", "今天是我的生日！ My birthday."),
        Message("assistant", "Happy birthday! Tea and cake, 茶 and C++."),
        Message("user", "Shall we deploy on Friday? deploy42"),
    ),
    "talk-1",
    datetime(2026, 7, 17, 12, 30, tzinfo=UTC),
    7,
    {"user": "Ann", "guests": ["Bea", "Cem"]},
)

VICTIMS = [
    "match_keys(messages, ['birthday', '生日'], 'user') === 2",
    "match_keys_all(messages, ['tea', /CAKE/i, 'C++'])",
    "match_keys(messages, [/deploy\\d+/g], 'user')",
    "new Date().getMonth() === 6 && new Date().getDay() === 5 && Date.now() > 1.7e12",
    "messages.some(m => m.content.includes('Friday')) && messages.every(m => typeof m.role === 'string')",
    "messages.filter(m => m.role === 'user').map(m => m.content.toUpperCase()).join('|').split('DEPLOY').length === 3",
    'JSON.stringify(participants) === \'{"user":"Ann","guests":["Bea","Cem"]}\'',
    "const [first, ...rest] = messages; rest.length === 2 && first.content.replace(/[a-z]/g, '').length > 3",
    "Math.max(...messages.map(m => m.content.length)) === 41 && Math.random() < 1 && Math.floor(2.5) === 2",
    "[...new Map([['a', 1]]).entries()][0][1] === 1 && [...new Set('aab')].join('') === 'ab'",
    "Object.keys({ a: 1, b: 2 }).length === 2 && !('leaked' in {}) && Array.isArray([]) && `${[1, 2]}` === '1,2'",
    "(function* () { yield 1; yield 2 })().next().value === 1 && [3, 1, 2].toSorted()[0] === 1",
    "new Date().toLocaleDateString('en-US', { weekday: 'long' }) === 'Friday' && conversation_id === 'talk-1'",
    "'birthday'.match(/(?<head>birth)day/).groups.head === 'birth' && /x/y.sticky && 'aXbX'.replaceAll('X', '') === 'ab'",  # noqa: E501
    "typeof Symbol.iterator === 'symbol' && Symbol('a').toString() === 'Symbol(a)' && Promise.resolve(1) instanceof Promise",  # noqa: E501
    "new (class A { #x = 5; get x() { return this.#x } })().x === 5 && structure({ a: [1] }); function structure(x) { return x.a[0] }",  # noqa: E501
    "match_keys(messages, [])",
    "messages[0].nobody.at",
]

GLOBALS = """Array Object String RegExp Date Math JSON Symbol Promise Map Set WeakMap Number Boolean Function Error
    Reflect Proxy BigInt Iterator Uint8Array ArrayBuffer Intl match_keys match_keys_all similar eval""".split()
HIDDEN = """[][Symbol.iterator]() (function*(){})() (async()=>{}) (async function*(){})() new Map().entries()
    new Set().values() ''[Symbol.iterator]() /a/[Symbol.matchAll]('') [].values().map(String)
    Object.getPrototypeOf(Int8Array) Error.prototype""".split()


def pollution() -> list[str]:
    """Attempts to change each thing that triggers share, in several ways."""
    targets = [
        *GLOBALS,
        *(f"{name}.prototype" for name in GLOBALS[:18]),
        "globalThis",
        "context",
        "messages[0]",
        "participants",
    ]
    targets += [f"Object.getPrototypeOf({written})" for written in HIDDEN[:-2]] + HIDDEN[-2:]
    forms = [
        "for (const k of Reflect.ownKeys({0})) try {{ {0}[k] = () => 99 }} catch {{}}",
        "for (const k of Reflect.ownKeys({0})) try {{ delete {0}[k] }} catch {{}}",
        "for (const k of Reflect.ownKeys({0})) try {{ Object.defineProperty({0}, k, {{ get() {{ return 99 }} }}) }} catch {{}}",  # noqa: E501
        "try {{ Object.setPrototypeOf({0}, new Proxy({{}}, {{ get: () => 99 }})) }} catch {{}} {0}.leaked = messages",
        "new Function('x', 'x.leaked = 1; x[0] = 1; x.length = 0; x.then = 1')({0})",
        "for (let p = {0}; p; p = Object.getPrototypeOf(p)) try {{ p.constructor.constructor('this.leaked = 1')() }} catch {{}}",  # noqa: E501
        "for (const k of Reflect.ownKeys({0})) {{ const d = Object.getOwnPropertyDescriptor({0}, k);"
        " for (const f of [d.set, d.get]) try {{ f.call({0}, 99); f.call(f, 99) }} catch {{}} }}",
    ]  # fmt: skip
    return [form.format(target) for target in targets for form in forms]


OTHERS = [
    "var match_keys = 1, messages = 2; function Date() {} true",
    "(0, eval)('var messages = 1; let leaked = 2; function Date() {} const kept = 3'); true",
    "new Function('leaked = 1; messages = 1')()",
    "new Function('with (globalThis) { Date = 1; messages = 1 }')()",
    "/(birth)(day)/.exec('birthday'); /x/g.lastIndex = 5; match_keys(messages, [/(b)/g]); throw 1",
    "Math.random(); Math.random(); match_keys(messages, ['birthday', 'cake', 'x']); null.x",
    "queueMicrotask(() => { leaked = 1 }); Promise.reject(1); (async () => { await 1; leaked = 1 })(); 1",
    "const a = []; for (;;) a.push('x'.repeat(1e5))",
    "(function f() { f() })()",
    "match_keys([{ role: 'user', content: 'birthday '.repeat(4e5) }], ['x'])",
    "const kept = []; for (let i = 0; i < 2e5; i++) { const x = {}; x.x = x; kept.push(x) } queueMicrotask(() => kept); 1",  # noqa: E501
    "match_keys(messages, [new Proxy(/a/, {})]); match_keys(new Proxy(messages, { get() { throw 1 } }), ['a'])",
    "const s = new Intl.DateTimeFormat('en-US'); Object.getPrototypeOf(s).leaked = 1",
    "arguments[0] = 'true'; arguments.length = 0; this.leaked = 1",
    "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 1; throw new Error('a')",
    "for (const f of [match_keys, eval, Date]) f.call.call(Object.defineProperty, f, 'leaked', { value: 1 })",
    "try { messages.reverse() } catch {} try { messages.push(1) } catch {} participants.guests.length = 0",
]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setattr(sandbox, "SLICE", 0.03)
    monkeypatch.setattr(sandbox, "SECONDS", 0.03)
    engine = Sandbox()
    yield engine
    engine.close()


def value(outcome: Outcome) -> object:
    """What an outcome says, without its time."""
    match outcome:
        case Value(holds=holds, why=why):
            return holds, why
        case Failure(message=message):
            return message
    return "skipped"


def changed(engine: Sandbox, sources: list[str], pairs: int) -> list[tuple[str, str, object]]:
    """The pairs of a source and a victim behind it where the victim does not give what it gives alone."""
    chance = random.Random(11)
    alone = {victim: value(engine.run([victim], ABOUT, 10)[0]) for victim in VICTIMS}
    assert sum(isinstance(known, str) for known in alone.values()) == 1
    chosen = [(chance.choice(sources), chance.choice(VICTIMS)) for _ in range(pairs)]
    wrong = []
    for begin in range(0, pairs, 20):
        part = chosen[begin : begin + 20]
        outcomes = engine.run([source for pair in part for source in pair], ABOUT, 60)
        for (hostile, victim), outcome in zip(part, outcomes[1::2], strict=True):
            if value(outcome) != alone[victim]:
                wrong.append((hostile, victim, value(outcome)))
    return wrong


def test_no_attempt_to_change_what_is_shared_changes_another_trigger(engine: Sandbox) -> None:
    assert changed(engine, [*pollution(), *OTHERS], 400) == []


@pytest.mark.slow
def test_of_a_thousand_pairs_none_is_changed(engine: Sandbox) -> None:
    sources = [source for listed in HOSTILE.values() for source in listed]
    sources += [case.source for cases in hostile_more.HOSTILE.values() for case in cases]
    assert changed(engine, [*sources, *pollution(), *OTHERS], 1000) == []


WALK = """
const seen = new Set([globalThis]), todo = [globalThis], wrong = [];
while (todo.length) {
  const item = todo.pop();
  if (item !== globalThis && !Object.isFrozen(item)) wrong.push(String(item.name ?? item));
  for (const key of Reflect.ownKeys(item)) {
    const { value, get, set, writable, configurable } = Object.getOwnPropertyDescriptor(item, key);
    if (writable || configurable) wrong.push(String(key));
    for (const next of [value, get, set, item === globalThis && item[key], Object.getPrototypeOf(item)]) {
      if (typeof next === 'string' && next.includes(SECRET)) wrong.push('secret in ' + String(key));
      if ((typeof next === 'object' || typeof next === 'function') && next !== null && !seen.has(next)) {
        seen.add(next); todo.push(next);
      }
    }
  }
}
if (Object.isExtensible(globalThis)) wrong.push('globalThis');
throw JSON.stringify([seen.size, wrong.slice(0, 20)]);
"""


def walked(engine: Sandbox, about: Situation) -> tuple[int, list[str]]:
    """How many objects can be reached from the global one, and what of them is not as it should be."""
    (outcome,) = engine.run([f"const SECRET = {json.dumps(SECRET)};{WALK}"], about, 20)
    assert isinstance(outcome, Failure)
    size, wrong = json.loads(outcome.message.removeprefix("it throws "))
    return size, wrong


def test_all_that_can_be_reached_is_frozen() -> None:
    engine = Sandbox()
    size, wrong = walked(engine, ABOUT)
    assert size > 500
    assert wrong == []
    engine.run(["new Intl.DateTimeFormat('en-US').format()"], ABOUT, 5)
    assert walked(engine, ABOUT)[1] == []
    engine.close()


def test_nothing_of_one_person_is_there_for_the_next(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SLICE", 1.0)
    theirs = replace(
        ABOUT, messages=(Message("user", SECRET),), participants={"user": SECRET}, conversation_id=SECRET
    )
    assert walked(engine, theirs)[1] != []
    tries = [
        source.replace("99", "messages[0].content").replace("1", "messages[0].content") for source in OTHERS
    ]
    engine.run(
        [*tries, *pollution()[::3], f"match_keys(messages, ['{SECRET}', messages[0].content])"], theirs, 60
    )
    assert walked(engine, ABOUT)[1] == []


def test_a_trigger_that_others_left_no_memory_runs_again(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SLICE", 2.0)
    hoards = "const a = new Uint8Array(2 ** 24).fill(1); Promise.resolve().then(() => a); queueMicrotask(() => a); true"
    needs = "new Uint8Array(2 ** 24).length > 1"
    outcomes = engine.run([hoards, needs, hoards, hoards, needs], ABOUT, 10)
    assert [value(outcome) for outcome in outcomes] == [(True, "the condition is true")] * 5
