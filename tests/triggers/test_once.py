"""Triggers in a process that answers once: any JavaScript, no meanings, and no worker afterwards."""

import pytest

from memory_server.triggers import Failure, Skipped, Value, once
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.triggers.test_engine import TALK


def test_each_condition_has_its_outcome_in_its_place() -> None:
    absent, present, meaning, script, broken = once.judge(
        [
            "match_keys(messages, ['party'])",
            "match_keys(messages, ['cake'])",
            "similar(messages, 'cake')",
            "messages.map(m => m.content).sort().length > 1",
            "null.x",
        ],
        TALK,
    )
    assert [outcome.holds for outcome in (absent, present, meaning, script) if isinstance(outcome, Value)] == [
        False, True, False, True,
    ]  # fmt: skip
    assert isinstance(present, Value)
    assert present.kept == "'cake' in user message"
    assert isinstance(broken, Failure)


def test_the_worker_ends_with_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Sandbox] = []
    monkeypatch.setattr(Sandbox, "close", lambda self: closed.append(self))
    once.judge(["true"], TALK)
    assert len(closed) == 1
    monkeypatch.undo()
    closed[0].close()


def test_without_time_all_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "SECONDS", 0.0)
    assert once.judge(["true", "false"], TALK) == [Skipped(), Skipped()]


def test_no_conditions_have_no_outcomes() -> None:
    assert once.judge([], TALK) == []
