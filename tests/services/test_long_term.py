"""Long-term memories: what wakes and in which order, what becomes of triggers that fail."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory_server.call.tally import tallied
from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermChange, LongTermDraft, LongTermId, Order
from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, TriggerRejected
from memory_server.services.long_term import NO_TIME, Awakening, LongTermService
from memory_server.sqlite.database import Database
from memory_server.triggers import Checked, Failure, FailureKind, Outcome, Skipped, Value
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Clock, file_of

CLAUDE = Caller("Claude", "s1")
TOKEN = "ghp_" + "a1B2" * 9
LATE = Failure(FailureKind.TIMEOUT, "it takes too long", 1000.0)


@dataclass
class Scripted:
    """An engine whose outcomes the test says, by trigger; all others hold."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)
    situations: list[Situation] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)

    def check(self, trigger: str) -> Checked:
        return Checked(True, ())

    def judge(self, triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
        self.asked.append(list(triggers))
        self.doubtful.append(doubtful)
        self.situations.append(situation)
        return [self.outcomes.get(trigger, Value(True, f"{trigger} holds", 0.1)) for trigger in triggers]

    def similarity(self, trigger: str, situation: Situation) -> float | None:
        return None

    def parts(self, trigger: str) -> list[tuple[str, str]]:
        return [(trigger, trigger)]

    def close(self) -> None: ...


@pytest.fixture
def engine() -> Scripted:
    return Scripted()


@pytest.fixture
def long_term(database: Database, engine: Scripted) -> LongTermService:
    return LongTermService(database, engine, random.Random(3).random, zone=UTC)


@pytest.fixture
def real(database: Database) -> Iterator[LongTermService]:
    """With the two tiers and no embedder."""
    engine = Engine(Sandbox(), lambda one, other: None)
    yield LongTermService(database, engine, random.Random(3).random, zone=UTC)
    engine.close()


def add(service: LongTermService, name: str, trigger: str = "", conversation: str = "default") -> Checked:
    draft = LongTermDraft(name, f"prompt of {name}", trigger or name, None)
    return service.add(draft, conversation, CLAUDE)


def search(
    service: LongTermService, *said: str, conversation: str = "default", **participants: Any
) -> Awakening:
    return service.search(
        [Message("user", content) for content in said], conversation, participants, caller=Caller()
    )


def names(found: Sequence[Any]) -> list[str]:
    return [each.name for each in found]


def state(service: LongTermService, name: str) -> Mapping[str, Any]:
    memory = service.context(name, "default", caller=Caller())[0]
    return {"error": memory.error, "failures": memory.failures, "until": memory.quarantined_until}


def test_a_memory_is_read_as_it_was_added(long_term: LongTermService, clock: Clock) -> None:
    long_term.add(LongTermDraft("Mum", "She likes orchids.", "true", "We spoke of her."), "对话", CLAUDE)
    memory = long_term.context("Mum", "对话", caller=Caller())[0]
    assert (memory.prompt, memory.trigger, memory.created_context) == (
        "She likes orchids.",
        "true",
        "We spoke of her.",
    )
    assert (memory.updated_at, memory.fired_at, memory.fired_count, memory.error) == (None, None, 0, None)


def test_a_name_is_taken_within_its_conversation_only(long_term: LongTermService) -> None:
    add(long_term, "Mum", conversation="one")
    add(long_term, "Mum", conversation="two")
    with pytest.raises(
        Conflict, match=r"`one` has a long-term memory `Mum` already\. Nothing was kept\.$"
    ) as error:
        add(long_term, "Mum", "another", conversation="one")
    assert error.value.problem.hints == (Hint(Mend.UPDATE_LONG_TERM),)
    assert long_term.context("Mum", "one", caller=Caller())[0].trigger == "Mum"


def test_a_memory_that_is_not_there_is_named_beside_those_that_are(long_term: LongTermService) -> None:
    add(long_term, "Mum")
    for act in (
        lambda: long_term.context("Dad", "default", caller=Caller())[0],
        lambda: long_term.delete("Dad", "default", False, CLAUDE),
        lambda: long_term.update("Dad", LongTermChange(prompt="x"), "default", caller=Caller()),
    ):
        with pytest.raises(NotFound, match=r"`Dad`.*Mum") as error:
            act()
        assert error.value.problem.hints == (Hint(Mend.LIST_LONG_TERM, {"conversation": "default"}),)
    with pytest.raises(NotFound, match="It has none"):
        long_term.context("Mum", "elsewhere", caller=Caller())[0]


def test_an_update_changes_what_it_gives_and_nothing_else(long_term: LongTermService, clock: Clock) -> None:
    add(long_term, "Mum")
    before = long_term.context("Mum", "default", caller=Caller())[0]
    clock.advance(seconds=5)
    assert (
        long_term.update("Mum", LongTermChange(updated_context="today"), "default", caller=Caller()) is None
    )
    after = long_term.context("Mum", "default", caller=Caller())[0]
    assert after == replace(before, updated_context="today", updated_at=after.updated_at)
    assert after.updated_at is not None
    assert after.updated_at > after.created_at
    checked = long_term.update("Mum", LongTermChange("new prompt", "new trigger"), "default", caller=Caller())
    assert checked == Checked(True, ())
    assert long_term.context("Mum", "default", caller=Caller())[0].prompt == "new prompt"
    with pytest.raises(Invalid, match=r"^Nothing to change\.$") as error:
        long_term.update("Mum", LongTermChange(), "default", caller=Caller())
    assert error.value.problem.hints == (Hint(Mend.NAME_LONG_TERM_FIELDS),)


def test_a_rejected_trigger_changes_nothing(real: LongTermService) -> None:
    with pytest.raises(TriggerRejected):
        add(real, "broken", "match_keys(messages, [")
    assert real.select("default", caller=Caller()).memories == []
    add(real, "whole", "true")
    with pytest.raises(TriggerRejected):
        real.update("whole", LongTermChange("new", "nobody()"), "default", caller=Caller())
    assert real.context("whole", "default", caller=Caller())[0].prompt == "prompt of whole"


@pytest.mark.parametrize("part", ["name", "prompt", "trigger", "created_context"])
def test_a_credential_is_refused_wherever_it_stands(long_term: LongTermService, part: str) -> None:
    parts = {"name": "n", "prompt": "p", "trigger": "true", "created_context": "c"} | {part: f"it is {TOKEN}"}
    draft = LongTermDraft(parts["name"], parts["prompt"], parts["trigger"], parts["created_context"])
    with pytest.raises(Invalid, match="GitHub token"):
        long_term.add(draft, "default", CLAUDE)
    assert long_term.select("default", caller=Caller()).memories == []
    replace(long_term, allow_secrets=True).add(draft, "default", CLAUDE)


def test_conversations_do_not_wake_each_other(long_term: LongTermService) -> None:
    add(long_term, "here", conversation="one")
    add(long_term, "there", conversation="two")
    assert names(search(long_term, conversation="one").activated) == ["here"]
    assert search(long_term, conversation="three") == Awakening([], [], [], [], [("two", 1), ("one", 1)], ())


def test_all_that_hold_wake_the_one_that_woke_last_at_the_end(
    long_term: LongTermService, engine: Scripted, clock: Clock
) -> None:
    for name in "abc":
        add(long_term, name)
    no = Value(False, "", 0.1)
    for woken in ("b", "a"):
        engine.outcomes = {name: no for name in "abc" if name != woken}
        search(long_term)
        clock.advance(minutes=1)
    engine.outcomes = {}
    found = search(long_term)
    assert names(found.activated) == ["c", "b", "a"]
    assert [each.why for each in found.activated] == ["c holds", "b holds", "a holds"]
    assert found.random == []
    assert [long_term.context(name, "default", caller=Caller())[0].fired_count for name in "abc"] == [2, 2, 1]


def test_two_others_come_along_by_chance(long_term: LongTermService, engine: Scripted) -> None:
    for number in range(6):
        add(long_term, f"m{number}")
    engine.outcomes = {f"m{number}": Value(False, "", 0.1) for number in range(1, 6)}
    seen = set()
    for _ in range(60):
        found = search(long_term)
        others = names(found.random)
        assert len(set(others)) == 2
        assert "m0" not in others
        seen.update(others)
    assert seen == {"m1", "m2", "m3", "m4", "m5"}


@pytest.mark.parametrize("never", [False, True])
def test_what_there_was_no_time_for_goes_first_next_time(
    long_term: LongTermService, engine: Scripted, clock: Clock, never: bool
) -> None:
    for name in "abcd":
        add(long_term, name)
    if never:  # by the server: they are from an older file, or a person changed them
        with file_of(long_term.database).write() as tx:
            tx.execute("UPDATE long_term_memories SET judged_at = NULL")
    engine.outcomes = {"b": Skipped(), "d": Skipped()}
    clock.advance(seconds=1)
    assert search(long_term).skipped == [("b", NO_TIME), ("d", NO_TIME)]
    engine.outcomes = {"d": Skipped()}
    clock.advance(seconds=1)
    search(long_term)
    assert engine.asked[-1] == ["b", "d", "a", "c"]
    clock.advance(seconds=1)
    search(long_term)
    assert engine.asked[-1] == ["d", "a", "b", "c"]


def test_what_was_slow_or_failed_is_evaluated_last_until_it_is_quick_again(
    long_term: LongTermService, engine: Scripted, clock: Clock
) -> None:
    for name in "abcde":
        add(long_term, name)
    engine.outcomes = {"a": LATE, "b": Skipped(late=True), "c": Value(False, "", 60.0)}
    search(long_term)
    assert (engine.asked[-1], engine.doubtful[-1]) == (list("abcde"), 0)
    engine.outcomes = {}
    clock.advance(seconds=1)
    search(long_term)
    assert (sorted(engine.asked[-1][:2]), sorted(engine.asked[-1][2:])) == (["d", "e"], ["a", "b", "c"])
    assert engine.doubtful[-1] == 3
    search(long_term)
    assert engine.doubtful[-1] == 0


@pytest.mark.parametrize("kind", [FailureKind.TIMEOUT, FailureKind.MEMORY])
def test_three_failures_in_a_row_put_a_trigger_in_quarantine(
    long_term: LongTermService, engine: Scripted, clock: Clock, kind: FailureKind
) -> None:
    add(long_term, "good")
    add(long_term, "bad")
    engine.outcomes["bad"] = replace(LATE, kind=kind)
    for failures in (1, 2, 3):
        assert search(long_term).errors == [("bad", LATE.message)]
        assert state(long_term, "bad")["failures"] == failures
    found = search(long_term)
    assert engine.asked[-1] == ["good"]
    assert found.errors == []
    ((name, reason),) = found.skipped
    assert name == "bad"
    assert "quarantine until" in reason
    assert LATE.message in reason
    for hours in (1, 2, 4, 8, 16, 24, 24):
        clock.advance(hours=hours, seconds=-1)
        search(long_term)
        assert engine.asked[-1] == ["good"], hours
        clock.advance(seconds=1)
        search(long_term)
        assert set(engine.asked[-1]) == {"good", "bad"}, hours


def test_failures_of_searches_at_once_are_all_counted(
    long_term: LongTermService, engine: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search begins while the one before it is under way; a quarantine is not moved on by those within."""
    add(long_term, "bad")
    engine.outcomes["bad"] = LATE
    judge = engine.judge

    def at_once(triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
        outcomes = judge(triggers, situation, doubtful)
        if len(engine.asked) < 5:
            search(long_term)
        return outcomes

    monkeypatch.setattr(engine, "judge", at_once)
    search(long_term)
    assert len(engine.asked) == 5
    assert state(long_term, "bad")["failures"] == 3
    assert state(long_term, "bad")["until"] == "2026-03-14T10:26:53.589Z"


def test_a_value_or_a_new_trigger_ends_a_row_of_failures(
    long_term: LongTermService, engine: Scripted
) -> None:
    add(long_term, "bad")
    clean = {"error": None, "failures": 0, "until": None}
    engine.outcomes["bad"] = LATE
    search(long_term)
    search(long_term)
    engine.outcomes["bad"] = Value(False, "", 0.1)
    search(long_term)
    assert state(long_term, "bad") == clean
    engine.outcomes["bad"] = LATE
    for _ in range(3):
        search(long_term)
    assert state(long_term, "bad")["until"] is not None
    long_term.update("bad", LongTermChange(prompt="only the prompt"), "default", caller=Caller())
    assert state(long_term, "bad")["until"] is not None
    long_term.update("bad", LongTermChange(trigger="bad"), "default", caller=Caller())
    assert state(long_term, "bad") == clean


def test_triggers_are_counted_as_late_by_what_happened_whatever_they_say(
    long_term: LongTermService, engine: Scripted
) -> None:
    for name in ("late", "skipped", "says so", "holds"):
        add(long_term, name)
    engine.outcomes = {
        "late": LATE,
        "skipped": Skipped(),
        "says so": Failure(FailureKind.ERROR, "Error: it takes too long", 1.0),
    }
    for _ in range(3):
        with tallied() as tally:
            search(long_term, "hello")
        assert tally.timed_out == 2
    with tallied() as tally:
        assert any("quarantine" in reason for _, reason in search(long_term, "hello").skipped)
    assert tally.timed_out == 1


def test_plain_errors_are_reported_kept_and_never_lead_to_quarantine(
    long_term: LongTermService, engine: Scripted
) -> None:
    add(long_term, "good")
    add(long_term, "typo")
    engine.outcomes["typo"] = Failure(FailureKind.ERROR, "x is not defined", 1.0)
    for _ in range(5):
        found = search(long_term)
        assert found.errors == [("typo", "x is not defined")]
        assert names(found.activated) == ["good"]
    assert state(long_term, "typo") == {"error": "x is not defined", "failures": 0, "until": None}
    listed = long_term.select("default", caller=Caller()).memories
    assert names(listed) == ["typo", "good"]


def test_a_missing_worker_is_told_once_and_blamed_on_no_trigger(
    long_term: LongTermService, engine: Scripted
) -> None:
    for name in ("script", "another"):
        add(long_term, name)
        engine.outcomes[name] = Failure(FailureKind.UNAVAILABLE, "no worker", 0.0)
    for _ in range(4):
        result = search(long_term)
        assert (result.errors, result.skipped) == ([], [])
        assert [problem.text for problem in result.degraded] == ["No long-term memory can wake: no worker"]
    assert state(long_term, "script") == {"error": None, "failures": 0, "until": None}


def test_a_read_only_start_wakes_and_counts_nothing(long_term: LongTermService, engine: Scripted) -> None:
    add(long_term, "a")
    add(long_term, "late")
    engine.outcomes["late"] = LATE
    found = search(replace(long_term, count_access=False))
    assert names(found.activated) == ["a"]
    assert long_term.context("a", "default", caller=Caller())[0].fired_count == 0
    assert state(long_term, "late")["failures"] == 0


def test_what_a_trigger_sees_is_local_and_its_chance_another_each_time(
    long_term: LongTermService, engine: Scripted, clock: Clock
) -> None:
    add(long_term, "a")
    shanghai = timezone(timedelta(hours=8))
    service = replace(long_term, zone=shanghai)
    service.search([Message("user", "hi")], "default", {"user": "Ann"}, caller=Caller())
    service.search([Message("user", "hi")], "default", {}, caller=Caller())
    first, second = engine.situations
    assert first.now == clock()
    assert first.now.utcoffset() == timedelta(hours=8)
    assert (first.conversation_id, first.participants) == ("default", {"user": "Ann"})
    assert first.seed != second.seed


def test_a_moment_to_try_out_is_local_unless_it_has_a_zone(real: LongTermService) -> None:
    tokyo = replace(real, zone=timezone(timedelta(hours=9)))
    birthday = "new Date().getMonth() === 6 && new Date().getDate() === 17"
    for at, holds in (
        (datetime(2026, 7, 17), True),
        (datetime(2026, 7, 16, 15, tzinfo=UTC), True),
        (datetime(2026, 7, 16, 14, 59, tzinfo=UTC), False),
        (datetime(2026, 7, 18), False),
    ):
        _, outcome = tokyo.try_out(birthday, [], at)
        assert isinstance(outcome, Value)
        assert outcome.holds is holds, at


def test_a_trigger_that_is_tried_out_leaves_nothing(real: LongTermService) -> None:
    _, outcome = real.try_out("match_keys(messages, ['tea'])", [Message("user", "No tea")], None)
    assert isinstance(outcome, Value)
    assert outcome.holds
    assert "tea" in outcome.why
    assert real.select("default", caller=Caller()).memories == []


ORIGINALS = {
    "match_keys(context.messages, ['birthday', '生日'], 'any')": ["birthday"],
    "match_keys(context.messages, ['anniversary'], 'any') || "
    "(new Date().getMonth() === 2 && new Date().getDate() === 14)": ["anniversary", "on the day"],
    "match_keys_all(context.messages, ['project', 'deadline'], 'user')": ["project"],
    "match_keys(context.messages, [/deadlines?/i, 'C++'], 'user', 6) >= 2": ["project"],
    "context.messages.some(m => m.content.includes('生日'))": ["birthday"],
    "context.participants.user === 'Ann'": ["participant"],
}
"""Triggers as they stand in the files of the original server, and the situations in which they hold."""

SITUATIONS: dict[str, tuple[list[str], dict[str, Any], datetime]] = {
    "birthday": (["下周是我的生日 birthday"], {}, datetime(2026, 5, 1, tzinfo=UTC)),
    "anniversary": (["It is our anniversary"], {}, datetime(2026, 5, 1, tzinfo=UTC)),
    "on the day": (["nothing"], {}, datetime(2026, 3, 14, tzinfo=UTC)),
    "project": (["The project in C++ has a deadline"], {}, datetime(2026, 5, 1, tzinfo=UTC)),
    "participant": (["hello"], {"user": "Ann"}, datetime(2026, 5, 1, tzinfo=UTC)),
    "nothing": (["hello"], {}, datetime(2026, 5, 1, tzinfo=UTC)),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_triggers_of_the_original_server_run_unchanged(
    database: Database, clock: Clock, real: LongTermService, situation: str
) -> None:
    for number, trigger in enumerate(ORIGINALS):
        add(real, str(number), trigger)
    said, participants, moment = SITUATIONS[situation]
    clock.now = moment
    found = real.search(
        [Message("user", content) for content in said], "default", participants, caller=Caller()
    )
    expected = [str(number) for number, holds in enumerate(ORIGINALS.values()) if situation in holds]
    assert sorted(names(found.activated)) == expected
    assert (found.errors, found.skipped) == ([], [])


def test_each_wake_is_kept_with_its_client_and_its_reason_but_nothing_of_what_was_said(
    real: LongTermService,
) -> None:
    add(real, "tea", "match_keys(messages, ['tea'])")
    add(real, "script", "messages.reduce((n, m) => n + match_keys([m], ['tea']), 0) > 0")
    said = [Message("user", "green tea for the zebra")]
    for client in ("Claude", "Cursor"):
        found = real.search(said, "default", {}, Caller(client, "s1"))
        assert {"zebra" in (woken.why or "") for woken in found.activated if woken.name == "tea"} == {True}
    tea, script = (real.context(name, "default", caller=Caller())[1] for name in ("tea", "script"))
    assert [(wake.client, wake.why) for wake in tea] == [
        ("Cursor", "'tea' in user message"), ("Claude", "'tea' in user message"),
    ]  # fmt: skip
    assert [wake.why for wake in script] == ["'tea' in user message"] * 2


def test_the_table_of_wakes_does_not_grow_beyond_its_limit(
    long_term: LongTermService, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.storage.tables.wakes.MOST", 5)
    for number in range(4):
        add(long_term, f"always {number}")
    for _ in range(3):
        search(long_term)
    with database.read() as tx:
        kept = [wake for id in range(1, 5) for wake in tx.wakes.select(LongTermId(id), 10)]
    assert len(kept) == 5


def test_a_memory_that_cools_down_rests_in_its_session_alone(
    long_term: LongTermService, clock: Clock
) -> None:
    long_term.add(LongTermDraft("spaced", "p", "true", None, cooldown=30), "default", CLAUDE)
    other = Caller("Claude", "s2")

    def woken(caller: Caller) -> list[str]:
        found = long_term.search([], "default", {}, caller)
        assert found.random == []
        return [each.name for each in found.activated]

    assert [woken(CLAUDE), woken(CLAUDE), woken(other)] == [["spaced"], [], ["spaced"]]
    clock.advance(seconds=29 * 60)
    assert woken(CLAUDE) == []
    clock.advance(seconds=60)
    assert woken(CLAUDE) == ["spaced"]
    long_term.update("spaced", LongTermChange(cooldown=0), "default", caller=Caller())
    assert woken(CLAUDE) == ["spaced"]


def test_what_is_in_no_conversation_is_woken_in_each(long_term: LongTermService) -> None:
    add(long_term, "everywhere", conversation="default")
    add(long_term, "here", conversation="talk")
    assert {each.name for each in long_term.search([], "talk", {}, CLAUDE).activated} == {
        "everywhere",
        "here",
    }
    assert {each.name for each in long_term.search([], "other", {}, CLAUDE).activated} == {"everywhere"}


def test_a_list_is_sorted_and_has_pages(long_term: LongTermService, clock: Clock) -> None:
    for name in ("b", "c", "a"):
        add(long_term, name, f"{name} only")
        clock.advance(seconds=1)

    def listed(order: Order, offset: int = 0) -> list[str]:
        return [each.name for each in long_term.select("default", CLAUDE, order, offset).memories]

    assert listed(Order.NAME) == ["a", "b", "c"]
    assert listed(Order.NEW) == ["a", "c", "b"]
    assert listed(Order.NAME, 2) == ["c"]
    assert long_term.select("default", CLAUDE, Order.NAME, 1).more == 0
    assert listed(Order.WOKEN, 3) == []


def test_examples_tell_their_score_and_a_threshold(database: Database) -> None:
    scores = {"lost": 0.7, "no way out": 0.5, "good morning": 0.2}
    engine = Engine(Sandbox(), lambda said, wanted: scores[said])
    service = LongTermService(database, engine, random.Random(3).random, zone=UTC)
    trigger = "similar(messages, 'I am lost', 0.6)"
    examples, threshold = service.try_examples(trigger, ["lost", "no way out"], ["good morning"], None)
    assert [(each.text, each.value, each.score) for each in examples] == [
        ("lost", True, 0.7), ("no way out", False, 0.5), ("good morning", False, 0.2),
    ]  # fmt: skip
    assert threshold == 0.35
    assert service.try_examples("match_keys(messages, ['lost'])", ["lost"], [], None)[1] is None
