"""A session that opens: which project and session it hears of, and what is never in it."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.mcp.tools.facts import POINTERS
from memory_server.project import Project, project_of
from memory_server.services.facts import FactService
from memory_server.services.resume import Resumed, ResumeService
from memory_server.sqlite import memories
from memory_server.sqlite.database import Database
from tests.conftest import Clock

CLAUDE = Caller("Claude", "s1", Project("/srv/shop", "shop"))


@pytest.fixture
def facts(database: Database) -> FactService:
    return FactService(database)


@pytest.fixture
def service(database: Database) -> ResumeService:
    return ResumeService(database)


def write(
    facts: FactService,
    key: str,
    value: Any,
    scope: Scope = Scope.PROJECT,
    ttl: int | None = None,
    caller: Caller = CLAUDE,
) -> None:
    facts.write(FactDraft(key, value, ttl=ttl), scope, caller)


def remember(
    database: Database, content: str, type: MemoryType, importance: int = 5, project: str = "shop"
) -> None:
    with database.write() as tx:
        memories.insert(tx, MemoryDraft(content, type, project, (), importance), CLAUDE)


def resumed(service: ResumeService, max_tokens: int = 500, caller: Caller = CLAUDE) -> Resumed:
    return service.resume(max_tokens, POINTERS, caller)


def lines(service: ResumeService, max_tokens: int = 500) -> list[str]:
    return resumed(service, max_tokens).briefing.text.split("\n")


def test_a_new_session_hears_the_facts_and_memories_of_its_project(
    service: ResumeService, facts: FactService, database: Database
) -> None:
    write(facts, "current.task", "Fix the login")
    write(facts, "finding", "retries need a key", Scope.SHARED)
    remember(database, "We use Flutter", MemoryType.DECISION)
    remember(database, "Of another project", MemoryType.DECISION, project="blog")
    assert lines(service) == [
        "Project shop.",
        "Current task: Fix the login.",
        "Decided: We use Flutter.",
        "Shared: finding: retries need a key.",
    ]


def test_the_context_holds_the_values_of_what_is_said_as_they_are(
    service: ResumeService, facts: FactService
) -> None:
    write(facts, "current.blockers", ["a", "b"])
    write(facts, "project.port", 5433)
    write(facts, "shared.x", {"n": None})
    answer = resumed(service)
    assert (answer.project, answer.current, answer.shared) == (
        {"project.port": 5433},
        {"current.blockers": ["a", "b"]},
        {"shared.x": {"n": None}},
    )


def test_each_caller_hears_of_its_own_project_and_session(
    service: ResumeService, facts: FactService, tmp_path: Path
) -> None:
    def there(path: str, session: str | None = "s1") -> Caller:
        return Caller("Claude", session, project_of(path, Path("/")))

    other = there(str(tmp_path), "s9")
    write(facts, "current.task", "other project", caller=other)
    write(facts, "current.step", "other session", Scope.SESSION, caller=other)
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/link"):
        assert resumed(service, caller=there(path, "s9")).current == {
            "current.task": "other project",
            "current.step": "other session",
        }
    assert resumed(service, caller=there(str(tmp_path))).current == {"current.task": "other project"}
    assert resumed(service).current == {}


def test_a_project_without_facts_and_memories_has_nothing_to_say(
    service: ResumeService, facts: FactService
) -> None:
    write(facts, "current.task", "here")
    nowhere = replace(CLAUDE, project=project_of("/no/such/folder", Path("/")))
    assert resumed(service, caller=nowhere).briefing.text == (
        "Project folder.\nNothing is stored for it yet."
    )


def test_what_has_expired_is_neither_said_nor_counted(
    service: ResumeService, facts: FactService, clock: Clock
) -> None:
    write(facts, "current.task", "stale", ttl=60)
    clock.advance(seconds=60)
    assert lines(service) == ["Project shop.", "Nothing is stored for it yet."]
    assert resumed(service).briefing.left_out == 0


def test_a_narrow_value_hides_the_wide_one(service: ResumeService, facts: FactService, clock: Clock) -> None:
    write(facts, "current.task", "of the session", Scope.SESSION)
    clock.advance(hours=1)
    for scope in (Scope.PROJECT, Scope.SHARED, Scope.GLOBAL):
        write(facts, "current.task", f"of {scope}", scope)
    assert lines(service) == ["Project shop.", "Current task: of the session."]


def test_old_blockers_come_before_any_number_of_new_facts(
    service: ResumeService, facts: FactService, clock: Clock
) -> None:
    write(facts, "current.blockers", "no key")
    write(facts, "current.task", "Fix the login")
    clock.advance(days=30)
    with facts.database.write() as tx:
        for number in range(1000):
            for key in (f"current.k{number}", f"note{number}"):
                facts.write_in(tx, FactDraft(key, "some words"), Scope.PROJECT, CLAUDE)
    said = lines(service)
    assert said[1:3] == ["Blocked: no key.", "Current task: Fix the login."]
    left = resumed(service).briefing.left_out
    assert said[-1] == f"Left out: {left:d} more (`list_memories`, `memory_search`)."
    assert left + len(resumed(service).briefing.said) == 2002


def test_of_many_memories_those_that_matter_most_are_said(service: ResumeService, database: Database) -> None:
    chance = random.Random(1)
    for importance in chance.sample(range(1, 11), 10):
        remember(
            database,
            f"A decision of importance {importance} and some words more",
            MemoryType.DECISION,
            importance,
        )
    said = lines(service, 80)[1]
    assert said.startswith(
        "Decided: A decision of importance 10 and some words more. A decision of importance 9"
    )


def test_what_was_seen_long_ago_fades_behind_what_was_decided(
    service: ResumeService, database: Database, clock: Clock
) -> None:
    remember(database, "An old learning", MemoryType.LEARNING, 5)
    remember(database, "An old observation", MemoryType.OBSERVATION, 9)
    clock.advance(days=60)
    assert lines(service)[1] == "Found out: An old learning. An old observation."


def test_the_last_written_fact_comes_first(service: ResumeService, facts: FactService, clock: Clock) -> None:
    for key in ("a", "b", "c"):
        write(facts, key, 1)
        clock.advance(minutes=1)
    write(facts, "a", 2)
    assert lines(service)[1] == "Also known: a: 2. c: 1. b: 1."


def test_the_same_question_gets_the_same_answer_and_reading_leaves_no_trace(
    service: ResumeService, facts: FactService, database: Database
) -> None:
    for number in range(50):
        write(facts, f"project.k{number}", "数据库 words")
        remember(database, f"Memory {number} of the project", MemoryType.LEARNING)
    with database.read() as tx:
        before = tx.rows("SELECT sum(access_count), max(updated_at) FROM facts")
    answers = [resumed(service, limit) for limit in (300, 300)]
    assert answers[0] == answers[1]
    with database.read() as tx:
        assert tx.rows("SELECT sum(access_count), max(updated_at) FROM facts") == before


@pytest.mark.parametrize("limit", [50, 8000])
def test_thousands_of_facts_keep_the_limit(service: ResumeService, facts: FactService, limit: int) -> None:
    chance = random.Random(2)
    prefixes = ["current.", "project.decision.", "discovered.", "shared.", "project.", "ai.Cursor.", ""]
    with facts.database.write() as tx:
        for number in range(1000):
            draft = FactDraft(
                f"{chance.choice(prefixes)}k{number}",
                "登录令牌在十五分钟后过期 and words " * chance.randint(1, 9),
            )
            facts.write_in(tx, draft, chance.choice(list(Scope)), CLAUDE)
    briefing = resumed(service, limit).briefing
    assert limit / 2 < briefing.token_count <= limit
    assert len(briefing.said) + briefing.left_out == 1000
