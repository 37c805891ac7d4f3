"""Hints for the author of a refused trigger, through the real engine."""

from collections.abc import Iterator

import pytest

from memory_server.errors import TriggerRejected
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine(Sandbox(), lambda said, wanted: None)
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("trigger", "hint"),
    [
        ("(messages) => messages.length > 3", "Write only the part after `=>`"),
        (
            "const late = 23; return late > 3",
            "Remove `return`: the trigger's value is that of its last expression.",
        ),
        ("match_keys(messages, ['a']) and true", "&& for and"),
        ("match_key(messages, ['a'])", "Did you mean `match_keys`?"),
        ("matchKeysAll(messages, ['a'])", "Did you mean `match_keys_all`?"),
        ("message.length > 3", "Did you mean `messages`?"),
        ("date.getDay() === 5", "new Date()"),
        ("nobody()", "There are: match_keys, "),
        ("when the user mentions birthdays", "a condition in JavaScript"),
        ("match_keys(messages, [“birthday”])", "straight quotes"),
        ("while (true) {}", "half a second"),
        ('{"match_keys": ["tea"]}', "not JSON: match_keys(messages, ['tea'], 'user')"),
        ("similar('sad')", "similar(messages, 'I am lost', 0.4)"),
    ],
)
def test_a_refusal_tells_what_may_have_been_meant(engine: Engine, trigger: str, hint: str) -> None:
    with pytest.raises(TriggerRejected) as refused:
        engine.check(trigger)
    assert hint in str(refused.value)


def test_a_syntax_error_without_a_guess_has_no_hint(engine: Engine) -> None:
    with pytest.raises(TriggerRejected) as refused:
        engine.check("match_keys(messages, ['a'")
    assert str(refused.value).endswith("input.")


@pytest.mark.parametrize(
    ("trigger", "warning"),
    [
        ("new Date().getDay() === 'Friday'", "getDay() === 5"),
        ("conversation_id !== 3", "is a text, never a number"),
        (
            "function wakes(messages) { return true }",
            "Its last statement returns no value, which counts as false. If it defines a function, call it.",
        ),
    ],
)
def test_what_can_only_be_a_mistake_is_warned_of(engine: Engine, trigger: str, warning: str) -> None:
    assert any(warning in each for each in engine.check(trigger).warnings), engine.check(trigger).warnings
