"""The engine: why a trigger is true, what it asks about meaning, and the warnings for its author."""

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.triggers import MOST_BYTES, Checked, Failure, Value
from memory_server.triggers.engine import NO_EMBEDDER, Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.triggers.conditions import Conditions
from tests.triggers.conditions import situation as any_situation

NOW = datetime(2026, 7, 17, 9, 5, 59, tzinfo=UTC)
"""A Friday."""


def situation(*messages: tuple[str, str]) -> Situation:
    said = tuple(Message(role, content) for role, content in messages)
    return Situation(said, "talk-1", NOW, 1, {"user": "Ann", "age": 7, "pet": {"name": "Rex"}})


TALK = situation(
    ("user", "My birthday is\nin May, and I would like a cake with many candles and a great deal of tea"),
    ("assistant", "生日快乐! Tea it is."),
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.close()


@pytest.fixture
def engine(sandbox: Sandbox) -> Engine:
    """Without an embedder."""
    return Engine(sandbox, lambda _said, _wanted: None)


@pytest.fixture
def near(sandbox: Sandbox) -> Engine:
    """Tea is near to what speaks of tea, all else is not."""
    return Engine(sandbox, lambda said, wanted: 0.9 if "tea" in said.lower() else 0.1)


def judged(engine: Engine, trigger: str, about: Situation = TALK) -> Value:
    [outcome] = engine.judge([trigger], about)
    assert isinstance(outcome, Value), outcome
    return outcome


@pytest.mark.parametrize(
    ("trigger", "why"),
    [
        ("match_keys(messages, ['birthday'])", "'birthday' in user message: My birthday is in May, and I would like…"),
        ("match_keys(messages, ['candles'])", "'candles' in user message: …cake with many candles and a great deal…"),
        ("match_keys(messages, [/生./, 'no'])", "/生./ in assistant message: 生日快乐! Tea it is."),
        ("match_keys(messages, ['tea', 'cake', 'may', 'birthday'])",
         "'tea' in user message: …great deal of tea; 'cake' in user message: "),
        ("match_keys_all(messages, ['cake', '生日'])", "all found: 'cake', '生日'"),
        ("!match_keys(messages, ['party', 'a', 'b', 'c'], 'system')", "not found: 'party', 'a', 'b' and 1 more"),
        ("!match_keys_all(messages, ['cake', 'party'])", "not found: 'party'"),
        ("new Date().getMonth() === 6 && new Date().getDate() === 17", "the month is July; the day is 17"),
        ("new Date().getDay() === 5", "it is Friday"),
        ("new Date().getHours() < 12 && new Date().getMinutes() < 30", "the time is 09:05"),
        ("new Date().getFullYear() >= 2026", "the year is 2026"),
        ("match_keys(messages, ['party']) || new Date().getMonth() === 6", "the month is July"),
        ("messages.length === 2", "messages.length === 2: true"),
        ("conversation_id === 'talk-1'", "conversation_id === 'talk-1': true"),
        ("participants.user === 'Ann' && participants.age === 8 || participants.pet",
         "participants.user === 'Ann': true; participants.pet: an object"),
        ("messages.some(m => m.content.includes('快乐'))",
         "the assistant message meets the condition: 生日快乐! Tea it is."),
        ("messages.at(-1).content", 'messages.at(-1).content: "生日快乐! Tea it is."'),
        ("const last = messages.at(-1); last.role === 'user' || last.content.includes('Tea')",
         "last.content.includes('Tea'): true"),
        ("(() => { if (new Date().getDay() === 5) return 'Fri'; return ''; })()", "it is Friday"),
        ("similar(messages, 'a party')", "a message is similar to 'a party' (0.90)"),
        ("true", "the condition is true"),
    ],
)  # fmt: skip
def test_why_a_condition_holds(near: Engine, trigger: str, why: str) -> None:
    outcome = judged(near, trigger)
    assert outcome.holds
    assert outcome.why.startswith(why) if why.endswith(": ") else outcome.why == why


@pytest.mark.parametrize(
    ("trigger", "kept"),
    [
        ("match_keys(messages, ['birthday', /tea/i])",
         "'birthday' in user message; /tea/i in user message; /tea/i in assistant message"),
        ("messages.some(m => m.content.includes('快乐'))", "the assistant message meets the condition"),
        ("messages.at(-1).content", "messages.at(-1).content"),
    ],
)  # fmt: skip
def test_nothing_that_was_said_is_kept(engine: Engine, trigger: str, kept: str) -> None:
    assert judged(engine, trigger).kept == kept


def test_a_message_with_marks_of_its_own_is_not_kept(engine: Engine) -> None:
    about = situation(("user", "\x03 the birthday \x02 of a stranger"))
    assert judged(engine, "match_keys(messages, ['birthday'])", about).kept == "'birthday' in user message"


def test_a_reason_is_short_whatever_is_said(engine: Engine) -> None:
    about = situation(*(("user", f"tea {'x' * 5000}") for _ in range(50)))
    trigger = " && ".join(
        f"match_keys(messages, ['tea', '{number}', 'TEA'], 'any', 50)" for number in range(100)
    )
    assert judged(engine, trigger, about).holds
    assert len(judged(engine, trigger, about).why) < 600
    assert len(judged(engine, f"conversation_id !== '{'x' * 3000}'", about).why) < 200


def test_a_condition_that_does_not_hold_says_so(engine: Engine) -> None:
    outcome = judged(engine, "match_keys(messages, ['party'])")
    assert (outcome.holds, outcome.why) == (False, "not found: 'party'")
    alone, among = engine.judge(["false", "match_keys(messages, ['party'])"], TALK)
    assert isinstance(alone, Value)
    assert isinstance(among, Value)
    assert alone.why == among.why == "the condition is false"


def test_the_outcomes_are_in_order(engine: Engine) -> None:
    outcomes = engine.judge(
        ["match_keys(messages, ['birthday'])", "let x; x.y", "false", "similar(messages, 'a')"], TALK
    )
    assert [getattr(outcome, "holds", "failed") for outcome in outcomes] == [True, "failed", False, False]


# ---------------------------------------------------------------- meaning


@pytest.mark.parametrize(
    ("trigger", "holds"),
    [
        ("similar(messages, 'a cup of tea')", True),
        ("similar(context.messages, 'a cup of tea', 0.95)", False),
        ("messages.some(m => m.role === 'assistant' && similar([m], 'a cup of tea'))", True),
        ("const a = [similar(messages, 'x'), similar(messages, 'y'.repeat(3))]; a.every(Boolean)", True),
        ("similar(messages.filter(m => m.role === 'system'), 'tea')", False),
        ("similar([{ role: 'user', content: 'green tea ' + 'x'.repeat(2000) }], 'tea')", True),
        ("similar([{ role: 'user', content: 'coffee' }], 'x')", False),
        ("try { similar(messages, 'tea') && null.x } catch { true }", True),
        ("['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].every(w => similar(messages, w))", True),
    ],
)
def test_meaning_is_compared_wherever_a_condition_asks_for_it(
    near: Engine, trigger: str, holds: bool
) -> None:
    assert judged(near, trigger).holds is holds


def test_similar_without_an_embedder_is_false_and_says_so(engine: Engine) -> None:
    outcome = judged(engine, "similar(messages, 'a party') || messages.length > 1")
    assert (outcome.holds, outcome.why) == (True, f"messages.length > 1: true; {NO_EMBEDDER}")
    assert engine.check("similar(messages, 'a party')").warnings == (NO_EMBEDDER,)


def test_similar_is_false_without_messages(near: Engine) -> None:
    assert not judged(near, "similar(messages, 'a party')", situation()).holds


def test_one_that_asks_without_end_fails_alone(near: Engine) -> None:
    endless = "let n = 0; while (n < 200 && similar(messages, 'x' + n) | 1) n++; true"
    outcomes = near.judge([endless, "similar(messages, 'tea')"], TALK)
    assert isinstance(outcomes[0], Failure)
    assert "too many texts" in outcomes[0].message
    assert isinstance(outcomes[1], Value)
    assert outcomes[1].holds


def test_the_similarity_of_a_trigger_is_that_of_its_first_text(near: Engine) -> None:
    assert near.similarity("match_keys(messages, ['x']) && similar(messages, 'tea')", TALK) == 0.9
    assert near.similarity("match_keys(messages, ['x'])", TALK) is None


@pytest.mark.parametrize(
    "trigger", ["similar(messages)", "similar(messages, ['a'])", "similar(messages, 'a', '1')"]
)
def test_similar_is_told_how_it_is_called(engine: Engine, trigger: str) -> None:
    with pytest.raises(TriggerRejected, match="similar must be a"):
        engine.check(trigger)


# ---------------------------------------------------------------- the check

NEVER = "It is never true, whatever the messages say."
APART = (
    "Two parts joined by && are never true together. A range over midnight or a choice needs ||: "
    "hours > 22 || hours < 6."
)


@pytest.mark.parametrize(
    ("trigger", "warnings"),
    [
        ("match_keys(messages, ['birthday'], 'any')", []),
        ("match_keys(messages, ['a']) || (new Date().getMonth() === 11 && new Date().getDate() === 31)", []),
        ("new Date().getMonth() + 1 === 12 && new Date().getDate() >= 24 && new Date().getDate() < 27", []),
        ("messages.length > 3 && !match_keys(messages, ['a'], 'user') && conversation_id !== 'x'", []),
        ("new Date().getHours() >= 22 || new Date().getHours() < 6", []),
        ("match_keys(messages, ['a', 'b'], 'any', 2) >= 4", []),
        ("messages.slice(-1)[0].role === 'user'", []),
        ("const last = messages[messages.length - 1]; !!last && last.content.includes('tea')", []),
        ("messages.some(m => /(\\d+)\\s*€/.test(m.content))", []),
        ("true", ["It is always true."]),
        ("0", [NEVER]),
        ("!match_keys(messages, ['a']) || true", ["It is always true."]),
        ("match_keys(messages, ['a']) >= 0", ["It is always true."]),
        ("match_keys(messages, ['a']) > 4", [NEVER]),
        ("match_keys(messages, [])", [NEVER]),
        ("match_keys(messages, ['', 'a'])", ["A key is empty, so it is never found."]),
        ("match_keys_all(messages, ['', 'a'])", ["A key is empty, so it is never found.", NEVER]),
        ("match_keys(messages, ['a']) && new Date().getMonth() === 12",
         ["getMonth() === 12 is never true: getMonth() counts from 0 (January) to 11 (December)."]),
        ("match_keys(messages, ['a']) || new Date().getDate() === 32",
         ["getDate() === 32 is never true: getDate() counts from 1 to 31."]),
        ("new Date().getDay() === 7 || match_keys(messages, ['a'])",
         ["getDay() === 7 is never true: getDay() counts from 0 (Sunday) to 6 (Saturday)."]),
        ("24 <= new Date().getHours() || match_keys(messages, ['a'])",
         ["getHours() >= 24 is never true: getHours() counts from 0 to 23."]),
        ("new Date().getMonth() === 3 && new Date().getMonth() === 5", [APART]),
        ("new Date().getHours() > 22 && new Date().getHours() < 6", [APART]),
        ("(new Date().getHours() > 8 && 9 > new Date().getHours()) || match_keys(messages, ['a'])", [APART]),
        ("conversation_id === 'a' && conversation_id === 'b'", [APART]),
        ("match_keys(messages, ['a']) && 1 === 2", [NEVER]),
        ("messages.some(m => m.content.toLowerCase().includes('Tea'))",
         ["A string in lower case never contains 'Tea'. Write 'tea'."]),
        ("similar(messages, 'a', 85)", ["similar never reaches 85: its maximum is 1.", NO_EMBEDDER]),
    ],
)  # fmt: skip
def test_the_author_is_told_what_always_or_never_holds(
    engine: Engine, trigger: str, warnings: list[str]
) -> None:
    assert list(engine.check(trigger).warnings) == warnings


@settings(max_examples=5, derandomize=True, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=True))
def test_what_is_said_to_hold_always_or_never_does_and_reasons_are_short(
    engine: Engine, random: Random
) -> None:
    about = any_situation(random)
    conditions = Conditions(random, about.messages)
    for trigger in [conditions.source() for _ in range(12)]:
        try:
            warned = engine.check(trigger).warnings
        except TriggerRejected:  # such as a place that is taken for true or false
            continue
        [outcome] = engine.judge([trigger], replace(about, seed=2))
        if not isinstance(outcome, Value):
            continue
        assert "It is always true." not in warned or outcome.holds, trigger
        assert not any(warning.startswith("It is never true") for warning in warned) or not outcome.holds, (
            trigger
        )
        assert 0 < len(outcome.why) < 600, trigger


