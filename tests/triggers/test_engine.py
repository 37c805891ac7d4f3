"""The two tiers of the engine: what is evaluated where, why a condition is true, and the warnings for its author."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.triggers import MOST_BYTES, Checked, Failure, FailureKind, Outcome, Skipped, Value, engine
from memory_server.triggers.engine import BUDGET, TwoTierEngine
from tests.triggers.conditions import Conditions
from tests.triggers.conditions import situation as any_situation

NOW = datetime(2026, 7, 17, 9, 5, 59, tzinfo=UTC)
"""A Friday."""


@dataclass
class FakeSandbox:
    """JavaScript that always gives the same; remembers what it was asked."""

    outcome: Outcome = field(default_factory=lambda: Value(True, "the condition is true", 1, 1.0))
    ran: list[tuple[list[str], float, int]] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    closed: bool = False

    def check(self, source: str) -> tuple[bool, tuple[str, ...]]:
        self.checked.append(source)
        if "((" in source:
            raise TriggerRejected("1:2: a syntax error.")
        return True, ("A warning.",)

    def run(
        self, sources: Sequence[str], situation: Situation, budget: float, doubtful: int
    ) -> list[Outcome]:
        self.ran.append((list(sources), budget, doubtful))
        return [self.outcome for _ in sources]

    def explain(self, sources: Sequence[tuple[int, str]], situation: Situation, budget: float) -> list[str]:
        return ["" for _ in sources]

    def close(self) -> None:
        self.closed = True


def situation(*messages: tuple[str, str]) -> Situation:
    said = tuple(Message(role, content) for role, content in messages)
    return Situation(said, "talk-1", NOW, 1, {"user": "Ann", "age": 7, "pet": {"name": "Rex"}})


TALK = situation(
    ("user", "My birthday is\nin May, and I would like a cake with many candles and a great deal of tea"),
    ("assistant", "生日快乐! Tea it is."),
)


def two_tiers(near: float | None = None, sandbox: FakeSandbox | None = None) -> TwoTierEngine:
    return TwoTierEngine(sandbox or FakeSandbox(), lambda _recent, _wanted: near)


def judged(trigger: str, about: Situation = TALK, near: float | None = None) -> tuple[bool, str]:
    """Whether a simple trigger is true, and why."""
    [outcome] = two_tiers(near).judge([trigger], about)
    assert isinstance(outcome, Value)
    assert outcome.tier == 0
    assert outcome.milliseconds >= 0
    return outcome.holds, outcome.why


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
        ("messages.length === 2", "messages: 2"),
        ("conversation_id === 'talk-1'", "the conversation is 'talk-1'"),
        ("participants.user === 'Ann' && participants.age === 7", "user is 'Ann'; age is 7"),
        ("participants.pet && !participants.cat", "pet is given; cat is not given"),
        ("messages.some(m => m.content.includes('快乐'))",
         "the assistant message meets the condition: 生日快乐! Tea it is."),
        ("!messages.some(m => m.role === 'system')", "no message meets the condition"),
        ("similar(messages, 'a party')", "a message is similar to 'a party' (0.90)"),
        ("true", "the condition is true"),
    ],
)  # fmt: skip
def test_why_a_condition_holds(trigger: str, why: str) -> None:
    holds, reason = judged(trigger, near=0.9)
    assert holds
    assert reason.startswith(why) if why.endswith(": ") else reason == why


def test_a_reason_is_short_whatever_is_said() -> None:
    about = situation(*(("user", f"tea {'x' * 5000}") for _ in range(50)))
    trigger = " && ".join(
        f"match_keys(messages, ['tea', '{number}', 'TEA'], 'any', 50)" for number in range(100)
    )
    holds, why = judged(trigger, about)
    assert holds
    assert len(why) < 500
    assert len(judged(f"conversation_id !== '{'x' * 3000}'", about)[1]) < 200


def test_a_condition_that_does_not_hold_says_so() -> None:
    assert judged("match_keys(messages, ['party'])") == (False, "not found: 'party'")
    alone, among = two_tiers(None).judge(["false", "match_keys(messages, ['party'])"], TALK)
    assert isinstance(alone, Value)
    assert isinstance(among, Value)
    assert alone.why == among.why == "the condition is false"


def test_similar_without_an_embedder_is_false_and_says_so() -> None:
    trigger = "similar(messages, 'a party') || similar(messages, 'a wedding')"
    assert judged(trigger) == (
        False, "the condition is false; similar() is false because there is no embedder",
    )  # fmt: skip
    assert judged(f"{trigger} || messages.length", near=None)[1].startswith("messages: 2; similar() is false")


def test_only_what_is_not_simple_goes_to_javascript_within_the_budget() -> None:
    sandbox = FakeSandbox()
    outcomes = two_tiers(sandbox=sandbox).judge(
        ["let a", "true", "let b", "participants.age == '7'", "false"], TALK
    )
    assert [getattr(outcome, "tier", None) for outcome in outcomes] == [1, 0, 1, 1, 0]
    assert sandbox.ran == [(["let a", "let b", "participants.age == '7'"], BUDGET, 0)]


def test_the_worker_hears_how_many_of_its_own_are_doubtful() -> None:
    sandbox = FakeSandbox()
    two_tiers(sandbox=sandbox).judge(["let a", "true", "let b", "false", "let c"], TALK, 3)
    assert sandbox.ran == [(["let a", "let b", "let c"], BUDGET, 2)]


def test_no_javascript_starts_for_simple_triggers() -> None:
    sandbox = FakeSandbox()
    two_tiers(sandbox=sandbox).judge(["true", "match_keys(messages, ['a'])"], TALK)
    assert sandbox.ran == []


def test_simple_conditions_are_judged_when_javascript_is_not_to_be_had() -> None:
    missing = Failure(FailureKind.UNAVAILABLE, "no worker", 1, 0.0)
    outcomes = two_tiers(sandbox=FakeSandbox(missing)).judge(["let a", "true"], TALK)
    assert outcomes[0] == missing
    assert isinstance(outcomes[1], Value)


def test_a_long_conversation_goes_to_javascript_where_a_pattern_might_take_long() -> None:
    sandbox = FakeSandbox()
    about = situation(("user", "a" * 100_000))
    assert two_tiers(sandbox=sandbox).judge(["match_keys(messages, [/a.*b/])"], about) == [sandbox.outcome]


def test_simple_conditions_are_skipped_when_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SIMPLE_BUDGET", -1.0)
    assert two_tiers().judge(["true", "let a"], TALK) == [Skipped(), Skipped()]


def test_a_thousand_common_triggers_take_less_than_50_milliseconds() -> None:
    triggers = [
        trigger
        for number in range(200)
        for trigger in (
            f"match_keys(context.messages, ['word{number}', '生日'], 'any')",
            f"match_keys(messages, ['a{number}']) || new Date().getMonth() === {number % 12}",
            f"match_keys_all(context.messages, ['birthday', 'b{number}'], 'user')",
            f"match_keys(context.messages, [/tea{number}s?/i, 'C++'], 'user', 6) >= 2",
            f"context.participants.user === 'Ben{number}'",
        )
    ]  # fmt: skip
    judge = two_tiers()
    about = situation(*TALK_OF_FOUR)
    judge.judge(triggers, about)
    taken = []
    for _ in range(5):
        began = time.process_time()
        outcomes = judge.judge(triggers, about)
        taken.append(time.process_time() - began)
    assert {getattr(outcome, "tier", None) for outcome in outcomes} == {0}
    assert min(taken) < 0.05


TALK_OF_FOUR = [(role, "My birthday 生日 is in May; " * 25) for role in ("user", "assistant") * 2]


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
        ("true", ["It is always true."]),
        ("0", [NEVER]),
        ("!match_keys(messages, ['a']) || true", ["It is always true."]),
        ("match_keys(messages, ['a']) >= 0",
         ["It is always true.", "match_keys(...) >= 0 is always true."]),
        ("match_keys(messages, ['a']) > 4",
         [NEVER, "match_keys(...) > 4 is never true: it returns 0 to 4 (1 keys, depth 4)."]),
        ("match_keys(messages, [])",
         [NEVER, "match_keys has no keys, so it finds nothing."]),
        ("match_keys(messages, ['', 'a'])", ["match_keys has an empty key, which is never found."]),
        ("match_keys_all(messages, ['', 'a'])",
         [NEVER, "match_keys_all has an empty key, which is never found."]),
        ("match_keys(messages, ['a']) && new Date().getMonth() === 12",
         [NEVER,
          "getMonth() === 12 is never true: getMonth() counts from 0 (January) to 11 (December)."]),
        ("match_keys(messages, ['a']) || new Date().getDate() === 32",
         ["getDate() === 32 is never true: getDate() counts from 1 to 31."]),
        ("new Date().getDay() === 7 || match_keys(messages, ['a'])",
         ["getDay() === 7 is never true: getDay() counts from 0 (Sunday) to 6 (Saturday)."]),
        ("24 <= new Date().getHours() || match_keys(messages, ['a'])",
         ["getHours() is never true: getHours() counts from 0 to 23."]),
        ("new Date().getMonth() === 3 && new Date().getMonth() === 5", [NEVER, APART]),
        ("new Date().getHours() > 22 && new Date().getHours() < 6", [NEVER, APART]),
        ("new Date().getHours() > 8 && 9 > new Date().getHours()", [NEVER, APART]),
        ("conversation_id === 'a' && conversation_id === 'b'", [NEVER, APART]),
        ("match_keys(messages, ['a']) && 1 === 2",
         [NEVER, "A comparison (===) is never true, whatever the messages say."]),
        ("messages.some(m => m.content.toLowerCase().includes('Tea'))",
         [NEVER, "A string in lower case never contains 'Tea'."]),
        ("similar(messages, 'a', 85)",
         [NEVER, "similar never reaches 85: its maximum is 1.",
          "similar() is false because there is no embedder"]),
        ("similar(messages, 'a')", ["similar() is false because there is no embedder"]),
    ],
)  # fmt: skip
def test_the_author_is_told_what_always_or_never_holds(trigger: str, warnings: list[str]) -> None:
    checked = two_tiers().check(trigger)
    assert checked.tier == 0
    assert list(checked.warnings) == warnings


@settings(max_examples=60, deadline=None, derandomize=True)
@given(random=st.randoms(use_true_random=True))
def test_what_is_said_to_hold_always_or_never_does_and_reasons_are_short(random: Random) -> None:
    about = any_situation(random)
    conditions = Conditions(random, about.messages)
    for trigger in [conditions.source() for _ in range(40)]:
        [outcome] = two_tiers().judge([trigger], about)
        if not isinstance(outcome, Value) or outcome.tier == 1:
            continue
        try:
            warned = two_tiers().check(trigger).warnings
        except TriggerRejected:  # such as a place that is taken for true or false
            continue
        assert "It is always true." not in warned or outcome.holds, trigger
        assert not any(warning.startswith("It is never true") for warning in warned) or not outcome.holds, (
            trigger
        )
        assert 0 < len(outcome.why) < 500, trigger


def test_a_simple_condition_is_tried_on_the_sample() -> None:
    assert two_tiers().check("match_keys(messages, ['birthday'])") == Checked(0, True, ())
    assert two_tiers().check("match_keys(messages, ['zebra'])") == Checked(0, False, ())


def test_javascript_is_checked_by_its_worker() -> None:
    sandbox = FakeSandbox()
    assert two_tiers(sandbox=sandbox).check("let a = [1]; a[0]") == Checked(1, True, ("A warning.",))
    with pytest.raises(TriggerRejected, match="1:2: a syntax error"):
        two_tiers(sandbox=sandbox).check("((")
    assert sandbox.checked == ["let a = [1]; a[0]", "(("]


@pytest.mark.parametrize(
    "trigger",
    [
        "let a = [similar(messages, 'a')]; a",
        "similar(messages, 'a' + 'b')",
        "messages.some(m => similar(messages, 'a'))",
    ],
)
def test_similar_is_refused_outside_simple_conditions(trigger: str) -> None:
    with pytest.raises(TriggerRejected, match="works only in simple conditions"):
        two_tiers().check(trigger)


@pytest.mark.parametrize(
    "trigger",
    [
        "let a = ['similar(']; a", "let a = 1; // similar(messages)", "x.similar(1)", "dissimilar(1)",
        "function similar(a) { return 1 } 1",
    ],
)  # fmt: skip
def test_the_word_similar_is_no_call(trigger: str) -> None:
    assert two_tiers().check(trigger).tier == 1


@pytest.mark.parametrize("trigger", ["", " \n", "x" * (MOST_BYTES + 1), "生" * (MOST_BYTES // 3 + 1)])
def test_what_is_no_trigger_is_rejected(trigger: str) -> None:
    with pytest.raises(TriggerRejected):
        two_tiers().check(trigger)


def test_the_longest_trigger_is_checked() -> None:
    keys = ", ".join(f"'key number {number}'" for number in range(2000))
    trigger = f"match_keys(messages, [{keys}"[: MOST_BYTES - 10].rsplit(",", 1)[0] + "])"
    assert two_tiers().check(trigger).tier == 0
    assert two_tiers().check(trigger + " " * (MOST_BYTES - len(trigger))).tier == 0


def test_closing_ends_the_worker() -> None:
    sandbox = FakeSandbox()
    two_tiers(sandbox=sandbox).close()
    assert sandbox.closed
