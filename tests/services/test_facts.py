"""Facts over time: expiry, versions, scopes, undo and the past, on a real database with a fixed clock."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.fact import Action, Fact, FactChange, FactDraft, Scope
from memory_server.domain.forgetting import Forgotten
from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, Unavailable
from memory_server.project import Project
from memory_server.services.facts import AT_ONCE, FactService, FactsFound
from memory_server.sqlite.database import Database
from tests.conftest import Clock, file_of, two_days_later

SHOP = Project("/srv/shop", "shop")
CLAUDE, CURSOR = Caller("Claude", "s1", SHOP), Caller("Cursor", "s2", SHOP)
ELSEWHERE = Caller("Cursor", "s2", Project("/srv/blog", "blog"))
"""Another assistant, in another project and session, on the same file."""

KEY = "cache.limit"
PEM = "-----BEGIN RSA PRIVATE KEY-----"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def facts(database: Database) -> FactService:
    return FactService(database)


def write(
    facts: FactService,
    value: Any,
    key: str = KEY,
    scope: Scope = Scope.PROJECT,
    caller: Caller = CLAUDE,
    **wanted: Any,
) -> Fact:
    return facts.write(FactDraft(key, value, **wanted), scope, caller).fact


def value(facts: FactService, key: str = KEY, scope: Scope | None = None) -> Any:
    fact = facts.read(key, scope, (), CLAUDE)
    return fact.value if fact else "no value"


def keys(
    facts: FactService, pattern: str = "*", tags: tuple[str, ...] = (), caller: Caller = CLAUDE
) -> list[str]:
    return [fact.key for fact in facts.select(pattern, None, tags, 500, caller).facts]


def changes(facts: FactService, scope: Scope | None = None, limit: int = 10) -> list[FactChange]:
    return facts.history(KEY, scope, limit, CLAUDE).changes


# Scopes


def test_without_a_scope_session_comes_before_project_shared_and_global(facts: FactService) -> None:
    order = [Scope.SESSION, Scope.PROJECT, Scope.SHARED, Scope.GLOBAL]
    for scope in order:
        write(facts, scope.value, scope=scope)
    for scope in order:
        assert value(facts) == scope.value
        assert value(facts, scope=Scope.GLOBAL) == "global"
        gone, forgotten = facts.delete(KEY, None, CLAUDE)
        assert gone is not None
        assert forgotten.number == 1
        assert gone.home.scope is scope
    assert value(facts) == "no value"


def test_project_and_session_facts_are_seen_where_they_belong_only(facts: FactService) -> None:
    for scope in Scope:
        write(facts, 1, f"k.{scope}", scope)
    assert keys(facts, caller=ELSEWHERE) == ["k.global", "k.shared"]
    assert keys(facts, caller=replace(CLAUDE, session="s3")) == ["k.global", "k.project", "k.shared"]
    assert facts.delete("k.project", None, ELSEWHERE) == (None, Forgotten(0, None))
    assert facts.read("k.project", None, (), CLAUDE) is not None


def test_the_same_key_lives_once_in_each_scope_project_and_session(facts: FactService) -> None:
    for scope in Scope:
        assert write(facts, 1, scope=scope).version == 1
    assert write(facts, 1, caller=ELSEWHERE).version == 1
    assert write(facts, 1, scope=Scope.SESSION, caller=ELSEWHERE).version == 1
    assert write(facts, 2, scope=Scope.SHARED, caller=ELSEWHERE).version == 2


def test_a_write_behind_a_narrower_value_says_so(facts: FactService) -> None:
    write(facts, "narrow", scope=Scope.SESSION)
    assert facts.write(FactDraft(KEY, "wide"), Scope.PROJECT, CLAUDE).hidden_by is Scope.SESSION
    assert facts.write(FactDraft(KEY, "narrow"), Scope.SESSION, CLAUDE).hidden_by is None


# Versions


def test_a_write_makes_the_next_version_and_keeps_who_created_it(facts: FactService, clock: Clock) -> None:
    first = write(facts, "75000")
    clock.advance(hours=1)
    second = facts.write(FactDraft(KEY, 75000), Scope.PROJECT, CURSOR)
    assert not second.created
    assert second.fact == replace(
        first, value=75000, version=2, updated_at=timestamp(clock.now), updated_by="Cursor"
    )


def test_a_write_replaces_tags_and_ttl_too(facts: FactService) -> None:
    write(facts, 1, tags=("a",), ttl=60)
    fact = write(facts, 2)
    assert (fact.tags, fact.expires_at) == ((), None)


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_version_that_is_not_the_current_one_is_a_conflict_that_shows_the_value(
    facts: FactService, expected: int
) -> None:
    write(facts, 1)
    write(facts, {"limit": "十"})
    with pytest.raises(Conflict) as refused:
        write(facts, 3, expected_version=expected)
    assert str(refused.value) == (
        f"`{KEY}` is at version 2, not {expected}. Nothing was written. "
        'It has the value {"limit": "十"}, written by Claude at 2026-03-14T09:26:53.589Z.'
    )
    assert refused.value.problem.hints == (Hint(Mend.WRITE_AT_VERSION, {"version": 2}),)
    assert value(facts) == {"limit": "十"}
    assert write(facts, 3, expected_version=2).version == 3


def test_version_0_asks_for_a_key_without_a_value(facts: FactService, clock: Clock) -> None:
    assert write(facts, 1, expected_version=0).version == 1
    with pytest.raises(Conflict):
        write(facts, 2, expected_version=0)
    facts.delete(KEY, None, CLAUDE)
    assert write(facts, 3, expected_version=0, ttl=5).version == 3
    clock.advance(seconds=5)
    assert write(facts, 4, expected_version=0).version == 5


def test_a_version_that_was_deleted_or_expired_meanwhile_is_a_conflict(
    facts: FactService, clock: Clock
) -> None:
    write(facts, 1)
    facts.delete(KEY, None, CLAUDE)
    with pytest.raises(Conflict, match=r"version 0, not 1. Nothing was written. It has no value"):
        write(facts, 2, expected_version=1)
    write(facts, 2, ttl=1)
    clock.advance(seconds=1)
    with pytest.raises(Conflict, match="It has no value"):
        write(facts, 3, expected_version=3)
    assert value(facts) == "no value"


def test_two_assistants_that_read_the_same_version_do_not_overwrite_each_other(facts: FactService) -> None:
    write(facts, ["a"], scope=Scope.SHARED)
    facts.write(FactDraft(KEY, ["a", "b"], expected_version=1), Scope.SHARED, CLAUDE)
    with pytest.raises(Conflict, match=r'\["a", "b"\], written by Claude'):
        facts.write(FactDraft(KEY, ["a", "c"], expected_version=1), Scope.SHARED, CURSOR)


def test_a_long_current_value_is_shortened_in_the_conflict(facts: FactService) -> None:
    write(facts, "x" * 10_000)
    with pytest.raises(Conflict) as refused:
        write(facts, 1, expected_version=7)
    assert len(str(refused.value)) < 700


# Expiry


@pytest.fixture
def expired(facts: FactService, clock: Clock) -> FactService:
    """A fact that has just expired, not removed yet, beside one that has not."""
    write(facts, "stale", ttl=60, tags=("t",))
    write(facts, "fresh", "other", ttl=61)
    clock.advance(seconds=60)
    return facts


READS: dict[str, Callable[[FactService], Any]] = {
    "read": lambda facts: value(facts),
    "read in its scope": lambda facts: value(facts, scope=Scope.PROJECT),
    "pattern": lambda facts: facts.read_matching("cache*", None, (), 10, CLAUDE),
    "list": lambda facts: keys(facts, "cache*"),
    "tags": lambda facts: keys(facts, tags=("t",)),
    "delete": lambda facts: facts.delete(KEY, None, CLAUDE)[0],
}


@pytest.mark.parametrize("how", READS)
def test_an_expired_fact_is_gone_at_once(expired: FactService, how: str) -> None:
    assert READS[how](expired) in ("no value", FactsFound([], 0, ()), [], None)


def test_a_fact_lives_until_the_millisecond_of_its_ttl(facts: FactService, clock: Clock) -> None:
    write(facts, 1, ttl=60)
    clock.advance(seconds=59.999)
    assert value(facts) == 1
    clock.advance(milliseconds=1)
    assert value(facts) == "no value"


def test_the_count_beyond_the_limit_knows_no_expired_facts(expired: FactService) -> None:
    found = expired.select("*", None, (), 1, CLAUDE)
    assert ([fact.key for fact in found.facts], found.more) == (["other"], 0)


def test_an_expired_narrow_value_uncovers_the_wide_one(facts: FactService, clock: Clock) -> None:
    write(facts, "wide", scope=Scope.GLOBAL)
    write(facts, "narrow", scope=Scope.SESSION, ttl=1)
    assert value(facts) == "narrow"
    clock.advance(seconds=1)
    assert value(facts) == "wide"


def test_the_background_work_removes_what_expired_and_says_when_it_did(
    expired: FactService, clock: Clock
) -> None:
    over = timestamp(clock.now)
    two_days_later(expired.database, clock)
    expired.remove_expired()
    with file_of(expired.database).read() as tx:
        assert tx.value("SELECT count(*) FROM facts") == 0
        assert tx.value("SELECT count(*) FROM fact_words") == 0
    last = changes(expired)[0]
    assert (last.action, last.changed_at, last.changed_by, last.value) == (
        Action.EXPIRED,
        over,
        None,
        None,
    )


def test_a_removal_leaves_the_rest_for_the_next_one(facts: FactService, clock: Clock) -> None:
    with facts.database.write() as tx:
        for number in range(AT_ONCE + 1):
            facts.write_in(tx, FactDraft(f"k{number}", 1, ttl=1), Scope.GLOBAL, CLAUDE)
    two_days_later(facts.database, clock)
    for left in (1, 0, 0):
        facts.remove_expired()
        with file_of(facts.database).read() as tx:
            assert tx.value("SELECT count(*) FROM facts") == left


def test_a_clock_that_jumps_back_loses_and_revives_nothing_that_was_removed(
    facts: FactService, clock: Clock
) -> None:
    write(facts, "short", ttl=60)
    write(facts, "kept", "other")
    two_days_later(facts.database, clock)
    facts.remove_expired()
    clock.advance(days=-400)
    assert value(facts) == "no value"
    assert value(facts, "other") == "kept"
    fact = write(facts, "again", "other", ttl=1)
    assert fact.version == 2
    assert value(facts, "other") == "again"
    clock.advance(seconds=1)
    assert value(facts, "other") == "no value"
    assert [each.version for each in facts.history("other", None, 10, CLAUDE).changes] == [2, 1]


# Reading


def test_reading_counts_an_access_and_leaves_the_version_and_the_moment_of_the_write(
    facts: FactService, clock: Clock
) -> None:
    written = write(facts, 1)
    clock.advance(hours=1)
    facts.read(KEY, None, (), CLAUDE)
    facts.read_matching("cache*", None, (), 10, CLAUDE)
    fact = facts.read(KEY, None, (), CLAUDE)
    assert fact == replace(written, access_count=2, accessed_at=timestamp(clock.now))


def test_listing_and_missing_count_no_access(facts: FactService) -> None:
    write(facts, 1, tags=("a",))
    facts.select("*", None, (), 10, CLAUDE)
    assert facts.read(KEY, None, ("b",), CLAUDE) is None
    assert facts.read(KEY, Scope.GLOBAL, (), CLAUDE) is None
    fact = facts.read(KEY, None, ("A",), CLAUDE)
    assert fact is not None
    assert fact.access_count == 0


def test_a_read_answers_though_the_file_cannot_be_written_and_is_counted_later(
    facts: FactService, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(facts, 1)

    def locked(self: Database, *patience: float) -> Any:
        raise Unavailable("Another process has kept it locked")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "write", locked)
        assert [value(facts), value(facts)] == [1, 1]
    fact = facts.read(KEY, None, (), CLAUDE)
    assert fact is not None
    assert fact.access_count == 2


def test_a_file_that_is_read_only_is_read_and_nothing_is_removed_from_it(
    facts: FactService, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(facts, 1)
    write(facts, 2, "stale", ttl=1)
    two_days_later(facts.database, clock)
    monkeypatch.setattr(Database, "read_only", True)
    facts.remove_expired()
    assert value(facts) == 1
    with file_of(facts.database).read() as tx:
        assert tx.rows("SELECT count(*), sum(access_count) FROM facts") == [(2, 0)]


def test_a_server_that_only_reads_counts_nothing(facts: FactService) -> None:
    write(facts, 1)
    reader = replace(facts, count_access=False)
    for _ in range(2):
        fact = reader.read(KEY, None, (), CLAUDE)
        assert fact is not None
        assert fact.access_count == 0


@pytest.mark.parametrize(
    "key", ["a_b", "a%b", "a.b", "a?b", "a[b]", 'a"b', "a'b", "数据库.端口", "a\\b", "--", "a b"]
)
def test_every_character_of_a_key_is_itself(facts: FactService, key: str) -> None:
    write(facts, "decoy", "aXb")
    write(facts, "decoy", "axb")
    write(facts, 1, key)
    assert value(facts, key) == 1
    assert keys(facts, f"{key}*") == ([key] if key != "a*b" else ["a*b", "aXb", "axb"])
    facts.delete(key, None, CLAUDE)
    assert keys(facts) == ["aXb", "axb"]


def test_a_list_is_sorted_by_key_and_counts_the_rest(facts: FactService) -> None:
    for key in ("b", "a.2", "a.1", "c"):
        write(facts, 1, key)
    found = facts.select("*", None, (), 3, CLAUDE)
    assert ([fact.key for fact in found.facts], found.more) == (["a.1", "a.2", "b"], 1)


# Deleting, undoing, the past


def test_a_delete_can_be_undone(facts: FactService, clock: Clock) -> None:
    before = write(facts, {"a": ["75000"]}, tags=("x",))
    facts.delete(KEY, None, CURSOR)
    clock.advance(minutes=1)
    restored = facts.undelete(KEY, None, CLAUDE)
    assert restored == facts.read(KEY, None, (), CLAUDE)
    assert (restored.value, restored.tags, restored.version) == (before.value, before.tags, 3)
    assert [(each.action.value, each.changed_by) for each in changes(facts)] == [
        ("written", "Claude"),
        ("deleted", "Cursor"),
        ("written", "Claude"),
    ]


def test_undo_brings_back_the_scope_that_was_deleted_though_a_wider_one_has_a_value(
    facts: FactService,
) -> None:
    write(facts, "wide", scope=Scope.GLOBAL)
    write(facts, "narrow")
    facts.delete(KEY, None, CLAUDE)
    assert value(facts) == "wide"
    assert facts.undelete(KEY, None, CLAUDE).home.scope is Scope.PROJECT
    assert value(facts) == "narrow"


def test_undo_takes_the_last_delete_of_several_scopes(facts: FactService) -> None:
    write(facts, "narrow")
    write(facts, "wide", scope=Scope.GLOBAL)
    facts.delete(KEY, Scope.PROJECT, CLAUDE)
    facts.delete(KEY, Scope.GLOBAL, CLAUDE)
    assert facts.undelete(KEY, None, CLAUDE).value == "wide"
    assert facts.undelete(KEY, None, CLAUDE).value == "narrow"


def test_undo_keeps_the_moment_of_expiry(facts: FactService, clock: Clock) -> None:
    until = write(facts, 1, ttl=60).expires_at
    facts.delete(KEY, None, CLAUDE)
    clock.advance(seconds=59)
    assert facts.undelete(KEY, None, CLAUDE).expires_at == until
    facts.delete(KEY, None, CLAUDE)
    clock.advance(seconds=1)
    with pytest.raises(NotFound, match="would have expired"):
        facts.undelete(KEY, None, CLAUDE)
    assert value(facts) == "no value"


def test_what_was_not_deleted_cannot_be_undone(facts: FactService, clock: Clock) -> None:
    with pytest.raises(NotFound) as refused:
        facts.undelete(KEY, None, CLAUDE)
    assert str(refused.value) == "No deleted fact `cache.limit`."
    assert refused.value.problem.hints == (Hint(Mend.SHOW_FACT_HISTORY, {"key": KEY}),)
    write(facts, 1, ttl=5)
    with pytest.raises(Conflict, match="was not deleted: it has the value 1"):
        facts.undelete(KEY, None, CLAUDE)
    two_days_later(facts.database, clock)
    facts.remove_expired()
    with pytest.raises(NotFound):
        facts.undelete(KEY, None, CLAUDE)


def test_the_value_as_of_a_moment_is_what_a_read_would_have_found(facts: FactService, clock: Clock) -> None:
    start = clock.now
    facts.write(FactDraft(KEY, "wide"), Scope.GLOBAL, CLAUDE)
    steps: list[Callable[[], object]] = [
        lambda: write(facts, 1),
        lambda: write(facts, 2, ttl=90),
        lambda: None,  # it expires between this step and the next
        lambda: write(facts, 3),
        lambda: facts.delete(KEY, Scope.PROJECT, CURSOR),
        lambda: facts.undelete(KEY, None, CLAUDE),
    ]

    def past(minutes: int) -> list[Any]:
        moments = [timestamp(start + timedelta(minutes=minute)) for minute in range(minutes)]
        changes = [facts.value_at(KEY, None, moment, CLAUDE) for moment in moments]
        return ["no value" if change is None else change.value for change in changes]

    seen = [value(facts)]
    for step in steps:
        assert past(len(seen)) == [
            None if len(seen) > 4 and 1 <= minute <= 3 else there for minute, there in enumerate(seen)
        ]
        clock.advance(minutes=1)
        step()
        seen.append(value(facts))
    assert seen == ["wide", 1, 2, 2, 3, "wide", 3]
    assert past(len(seen)) == ["wide", None, None, None, 3, "wide", 3]  # what expired leaves no value behind
    expired = timestamp(start + timedelta(minutes=3, seconds=30))
    gone = facts.value_at(KEY, None, expired, CLAUDE)
    assert gone is not None
    assert gone.value == "wide"
    assert facts.value_at(KEY, Scope.PROJECT, expired, CLAUDE) is None
    assert facts.value_at(KEY, None, timestamp(start - timedelta(milliseconds=1)), CLAUDE) is None


def test_the_past_of_an_expired_value_is_the_same_but_empty_after_it_is_removed(
    facts: FactService, clock: Clock
) -> None:
    start = clock.now
    write(facts, 1, ttl=60, tags=("t",))
    clock.advance(hours=1)
    moments = [timestamp(start + timedelta(seconds=seconds)) for seconds in (0, 59, 60, 61)]
    before = [facts.value_at(KEY, None, moment, CLAUDE) for moment in moments]
    two_days_later(facts.database, clock)
    facts.remove_expired()
    assert [facts.value_at(KEY, None, moment, CLAUDE) for moment in moments] == [
        each and replace(each, value=None, tags=()) for each in before
    ]
    assert [None if each is None else each.value for each in before] == [1, 1, None, None]


def test_history_without_a_scope_is_that_of_the_value_that_is_read(facts: FactService) -> None:
    write(facts, "gone", scope=Scope.SESSION)
    facts.delete(KEY, Scope.SESSION, CLAUDE)
    write(facts, "here")
    assert [each.value for each in changes(facts)] == ["here"]
    facts.delete(KEY, None, CLAUDE)
    assert [each.value for each in changes(facts)] == ["gone", "gone"]
    assert [each.value for each in changes(facts, Scope.PROJECT, 1)] == ["here"]


def test_a_key_that_was_never_written_has_no_history(facts: FactService) -> None:
    write(facts, 1, caller=ELSEWHERE)
    with pytest.raises(NotFound) as refused:
        facts.history(KEY, None, 10, CLAUDE)
    assert str(refused.value) == "`cache.limit` was never written."
    assert refused.value.problem.hints == (Hint(Mend.LIST_FACTS),)


# Secrets


@pytest.mark.parametrize(
    "draft",
    [
        FactDraft("key", PEM),
        FactDraft("key", f"see:\n{TOKEN}"),
        FactDraft("key", f'"{TOKEN}"'),
        FactDraft("key", {"a": [{"b": f"\t{TOKEN}"}]}),
        FactDraft("key", {TOKEN: 1}),
        FactDraft(TOKEN, 1),
        FactDraft("key", 1, tags=(TOKEN,)),
    ],
)
def test_a_secret_anywhere_is_refused_and_not_stored(facts: FactService, draft: FactDraft) -> None:
    with pytest.raises(Invalid) as refused:
        facts.write(draft, Scope.PROJECT, CLAUDE)
    assert refused.value.problem.hints == (Hint(Mend.ALLOW_SECRETS),)
    assert "a1B2" not in str(refused.value)
    assert keys(facts) == []
    assert replace(facts, allow_secrets=True).write(draft, Scope.PROJECT, CLAUDE).created


def test_a_purge_without_a_scope_erases_the_value_that_a_read_finds(facts: FactService) -> None:
    """The project still knows the key, by its history."""
    write(facts, "of the project")
    facts.delete(KEY, Scope.PROJECT, CLAUDE)
    write(facts, "of the user", scope=Scope.GLOBAL)
    assert facts.purge(KEY, None, CLAUDE)[0] is Scope.GLOBAL
    assert value(facts) == "no value"
    with pytest.raises(NotFound):
        changes(facts, Scope.GLOBAL)
    assert [change.action for change in changes(facts, Scope.PROJECT)] == [Action.DELETED, Action.WRITTEN]