def test_a_condition_is_tried_on_the_sample(engine: Engine) -> None:
    assert engine.check("match_keys(messages, ['birthday'])") == Checked(True, ())
    assert engine.check("match_keys(messages, ['zebra'])") == Checked(False, ())


@pytest.mark.parametrize("trigger", ["", " \n", "x" * (MOST_BYTES + 1), "生" * (MOST_BYTES // 3 + 1)])
def test_what_is_no_trigger_is_rejected(engine: Engine, trigger: str) -> None:
    with pytest.raises(TriggerRejected):
        engine.check(trigger)


def test_the_longest_trigger_is_checked(engine: Engine) -> None:
    keys = ", ".join(f"'key number {number}'" for number in range(2000))
    trigger = f"match_keys(messages, [{keys}"[: MOST_BYTES - 10].rsplit(",", 1)[0] + "])"
    assert not engine.check(trigger + " " * (MOST_BYTES - len(trigger))).dry_run


def test_without_the_engine_a_trigger_is_kept_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(Sandbox(), lambda _said, _wanted: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    unchecked = "It was not checked and cannot wake here: the package quickjs-ng is not installed."
    assert engine.check("match_keys(messages, ['tea'])") == Checked(False, (unchecked,))
    with pytest.raises(TriggerRejected, match="a list of messages"):
        engine.check("messages.includes('tea')")
