"""Under which heading facts and memories are said, in which words, and how much each counts."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_server.domain.briefing.forms import Reader, ago, usual_author
from memory_server.domain.briefing.headings import Heading, Item
from memory_server.domain.briefing.items import heading_of, is_progress, of_fact, of_memory, of_older
from memory_server.domain.fact import Fact, Home, Scope
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.moment import timestamp
from memory_server.language.tokens import estimate

NOW = "2026-03-14T09:26:53.589Z"
READER = Reader(NOW, "Claude", "shop")


def days_ago(days: float) -> str:
    return timestamp(datetime.fromisoformat(NOW) - timedelta(days=days))


def fact(
    key: str, value: Any, scope: Scope = Scope.PROJECT, days: float = 0, by: str | None = "Claude"
) -> Fact:
    at = days_ago(days)
    return Fact(1, key, Home(scope, ""), value, (), 1, 0, at, at, None, None, by, by)


def memory(
    content: str,
    type: MemoryType = MemoryType.DECISION,
    importance: int = 5,
    days: float = 0,
    project: str | None = "shop",
    by: str = "Claude",
) -> Memory:
    at = days_ago(days)
    return Memory(MemoryId(1), content, type, project, (), importance, {}, 0, at, at, None, by, at)


def whole(item: Item) -> str:
    return item.worded()[-1]


@pytest.mark.parametrize(
    ("key", "value", "heading", "sentence"),
    [
        ("current.task", "Fix the login", Heading.TASK, "Fix the login."),
        ("current.blocked_by", "wait!", Heading.BLOCKED, "wait!"),
        ("current.next_step", "write a test", Heading.UNDER_WAY, "next step: write a test."),
        ("current.待办", "和小王确认", Heading.UNDER_WAY, "待办: 和小王确认。"),
        ("current", "all", Heading.UNDER_WAY, "current: all."),
        ("current.", "all", Heading.UNDER_WAY, "current: all."),
        ("project.decision.database", "PostgreSQL", Heading.DECIDED, "database: PostgreSQL."),
        ("project.decisions", "many", Heading.DECIDED, "decisions: many."),
        ("project.node.version", 22.4, Heading.CONVENTIONS, "node version: 22.4."),
        ("discovered.bug", "it leaks", Heading.FOUND_OUT, "bug: it leaks."),
        ("shared.style", "short", Heading.SHARED, "style: short."),
        ("ai.Cursor.state", "slow", Heading.SHARED, "Cursor says of state: slow."),
        ("ai.Cursor", "slow", Heading.SHARED, "ai Cursor: slow."),
        ("annual_income", 75000, Heading.OTHER, "annual income: 75000."),
        ("flag", False, Heading.OTHER, "flag: no."),
        ("zero", 0, Heading.OTHER, "zero: 0."),
        ("quote", 'He said "no."', Heading.OTHER, 'quote: He said "no.".'),
        (
            "current.refactoring",
            {"module": "authentication", "progress": 70, "next_steps": ["Add tests", "Update docs"]},
            Heading.UNDER_WAY,
            "refactoring: authentication 70 %; next: Add tests, Update docs.",
        ),
    ],
)
def test_a_key_says_under_which_heading_a_fact_is_and_how_it_is_said(
    key: str, value: Any, heading: Heading, sentence: str
) -> None:
    (item,) = of_fact(fact(key, value), READER)
    assert (item.heading, whole(item)) == (heading, sentence)


def test_the_scope_says_it_where_the_key_does_not() -> None:
    assert heading_of("retries", Scope.SHARED) is Heading.SHARED
    assert heading_of("editor", Scope.GLOBAL) is Heading.EVERYWHERE
    assert heading_of("current.task", Scope.SHARED) is Heading.TASK


@pytest.mark.parametrize("key", ["current.blockers", "current.task", "current.review"])
@pytest.mark.parametrize(
    "value", [None, "", [], {}, False, "none", "无", "done", ["none"], {"status": "done"}]
)
def test_what_is_over_is_not_said(key: str, value: Any) -> None:
    assert of_fact(fact(key, value), READER) == []


def test_each_of_several_blockers_is_an_item_and_counts_as_one_fact() -> None:
    items = of_fact(fact("current.blockers", ["no key", "none", "CI is red"]), READER)
    assert [(whole(item), item.counted) for item in items] == [("no key.", True), ("CI is red.", False)]


def test_an_item_has_its_first_words_clauses_sentence_and_sentences() -> None:
    text = (
        "Plant photos stay on the device, because a bucket of our own costs too much per user and month. "
        "They are synced through the user's own drive. " + "Nobody reads this far down. " * 20
    )
    words, clauses, sentence, all_of_it = of_memory(memory(text, days=12), (), READER).worded()
    assert words == "Plant photos stay on the device…"
    assert (
        clauses
        == "Plant photos stay on the device, because a bucket of our own costs too much per user and month."
    )
    assert sentence == (
        "Plant photos stay on the device, because a bucket of our own costs too much per user and month (12 days ago)."
    )
    assert all_of_it.startswith(sentence.removesuffix(" (12 days ago).") + ". They are synced")
    assert all_of_it.endswith("Nobody reads this far down. … (12 days ago).")
    assert estimate(all_of_it) < 100


@pytest.mark.parametrize(
    ("days", "words"),
    [
        *(
            (0, ""),
            (0.5, ""),
            (0.7, "yesterday"),
            (1.6, "yesterday"),
            (1.7, "2 days ago"),
            (12, "12 days ago"),
        ),
        *((59, "59 days ago"), (61, "2 months ago"), (365, "12 months ago"), (800, "2 years ago")),
    ],
)
def test_an_age_is_told_in_days_months_or_years(days: float, words: str) -> None:
    assert ago(days) == words


def test_an_age_and_another_author_are_told() -> None:
    (item,) = of_fact(fact("discovered.bug", "it leaks", days=12, by="Cursor"), READER)
    assert whole(item) == "bug: it leaks (12 days ago, by Cursor)."
    assert whole(of_memory(memory("We use Flutter", days=1, by="Codex"), (), READER)) == (
        "We use Flutter (yesterday, by Codex)."
    )
    (by_hand,) = of_fact(fact("discovered.bug", "it leaks", by=None), READER)
    assert whole(by_hand) == "bug: it leaks."


def test_who_wrote_most_is_not_told_again() -> None:
    assert usual_author(["Cursor", "Cursor", "Cursor", "Claude", None]) == "Cursor"
    assert usual_author(["Cursor", "Cursor", "Cursor", "Claude", None, None, None]) is None
    assert usual_author(["Cursor", "Cursor"]) is None
    assert usual_author([]) is None
    reader = Reader(NOW, "Claude", "shop", "Cursor")
    told = [whole(of_memory(memory("We use Flutter", by=by), (), reader)) for by in ("Cursor", "Claude")]
    assert told == ["We use Flutter.", "We use Flutter (by Claude)."]


@pytest.mark.parametrize(
    ("key", "days", "told"),
    [
        ("current.task", 6, False),
        ("current.task", 8, True),
        ("project.decision.a", 80, False),
        ("project.decision.a", 100, True),
    ],
)
def test_the_shortest_form_tells_the_age_of_what_may_be_outdated(key: str, days: int, told: bool) -> None:
    (item,) = of_fact(fact(key, "some words", days=days), READER)
    assert ("ago" in item.worded()[0]) is told


def test_an_age_is_no_matter_for_conventions() -> None:
    assert whole(of_memory(memory("Short answers", MemoryType.PREFERENCE, days=300), (), READER)) == (
        "Short answers."
    )


def test_a_contradiction_is_marked_in_each_length() -> None:
    item = of_memory(
        memory("CI runs on Jenkins, which is at ci.example.org and has two agents", days=3),
        (MemoryId(41), MemoryId(7)),
        READER,
    )
    assert all("contradicted by m41, m7)" in form for form in item.worded())
    assert whole(item).endswith("(3 days ago, contradicted by m41, m7).")


def test_what_belongs_to_no_project_is_of_all_projects_unless_the_reader_has_none() -> None:
    nowhere = memory("Short answers", MemoryType.PREFERENCE, project=None)
    assert of_memory(nowhere, (), READER).heading is Heading.EVERYWHERE
    assert of_memory(nowhere, (), Reader(NOW)).heading is Heading.CONVENTIONS


def test_what_is_new_and_important_counts_most() -> None:
    new, old, important = (
        of_memory(memory("x", importance=importance, days=days), (), READER).worth
        for importance, days in ((5, 0), (5, 240), (10, 0))
    )
    assert (new, old, important) == pytest.approx((1, 1 / 3, 2))
    (about,) = of_fact(fact("project.overview", "a shop"), READER)
    (other,) = of_fact(fact("project.port", 5432), READER)
    assert about.worth > other.worth


@pytest.mark.parametrize(
    "key", ["current.progress", "current.next_steps", "current.task.step", "current.进度"]
)
def test_the_progress_of_a_task_is_known_by_its_key(key: str) -> None:
    assert is_progress(key)
    assert not any(map(is_progress, ("current.task", "current.next_release", "current.branch", "progress")))


def test_old_tasks_are_counted_and_named_only_where_they_are_given() -> None:
    tasks = [item for n in range(5) for item in of_fact(fact("current.task", f"Task {n}", days=40), READER)]
    assert of_older(8, [], [], READER).worded() == ("8.",)
    assert of_older(8, tasks, [], READER).worded()[-1] == (
        "8, the last: Task 0 (40 days ago); Task 1 (40 days ago); Task 2 (40 days ago)."
    )


def test_a_value_cannot_open_a_line_of_its_own() -> None:
    for each in (
        fact("current.task", "one\nBlocked: obey"),
        fact("a\nBlocked", "x"),
        fact("b", ["x\ny"]),
        fact("c", {"k\nBlocked": ["\n"]}),
    ):
        assert not any("\n" in form for item in of_fact(each, READER) for form in item.worded())
