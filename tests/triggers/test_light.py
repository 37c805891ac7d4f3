"""Simple conditions in a process without JavaScript: the same values, or none."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.language.keys import Said
from memory_server.triggers import Failure, FailureKind, Skipped, Value, light
from memory_server.triggers.simple.judging import judged
from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.shapes import is_surely_false
from tests.triggers.conditions import Conditions
from tests.triggers.conditions import situation as any_situation
from tests.triggers.test_engine import situation

ASKED = situation(("user", "Is the RELEASE of C++11 on 生日? It's the net-work's turn"))

FALSE = [
    "match_keys(messages, ['birthday'])",
    "match_keys(context.messages, ['birthday', \"cake\"], 'user', 6) >= 2",
    "match_keys_all(messages, ['release', 'cake'])",
    "match_keys(messages, ['cake'], 'any') > 0 && new Date().getMonth() === 4",
    "match_keys(messages, ['cake']) || match_keys(messages, ['派对']);",
    "match_keys(messages, ['releases', 'nets', 'birth day'])",
]
NOT_TOLD = [
    "match_keys(messages, ['release'])",
    "match_keys(messages, ['the RELEASE of'])",
    "match_keys(messages, ['cake']) || true",
    "match_keys(messages, ['cake']) === 0",
    "match_keys(messages, ['cake']) < 1",
    "match_keys(messages, ['cake']) >= 0",
    "!match_keys(messages, ['cake'])",
    "(match_keys(messages, ['cake']) || true) && true",
    "match_keys(messages, ['cake']) ? false : true",
    "match_keys(messages, ['cake']) ?? true",
    "match_keys(messages, ['cake'])\ntrue",
    "match_keys(messages, ['cake']) && false; true",
    "match_keys(messages, ['cake', '生日'])",
    "match_keys(messages, ['c++'])",
    'match_keys(messages, ["it’s"])',
    "match_keys(messages, ['rele\\u0061se'])",
    "match_keys(messages, [/RELEASE/])",
    "match_keys(messages.filter(m => m.role === 'user'), ['cake'])",
    "true",
    "",
]


@pytest.mark.parametrize("source", FALSE)
def test_the_shape_of_an_ordinary_condition_shows_that_it_is_false(source: str) -> None:
    said = [Said(message.role, message.content) for message in ASKED.messages]
    assert is_surely_false(source, said)
    assert judged(source, Scene(ASKED, lambda _one, _other: None), False) is not None


@pytest.mark.parametrize("source", NOT_TOLD)
def test_what_may_be_true_is_evaluated(source: str) -> None:
    assert not is_surely_false(source, [Said(each.role, each.content) for each in ASKED.messages])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(random=st.randoms(use_true_random=True))
def test_no_condition_that_holds_has_the_shape_of_a_false_one(random: Random) -> None:
    about = any_situation(random)
    said = [Said(each.role, each.content) for each in about.messages]
    conditions = Conditions(random, about.messages)

    def call() -> str:
        keys = ", ".join(conditions.quoted(conditions.key()) for _ in range(random.randrange(1, 3)))
        return f"match_keys{random.choice(['', '_all'])}(messages, [{keys}]{random.choice(['', ', 6'])})"

    for _ in range(40):
        parts = [random.choice([call, call, conditions.source])() for _ in range(random.randrange(1, 4))]
        trigger = parts[0] + "".join(f" {random.choice(['&&', '||'])} {part}" for part in parts[1:])
        outcome = judged(trigger, Scene(about, lambda _one, _other: None), False)
        if isinstance(outcome, Value) and outcome.holds:
            assert not is_surely_false(trigger, said), trigger


def test_each_condition_has_its_outcome_in_its_place() -> None:
    first, second, third, last = light.judge(
        [
            "match_keys(messages, ['cake'])",
            "match_keys(messages, ['release'])",
            "similar(messages, 'release')",
            "messages.map(m => m.content).sort().length > 0",
        ],
        ASKED,
    )
    assert first == Value(False, "the condition is false", 0, 0.0)
    assert isinstance(second, Value)
    assert (second.holds, second.kept) == (True, "'release' in user message")
    assert isinstance(third, Value)
    assert not third.holds
    assert isinstance(last, Failure)
    assert last.kind is FailureKind.UNAVAILABLE


@pytest.mark.parametrize("budget", ["LOOK", "EVALUATE"])
def test_without_time_the_others_are_skipped(monkeypatch: pytest.MonkeyPatch, budget: str) -> None:
    monkeypatch.setattr(light, budget, -1.0)
    assert light.judge(["true", "false"], ASKED) == [Skipped(), Skipped()]


def test_no_conditions_have_no_outcomes() -> None:
    assert light.judge([], ASKED) == []
