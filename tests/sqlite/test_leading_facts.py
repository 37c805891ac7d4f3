"""A briefing reads facts by their topic alone, and gets the same ones as if it had read all facts."""

from datetime import timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_server.domain.briefing.headings import Heading
from memory_server.domain.briefing.items import heading_of, is_overview, is_progress
from memory_server.domain.briefing.leading import TASK, Limits, leading, task_home
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import FactFilter, Home, Scope, narrowest
from memory_server.domain.moment import timestamp
from memory_server.sqlite.database import Database
from memory_server.sqlite.leading_facts import TOPICS
from memory_server.sqlite.transaction import Transaction
from tests.conftest import Clock, rounds, undone

HOMES = [
    Home(Scope.SESSION, "s"),
    Home(Scope.PROJECT, "p"),
    Home(Scope.SHARED, ""),
    Home(Scope.GLOBAL, ""),
]

HEADS = ["current", "currently", "discovered", "project", "shared", "ai", "note", ""]
RESTS = [
    "", "blocked", "blockers.about", "task", "task.step", "task_step", "tasks", "Task.goal", "Progress", "step", "k1",
    "k2", "decision.a", "decisions", "overview", "x.Overview", "x.what", "进度", "概述", "a.b.c", "summary.", ".", "[x",
]  # fmt: skip
KEYS = [f"{head}{dot}{rest}" for head in HEADS for dot in (".", "") for rest in RESTS if head or rest]

FACTS = st.lists(
    st.tuples(
        st.sampled_from(HOMES),
        st.sampled_from(KEYS) | st.sampled_from(["current.task", "current.step", "current.k1", "note.about"]),
        st.integers(0, 60),
        st.booleans(),
    ),
    max_size=60,
)
"""Home, key, days since it was written, and whether it has expired."""


@settings(max_examples=rounds(60))
@given(facts=FACTS, limit=st.integers(1, 5), older=st.integers(1, 5), days=st.integers(0, 60))
@example([(HOMES[1], "current.task", 3, False), (HOMES[1], "current.step", 9, False)], 5, 5, 30)
def test_the_same_facts_are_chosen_as_from_all_facts(
    database: Database,
    clock: Clock,
    facts: list[tuple[Home, str, int, bool]],
    limit: int,
    older: int,
    days: int,
) -> None:
    limits = Limits(limit, older, timestamp(clock() - timedelta(days=days)))
    with undone(database) as tx:
        for number, (home, key, age, expired) in enumerate(facts):
            insert(tx, home, key, timestamp(clock() - timedelta(days=age)), number, expired)
        there = narrowest(tx.facts.headlines(HOMES, newest_first=True))
        tasks = {each.home for each in there if each.key == TASK}
        changed = tx.fact_history.changed_at(task_home(HOMES, tasks.__contains__), TASK)
        assert tx.leading_facts.select(HOMES, limits) == leading(there, changed, limits)


def insert(tx: Transaction, home: Home, key: str, at: str, number: int, expired: bool) -> None:
    """A second fact of a key is a second version of it."""
    tx.execute(
        """
        INSERT INTO facts (scope, owner, key, value, created_at, updated_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (scope, owner, key) DO UPDATE
        SET value = excluded.value, version = version + 1, updated_at = excluded.updated_at,
            expires_at = excluded.expires_at
        """,
        (home.scope, home.owner, key, number, at, at, "2026-01-01T00:00:00.000Z" if expired else None),
    )


@settings(max_examples=rounds(200))
@given(
    key=st.sampled_from(KEYS)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
)
def test_the_topic_of_a_key_is_what_the_domain_says_of_it(database: Database, clock: Clock, key: str) -> None:
    with undone(database) as tx:
        insert(tx, HOMES[1], key, timestamp(clock()), 1, False)
        topic = TOPICS[tx.value("SELECT topic FROM facts")]
    heading = heading_of(key, Scope.PROJECT)
    assert topic.heading(HOMES[1]) is heading
    assert topic.overview == is_overview(key)
    assert topic.progress == (heading in (Heading.TASK, Heading.UNDER_WAY) and is_progress(key))


@settings(max_examples=rounds(40))
@given(facts=FACTS)
def test_a_filter_lets_the_narrowest_value_of_a_key_pass(
    database: Database, clock: Clock, facts: list[tuple[Home, str, int, bool]]
) -> None:
    with undone(database) as tx:
        for number, (home, key, age, expired) in enumerate(facts):
            insert(tx, home, key, timestamp(clock() - timedelta(days=age)), number, expired)
        every = [id for (id,) in tx.rows("SELECT id FROM facts")]
        for homes in (HOMES, HOMES[1:], HOMES[1:2]):
            passing = tx.candidates.passing(Embedded.FACTS, every, FactFilter(tuple(homes)))
            assert passing == {each.id for each in narrowest(tx.facts.headlines(homes))}
