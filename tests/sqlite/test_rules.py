"""Rules that SQL repeats for speed, or for people who edit the file by hand, are those of the domain."""

import random
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope, home
from memory_server.domain.moment import timestamp
from memory_server.domain.project import default_conversation
from memory_server.domain.short_term import Asking, CleanupRule, Keyword
from memory_server.sqlite.database import Database
from tests.conftest import Clock, undone
from tests.services import short_term_reference as reference

AGES = st.timedeltas(timedelta(minutes=-5), timedelta(days=900))
# Names of projects have no control characters: 31 ends the name of a person before that of a conversation.
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1f"), min_size=1, max_size=200
)
SCORES = st.floats(0, 100).map(lambda score: round(score, 1))


@settings(max_examples=60)
@given(
    age=AGES,
    score=SCORES,
    weights=st.lists(st.floats(0.8, 50), min_size=1, max_size=5),
    share=st.none() | st.floats(0, 2),
)
def test_the_relevance_of_a_short_term_memory_is_that_of_the_formulas(
    rules: tuple[Database, Clock], age: timedelta, score: float, weights: list[float], share: float | None
) -> None:
    database, clock = rules
    said_at = timestamp(clock() - age)
    words = [Keyword(f"w{place}", weight, f"w{place}") for place, weight in enumerate(weights)]
    with undone(database) as tx:
        place = tx.conversations.find_or_insert("c")
        id = tx.short_term.insert(place, "user: x", said_at, words, Caller())
        tx.execute("UPDATE short_term_memories SET score = ? WHERE id = ?", (score, id))
        (found,) = tx.short_term.recollect(Asking(words, share), [id])
    asked = {word.word: word.weight for word in words}
    memory = reference.Remembered(id, datetime.fromisoformat(said_at), asked, score)
    assert found.penalty == pytest.approx(reference.penalty(memory, clock()), abs=1e-5)
    assert found.score == pytest.approx(reference.score(memory, asked, share), abs=1e-5)
    assert found.relevance == pytest.approx(reference.relevance(memory, asked, clock(), share), abs=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_a_cleanup_removes_what_the_formulas_say(rules: tuple[Database, Clock], seed: int) -> None:
    chance = random.Random(seed)
    rule = CleanupRule()
    if seed % 2:
        days, floor, kept = chance.uniform(1, 900), chance.uniform(-20, 90), chance.randint(0, 560)
        rule = CleanupRule(timedelta(days=days), floor, kept)
    rows = [
        (
            timedelta(minutes=chance.uniform(-5, 900 * 1440)),
            round(chance.choice([0, 0, 2, 100]) * chance.random(), 1),
        )
        for _ in range(chance.randint(505, 560))
    ]
    database, clock = rules
    with undone(database) as tx:
        place = tx.conversations.find_or_insert("c")
        memories = []
        for age, score in rows:
            said_at = timestamp(clock() - age)
            id = tx.short_term.insert(place, "user: x", said_at, [], Caller())
            tx.execute("UPDATE short_term_memories SET score = ? WHERE id = ?", (score, id))
            memories.append(reference.Remembered(id, datetime.fromisoformat(said_at), {}, score))
        stay = reference.cleaned(memories, clock(), rule.kept, rule.age, rule.floor)
        removed, kept = tx.short_term.clean_up(place, rule, tx.now)
        left = {id for (id,) in tx.rows("SELECT id FROM short_term_memories")}
    assert (removed, kept) == (len(memories) - len(stay), len(stay))
    assert left == {memory.id for memory in stay}


@settings(max_examples=40)
@given(steps=st.lists(st.sampled_from(["write", "delete", "write by hand"]), min_size=1, max_size=12))
def test_the_version_of_a_fact_is_the_next_that_its_key_has_not_had(
    rules: tuple[Database, Clock], steps: list[str]
) -> None:
    database, _ = rules
    caller = Caller("tests", "s")
    place = home(Scope.SHARED, caller)
    with undone(database) as tx:
        for step in steps:
            expected = 1 + max((past.version for past in tx.fact_history.select(place, "k", 100)), default=0)
            there = tx.facts.find(place, "k")
            match step:
                case "delete" if there is not None:
                    tx.facts.delete(there, caller)
                case "write" if there is not None:
                    tx.facts.replace(there, FactDraft("k", expected), None, caller)
                case "write":
                    tx.facts.insert(place, FactDraft("k", expected), None, caller)
                case "write by hand" if there is None:
                    tx.execute("INSERT INTO facts (scope, key, value) VALUES ('shared', 'k', '1')")
                case _:
                    continue
            newest = tx.fact_history.find_last(place, "k")
            assert newest is not None
            assert newest.version == expected


@settings(max_examples=40)
@given(old=NAMES, new=NAMES)
def test_the_conversation_of_a_project_that_is_renamed_by_hand_is_that_of_the_domain(
    rules: tuple[Database, Clock], old: str, new: str
) -> None:
    database, _ = rules
    with undone(database) as tx:
        tx.execute("INSERT INTO projects (name) VALUES (?)", (old,))
        place = tx.conversations.find_or_insert(default_conversation(old))
        tx.projects.delete_empty()
        tx.execute("UPDATE projects SET name = ?", (new,))
        assert tx.conversations.find(default_conversation(new)) == place


@pytest.fixture
def rules(database: Database, clock: Clock) -> tuple[Database, Clock]:
    """One database for all examples of a property: each example undoes what it wrote."""
    return database, clock
