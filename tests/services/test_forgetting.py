"""Deleting hides a thing at once and can be undone for 30 days; purging leaves no byte; both hold for every kind."""

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.forgetting import KEPT, Forgotten
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.message import Message
from memory_server.domain.moment import timestamp
from memory_server.domain.turn import TurnDraft
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import Conflict, Hint, MemoryServerError, Mend, NotFound, Unavailable
from memory_server.language.pattern import parse
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.facts import FactService
from memory_server.services.forgetting import AT_ONCE, ForgettingService
from memory_server.services.graph import GraphService
from memory_server.services.long_term import LongTermService
from memory_server.services.memories import MemoryService
from memory_server.services.search import SearchService
from memory_server.services.short_term import ShortTermService
from memory_server.services.turns import TurnService
from memory_server.sqlite.database import Database
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Clock, InMemory, Sqlite, damage, lay_empty_file, problems, two_days_later

CLAUDE = Caller("Claude", "s1", Project("/srv/shop", "shop"))
TOKEN = "qzforgetmeq"
"""What is to be forgotten holds it in every text; nothing else does."""

KEPT_TOKEN = "qzkeepmeq"


@dataclass(frozen=True)
class World:
    """Every service on one file."""

    path: Path
    database: Database
    queue: EmbeddingQueue
    memories: MemoryService
    search: SearchService
    graph: GraphService
    facts: FactService
    turns: TurnService
    short_term: ShortTermService
    long_term: LongTermService
    forgetting: ForgettingService

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table that holds what users said, and what was made of it."""
        with self.database.read() as tx:
            return {
                table: sorted(tx.rows(f"SELECT * FROM {table}"), key=repr)
                for table in (
                    "memories", "memory_history", "edges", "memory_words", "facts", "fact_words",
                    "turns", "turn_words", "conversations", "short_term_memories", "short_term_keywords",
                    "long_term_memories",
                )
            }  # fmt: skip

    def vectors(self) -> dict[str, list[tuple[Any, ...]]]:
        with self.database.read() as tx:
            return {
                table: tx.rows(f"SELECT space_id, {id}, {vector} FROM {table} ORDER BY {id}")
                for table, id, vector in (
                    ("embeddings", "memory_id", "vector"),
                    ("embedding_bits", "memory_id", "bits"),
                    ("turn_embeddings", "turn_id", "vector"),
                    ("turn_message_embeddings", "turn_id", "vector"),
                )
            }

    def store(self, content: str, **fields: Any) -> MemoryId:
        draft = MemoryDraft(content, MemoryType.LEARNING, **fields)
        return self.memories.store(draft, None, CLAUDE).memory.id

    def found(self, text: str) -> list[int]:
        return [
            hit.memory.id for hit in self.search.search(text, Filter(), 10, "keyword", caller=Caller()).hits
        ]


@pytest.fixture
def make(
    clock: Clock,
    embedder: Embedder,
    segmenter: JiebaSegmenter,
    tmp_path: Path,  # it is removed after this has looked at what it holds
) -> Iterator[Callable[[Path], World]]:
    """Makes a world on a file; whole afterwards, or the test fails."""
    made: list[World] = []

    def make(path: Path) -> World:
        if not path.exists():
            lay_empty_file(path)
        database = Database(path, clock)
        queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
        queue.work()
        facts = FactService(database)
        world = World(
            path,
            database,
            queue,
            MemoryService(database, queue, segmenter),
            SearchService(database, queue),
            GraphService(database, queue),
            facts,
            TurnService(database, queue, facts),
            ShortTermService(database, JiebaKeywords(segmenter), random.Random(7).random),
            LongTermService(database, Engine(Sandbox(), lambda one, other: None), random.Random(3).random),
            ForgettingService(database),
        )
        made.append(world)
        return world

    yield make
    for world in made:
        world.database.close()
        assert damage(world.path) == []


@pytest.fixture
def world(make: Callable[[Path], World], tmp_path: Path) -> World:
    return make(tmp_path / "memory.db")


@dataclass(frozen=True)
class Kind:
    """A kind of thing whose texts all hold TOKEN: how it is made, deleted, purged and brought back."""

    name: str
    make: Callable[[World], None]
    delete: Callable[[World], Forgotten]
    purge: Callable[[World], Forgotten]
    restore: Callable[[World], object]


def make_memory(world: World) -> None:
    """With two earlier texts, tags, metadata, a project, and an edge of each direction to one that stays."""
    other = world.store(f"The harbour opens at noon {KEPT_TOKEN}")
    id = world.store(
        f"The first words of {TOKEN} about orchids", project=f"{TOKEN} project", tags=(f"{TOKEN} tag",),
        metadata={TOKEN: f"{TOKEN} 兰花"},
    )  # fmt: skip
    world.memories.update(id, MemoryChange(content=f"Then {TOKEN} said 兰花 are white"), caller=Caller())
    world.memories.update(id, MemoryChange(content=f"At last {TOKEN} said orchids are blue"), caller=Caller())
    world.graph.connect(Edge(other, id, Relation.CAUSES, 0.3), CLAUDE)
    world.graph.connect(Edge(id, other, Relation.SOLVES, 0.7), CLAUDE)
    world.graph.end(Edge(id, other, Relation.SOLVES))
    world.queue.work()


def memory_id(world: World) -> MemoryId:
    return MemoryId(2)


def make_fact(world: World) -> None:
    for number in range(3):
        draft = FactDraft(f"{TOKEN}.key", {TOKEN: f"{TOKEN} {number}"}, (f"{TOKEN}-tag",))
        world.facts.write(draft, Scope.PROJECT, CLAUDE)


def make_turn(world: World) -> None:
    world.turns.register(TurnDraft(f"{TOKEN} 说了很多话 about it", f"Summary of {TOKEN}"), {}, CLAUDE)
    world.queue.work()


def make_short_term(world: World) -> None:
    said = [
        Message("user", f"{TOKEN} likes white orchids 兰花", TOKEN),
        Message("assistant", f"Noted, {TOKEN}."),
    ]
    world.short_term.add(said, f"talk with {TOKEN}", {}, CLAUDE)
    with world.database.write() as tx:
        tx.execute("UPDATE short_term_memories SET score = 0.1 + 0.2")


def make_long_term(world: World) -> None:
    draft = LongTermDraft(
        f"{TOKEN} name",
        f"Prompt {TOKEN}",
        f"match_keys(messages, ['{TOKEN}'])",
        f"Context {TOKEN}",
    )
    world.long_term.add(draft, f"talk with {TOKEN}", CLAUDE)
    world.long_term.search([Message("user", TOKEN)], f"talk with {TOKEN}", {}, caller=Caller())


MEMORY = Kind(
    "memory",
    make_memory,
    lambda world: world.memories.forget(memory_id(world), False, CLAUDE),
    lambda world: world.memories.forget(memory_id(world), True, CLAUDE),
    lambda world: world.memories.restore(memory_id(world)),
)
FACT = Kind(
    "fact",
    make_fact,
    lambda world: world.facts.delete(f"{TOKEN}.key", None, CLAUDE)[1],
    lambda world: world.facts.purge(f"{TOKEN}.key", None, CLAUDE)[1],
    lambda world: world.facts.undelete(f"{TOKEN}.key", None, CLAUDE),
)
TURN = Kind(
    "turn",
    make_turn,
    lambda world: world.turns.forget(1, False, CLAUDE),
    lambda world: world.turns.forget(1, True, CLAUDE),
    lambda world: world.turns.restore(1),
)
SHORT_TERM = Kind(
    "short-term",
    make_short_term,
    lambda world: world.short_term.delete(parse(TOKEN), f"talk with {TOKEN}", False, CLAUDE)[1],
    lambda world: world.short_term.delete(parse(TOKEN), f"talk with {TOKEN}", True, CLAUDE)[1],
    lambda world: world.short_term.restore(parse(TOKEN), f"talk with {TOKEN}", caller=Caller()),
)
LONG_TERM = Kind(
    "long-term",
    make_long_term,
    lambda world: world.long_term.delete(f"{TOKEN} name", f"talk with {TOKEN}", False, CLAUDE),
    lambda world: world.long_term.delete(f"{TOKEN} name", f"talk with {TOKEN}", True, CLAUDE),
    lambda world: world.long_term.restore(f"{TOKEN} name", f"talk with {TOKEN}", caller=Caller()),
)
KINDS = [MEMORY, FACT, TURN, SHORT_TERM, LONG_TERM]
IN_TRASH = [MEMORY, TURN, SHORT_TERM, LONG_TERM]
"""The kinds that lie in the trash; facts lie in their own history."""

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def traces(world: World, sqlite: Sqlite, token: str = TOKEN) -> list[str]:
    """Where a token is left: in what the stock program dumps, and in the bytes of every file of the folder.

    The background work comes first that overwrites what was deleted.
    """
    with suppress(Unavailable):  # it was closed by a look for another token
        ErasureService(world.database).erase()
    world.database.close()
    found = [line for line in sqlite(world.path, ".dump").splitlines() if token in line.lower()]
    for file in sorted(world.path.parent.iterdir()):
        if file.is_file() and file.name.startswith("memory") and token.encode() in file.read_bytes().lower():
            found.append(f"the bytes of {file.name}")
    return found


# Deleting and undoing


@each_kind
def test_what_is_deleted_says_until_when_it_can_be_brought_back(
    world: World, kind: Kind, clock: Clock
) -> None:
    kind.make(world)
    assert kind.delete(world) == Forgotten(1, timestamp(clock() + timedelta(days=30)))


@each_kind
def test_what_is_deleted_is_in_no_table_that_answers_are_read_from(world: World, kind: Kind) -> None:
    kind.make(world)
    kind.delete(world)
    told = repr({table: rows for table, rows in world.rows().items() if table != "conversations"})
    assert TOKEN not in told
    for table, rows in world.vectors().items():
        assert [row[1] for row in rows] == ([1] if kind is MEMORY and not table.startswith("turn") else [])


@pytest.mark.parametrize("kind", IN_TRASH, ids=lambda kind: kind.name)
def test_undo_restores_every_row_as_it_was_under_its_id(world: World, kind: Kind, clock: Clock) -> None:
    kind.make(world)
    rows, vectors = world.rows(), world.vectors()
    kind.delete(world)
    clock.advance(days=29, hours=23)
    kind.restore(world)
    assert world.rows() == rows
    world.queue.work()
    assert world.vectors() == vectors
    with world.database.read() as tx:
        assert tx.value("SELECT count(*) FROM trash") == 0


def test_undo_restores_a_fact_as_a_new_version_with_its_history(world: World) -> None:
    make_fact(world)
    FACT.delete(world)
    assert world.facts.read(f"{TOKEN}.key", None, (), CLAUDE) is None
    FACT.restore(world)
    fact = world.facts.read(f"{TOKEN}.key", None, (), CLAUDE)
    assert fact is not None
    assert (fact.value, fact.tags) == ({TOKEN: f"{TOKEN} 2"}, (f"{TOKEN}-tag",))
    versions = [change.version for change in world.facts.history(f"{TOKEN}.key", None, 10, CLAUDE).changes]
    assert versions[-1] == 1
    assert len(versions) >= 5


@pytest.mark.parametrize("kind", IN_TRASH, ids=lambda kind: kind.name)
def test_what_was_restored_can_be_deleted_and_restored_again(world: World, kind: Kind) -> None:
    kind.make(world)
    rows = world.rows()
    for _ in range(3):
        kind.delete(world)
        kind.restore(world)
    assert world.rows() == rows


def test_a_short_term_memory_written_by_hand_still_gets_its_keywords_after_an_undo(world: World) -> None:
    """It was deleted before the server had looked for its keywords."""
    with world.database.write() as tx:
        tx.execute("INSERT INTO conversations (name) VALUES (?)", (f"talk with {TOKEN}",))
        tx.execute(
            "INSERT INTO short_term_memories (conversation_id, text) VALUES (1, ?)",
            (f"user: {TOKEN} and orchids",),
        )
    SHORT_TERM.delete(world)
    SHORT_TERM.restore(world)
    world.short_term.find_keywords()
    with world.database.read() as tx:
        assert ("orchid",) in tx.rows("SELECT word FROM short_term_keywords")


def test_an_undo_after_a_conversation_has_gone_makes_it_again(world: World) -> None:
    make_short_term(world)
    with world.database.read() as tx:
        before = tx.rows("SELECT id, text, score FROM short_term_memories")
    SHORT_TERM.delete(world)
    with world.database.write() as tx:  # as a hand edit can
        tx.execute("DELETE FROM conversations")
    SHORT_TERM.restore(world)
    with world.database.read() as tx:
        assert tx.rows("SELECT id, text, score FROM short_term_memories") == before
        assert tx.value("SELECT count(*) FROM short_term_keywords WHERE conversation_id = 2") > 0


@pytest.mark.parametrize("deleted", [(1, 2), (2, 1)])
@pytest.mark.parametrize("restored", [(1, 2), (2, 1)])
def test_an_edge_between_two_deleted_memories_comes_back_with_the_second(
    world: World, deleted: tuple[int, int], restored: tuple[int, int]
) -> None:
    one, two = world.store("The harbour opens at noon"), world.store("Orchids need little water")
    world.graph.connect(Edge(one, two, Relation.DEPENDS_ON, 0.25), CLAUDE)
    world.graph.connect(Edge(two, one, Relation.CAUSES, 0.75), CLAUDE)
    world.graph.end(Edge(two, one, Relation.CAUSES))
    before = world.rows()
    for id in deleted:
        world.memories.forget(MemoryId(id), False, CLAUDE)
    for id in restored:
        world.memories.restore(MemoryId(id))
    assert world.rows() == before


@pytest.mark.parametrize("deleted", [(1, 2), (2, 1)])
def test_the_edges_of_an_erased_memory_do_not_come_back_with_its_neighbour(
    world: World, deleted: tuple[int, int]
) -> None:
    one, two = world.store("The harbour opens at noon"), world.store("Orchids need little water")
    world.graph.connect(Edge(one, two, Relation.DEPENDS_ON, 0.25), CLAUDE)
    for id in deleted:
        world.memories.forget(MemoryId(id), False, CLAUDE)
    world.memories.forget(two, True, CLAUDE)
    with world.database.read() as tx:
        assert "depends_on" not in repr(tx.rows("SELECT parts FROM trash"))
    world.memories.restore(one)
    assert world.rows()["edges"] == []


def test_a_name_can_be_taken_again_and_then_hinders_the_undo(world: World) -> None:
    make_long_term(world)
    LONG_TERM.delete(world)
    world.long_term.add(LongTermDraft(f"{TOKEN} name", "another", "true", None), f"talk with {TOKEN}", CLAUDE)
    rows = world.rows()
    with pytest.raises(Conflict):
        LONG_TERM.restore(world)
    assert world.rows() == rows
    LONG_TERM.delete(world)
    LONG_TERM.restore(world)  # what was deleted last
    assert (
        world.long_term.context(f"{TOKEN} name", f"talk with {TOKEN}", caller=Caller())[0].prompt == "another"
    )


def test_a_memory_with_a_row_that_is_not_utf8_is_erased_too(world: World, sqlite: Sqlite) -> None:
    """As a hand edit or an import can leave it: what cannot be read must be possible to forget."""
    make_memory(world)
    with world.database.write() as tx:
        tx.execute(f"UPDATE memories SET content = CAST(x'{TOKEN.encode().hex()}ff' AS TEXT) WHERE id = 2")
    assert MEMORY.purge(world) == Forgotten(1, None)
    assert traces(world, sqlite) == []


# Purging


@each_kind
@pytest.mark.parametrize("first", ["at once", "after it was deleted"])
def test_what_is_purged_leaves_no_byte_in_the_file(
    world: World, kind: Kind, first: str, sqlite: Sqlite
) -> None:
    kept = world.store(f"The lighthouse keeper stays {KEPT_TOKEN}") if kind is not MEMORY else None
    kind.make(world)
    if first != "at once":
        kind.delete(world)
    assert kind.purge(world) == Forgotten(1, None)
    with pytest.raises(MemoryServerError):
        kind.restore(world)
    if kept is not None:
        assert world.found("lighthouse keeper") == [kept]
    assert traces(world, sqlite) == []
    assert KEPT_TOKEN in sqlite(world.path, ".dump") or kind is not MEMORY


def test_everything_purged_together_leaves_no_byte(world: World, sqlite: Sqlite) -> None:
    for kind in KINDS:
        kind.make(world)
    for kind in KINDS:
        kind.purge(world)
    assert traces(world, sqlite) == []
    assert traces(world, sqlite, KEPT_TOKEN) != []


def test_a_purge_of_short_term_memories_takes_those_deleted_before_with_it(
    world: World, sqlite: Sqlite
) -> None:
    make_short_term(world)
    SHORT_TERM.delete(world)
    make_short_term(world)
    assert SHORT_TERM.purge(world) == Forgotten(2, None)
    assert traces(world, sqlite) == []


@pytest.mark.parametrize("name", ["memory.db", "memory [1]*?.db"])
@each_kind
def test_a_purge_removes_the_copies_from_before_migrations(
    make: Callable[[Path], World], tmp_path: Path, kind: Kind, name: str
) -> None:
    if os.name == "nt" and name != "memory.db":
        pytest.skip("no such names there")
    world = make(tmp_path / name)
    kind.make(world)
    copies = [tmp_path / f"{name}.before-0006", tmp_path / f"{name}.before-0009"]
    others = [tmp_path / "other.db.before-0009", tmp_path / f"{name}.backup"]
    for copy in (*copies, *others):
        copy.write_text(TOKEN)
    kind.delete(world)
    assert all(copy.exists() for copy in copies)
    kind.purge(world)
    assert [copy for copy in copies if copy.exists()] == []
    assert all(other.exists() for other in others)


# What is not there


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda w: w.memories.restore(7), "No memory 7 was deleted in the last 30 days. Nothing was restored."),
        (lambda w: w.memories.restore(2), "No memory 2 was deleted in the last 30 days. Nothing was restored."),
        (lambda w: w.memories.forget(7, True, CLAUDE), "No memory 7."),
        (lambda w: w.memories.forget(7, False, CLAUDE), "No memory 7."),
        (lambda w: w.turns.restore(7), "No turn 7 was deleted in the last 30 days. Nothing was restored."),
        (lambda w: w.turns.forget(7, True, CLAUDE), "No turn 7."),
        (lambda w: w.turns.forget(7, False, CLAUDE), "No turn 7."),
        (lambda w: w.facts.undelete("no.key", None, CLAUDE), "No deleted fact `no.key`."),
        (
            lambda w: w.short_term.restore(parse("nowhere"), f"talk with {TOKEN}", caller=Caller()),
            f"No short-term memory of `talk with {TOKEN}` that contains this was deleted in the last 30 days. "
            "Nothing was restored.",
        ),
        (
            lambda w: w.short_term.restore(parse(TOKEN), "elsewhere", caller=Caller()),
            "No short-term memory of `elsewhere` that contains this was deleted in the last 30 days. "
            "Nothing was restored.",
        ),
        (
            lambda w: w.long_term.restore("nobody", f"talk with {TOKEN}", caller=Caller()),
            f"No long-term memory `nobody` of the conversation `talk with {TOKEN}` was deleted in the last 30 days. "
            "Nothing was restored.",
        ),
        (
            lambda w: w.long_term.delete("nobody", f"talk with {TOKEN}", True, CLAUDE),
            f"No long-term memory `nobody` in the conversation `talk with {TOKEN}`. There are: {TOKEN} name.",
        ),
    ],
)  # fmt: skip
def test_to_restore_or_purge_what_is_not_there_changes_nothing(
    world: World, act: Callable[[World], object], told: str
) -> None:
    for kind in KINDS:
        kind.make(world)
    copy = world.path.with_name("memory.db.before-0009")
    copy.write_text("copy")
    rows = world.rows()
    with pytest.raises(NotFound) as error:
        act(world)
    assert str(error.value) == told
    assert world.rows() == rows
    assert copy.exists()


def test_a_purge_of_an_unknown_fact_or_pattern_says_that_nothing_was_erased(world: World) -> None:
    for kind in KINDS:
        kind.make(world)
    rows = world.rows()
    assert world.facts.purge("no.key", None, CLAUDE) == (None, Forgotten(0, None))
    assert world.short_term.delete(parse("nowhere"), f"talk with {TOKEN}", True, CLAUDE)[1] == Forgotten(
        0, None
    )
    assert world.short_term.delete(parse("nowhere"), f"talk with {TOKEN}", False, CLAUDE)[1] == Forgotten(
        0, None
    )
    assert world.rows() == rows


def test_what_is_deleted_already_cannot_be_deleted_again_but_tells_how_to_find_others(world: World) -> None:
    make_memory(world)
    MEMORY.delete(world)
    with pytest.raises(NotFound) as error:
        MEMORY.delete(world)
    assert error.value.problem.hints == (Hint(Mend.FIND_MEMORY),)


# Thirty days


def purge_after_30_days(world: World, clock: Clock) -> None:
    """On the second day after them on which a server runs."""
    for days in (31, 1):
        clock.advance(days=days)
        world.forgetting.purge_due()


@each_kind
def test_after_30_days_it_is_erased_by_itself(world: World, kind: Kind, clock: Clock, sqlite: Sqlite) -> None:
    kind.make(world)
    kind.delete(world)
    clock.advance(days=30)
    world.forgetting.purge_due()
    clock.advance(days=1)
    world.forgetting.purge_due()
    with world.database.read() as tx:
        there = tx.value("SELECT count(*) FROM trash") + tx.value("SELECT count(*) FROM fact_history")
    assert there > 0
    clock.advance(days=1)
    world.forgetting.purge_due()
    with pytest.raises(NotFound):
        kind.restore(world)
    assert traces(world, sqlite) == []


def test_how_a_memory_was_before_an_edit_goes_after_30_days_or_with_its_purge(
    world: World, clock: Clock, sqlite: Sqlite
) -> None:
    old, other = (
        world.store(f"The harbour {TOKEN} opens at noon"),
        world.store(f"A lighthouse {TOKEN} at sea"),
    )
    for id in (old, other):
        world.memories.update(id, MemoryChange(content=f"Nothing of {KEPT_TOKEN} {id}"), CLAUDE)

    def number() -> int:
        with world.database.read() as tx:
            return int(tx.value("SELECT count(*) FROM changes"))

    assert number() == 2
    world.memories.forget(other, True, CLAUDE)
    assert number() == 1
    clock.advance(days=30)
    world.forgetting.purge_due()
    assert number() == 1
    purge_after_30_days(world, clock)
    assert number() == 0
    world.memories.forget(old, True, CLAUDE)
    assert traces(world, sqlite) == []


def test_much_that_was_deleted_together_is_erased_together(
    world: World, clock: Clock, sqlite: Sqlite
) -> None:
    number = 2 * AT_ONCE + 5
    with world.database.write() as tx:
        tx.execute("INSERT INTO conversations (name) VALUES ('talk')")
        tx.execute(
            """
            WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?)
            INSERT INTO short_term_memories (conversation_id, text) SELECT 1, 'user: ' || ? || value FROM numbers
            """,
            (number, TOKEN),
        )
    _, forgotten = world.short_term.delete(parse(f"/{TOKEN}/"), "talk", False, CLAUDE)
    assert forgotten.number == number
    purge_after_30_days(world, clock)
    assert traces(world, sqlite) == []


def test_what_was_deleted_later_outlives_what_was_deleted_earlier(world: World, clock: Clock) -> None:
    make_memory(world)
    make_turn(world)
    MEMORY.delete(world)
    clock.advance(days=20)
    TURN.delete(world)
    for days in (10, 1, 1):
        clock.advance(days=days)
        world.forgetting.purge_due()
    with pytest.raises(NotFound):
        MEMORY.restore(world)
    TURN.restore(world)


def test_a_fact_that_was_written_again_after_its_deletion_keeps_its_history(
    world: World, clock: Clock
) -> None:
    make_fact(world)
    FACT.delete(world)
    world.facts.write(FactDraft(f"{TOKEN}.key", "again"), Scope.PROJECT, CLAUDE)
    purge_after_30_days(world, clock)
    assert world.facts.history(f"{TOKEN}.key", None, 10, CLAUDE).changes[-1].version == 1


def test_the_erasing_writes_nothing_where_nothing_is_due(world: World, clock: Clock) -> None:
    make_memory(world)
    MEMORY.delete(world)
    for days in (28, 1):
        clock.advance(days=days)
        world.forgetting.purge_due()
    before = world.path.read_bytes()
    world.forgetting.purge_due()
    assert world.path.read_bytes() == before


# Copies


def aged(copy: Path, clock: Clock, age: timedelta) -> Path:
    copy.write_text("an old copy")
    moment = (clock() - age).timestamp()
    os.utime(copy, (moment, moment))
    return copy


def test_a_copy_goes_after_30_days_of_sound_use(world: World, clock: Clock) -> None:
    two_days_later(world.database, clock)
    old = aged(world.path.with_name("memory.db.before-0006"), clock, KEPT + timedelta(days=2))
    young = aged(world.path.with_name("memory.db.before-0009"), clock, KEPT - timedelta(minutes=1))
    world.forgetting.purge_due()
    assert (old.exists(), young.exists()) == (False, True)


def test_a_copy_stays_where_the_file_is_damaged(tmp_path: Path, clock: Clock, sqlite: Sqlite) -> None:
    """Then it may be all that is left."""
    path = tmp_path / "memory.db"
    database = Database(path, clock)
    with database.write() as tx:
        for number in range(200):
            tx.execute(
                "INSERT INTO memories (content, type) VALUES (?, 'error')", (f"{number} " + "x" * 900,)
            )
    page = int(sqlite(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'memories_by_project'"))
    two_days_later(database, clock)
    database.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096 + 100)
        file.write(b"\xff" * 3000)
    copy = aged(tmp_path / "memory.db.before-0006", clock, KEPT + timedelta(days=9))
    database = Database(path, clock)
    with pytest.raises(Unavailable, match="is damaged"):
        ForgettingService(database).purge_due()
    assert copy.exists()
    database.close()


# Expired facts


def test_an_expired_fact_leaves_no_value_behind(world: World, clock: Clock, sqlite: Sqlite) -> None:
    for number in range(2):
        draft = FactDraft("door.code", {"code": f"{TOKEN} {number}"}, (TOKEN,), ttl=60)
        world.facts.write(draft, Scope.PROJECT, CLAUDE)
    clock.advance(seconds=61)
    assert world.facts.read("door.code", None, (), CLAUDE) is None
    two_days_later(world.database, clock)
    world.facts.remove_expired()
    assert TOKEN not in repr(world.rows())
    changes = world.facts.history("door.code", None, 10, CLAUDE).changes
    assert {(change.value, change.tags) for change in changes} == {(None, ())}
    assert changes[0].action == "expired"
    with pytest.raises(NotFound):
        world.facts.undelete("door.code", None, CLAUDE)
    make_turn(world)
    TURN.purge(world)
    assert traces(world, sqlite) == []


def test_an_expired_fact_that_is_written_anew_leaves_no_old_value_behind(world: World, clock: Clock) -> None:
    world.facts.write(FactDraft("door.code", TOKEN, ttl=60), Scope.PROJECT, CLAUDE)
    clock.advance(seconds=61)
    written = world.facts.write(FactDraft("door.code", "a new one"), Scope.PROJECT, CLAUDE)
    assert written.created
    with world.database.read() as tx:
        assert TOKEN not in repr(tx.rows("SELECT * FROM fact_history"))


def test_a_deleted_fact_leaves_nothing_behind_once_it_would_have_expired(
    world: World, clock: Clock, sqlite: Sqlite
) -> None:
    """It cannot be brought back from then on, so there is no reason to keep it for 30 days."""
    world.facts.write(FactDraft("door.code", TOKEN, ttl=60), Scope.PROJECT, CLAUDE)
    world.facts.delete("door.code", None, CLAUDE)
    world.forgetting.purge_due()
    world.facts.undelete("door.code", None, CLAUDE)
    world.facts.delete("door.code", None, CLAUDE)
    two_days_later(world.database, clock)
    world.forgetting.purge_due()
    with pytest.raises(NotFound):
        world.facts.undelete("door.code", None, CLAUDE)
    assert traces(world, sqlite) == []


# Conversations


@pytest.mark.parametrize("kind", [SHORT_TERM, LONG_TERM], ids=lambda kind: kind.name)
def test_the_name_of_a_conversation_goes_when_nothing_of_it_is_left(
    world: World, kind: Kind, clock: Clock
) -> None:
    kind.make(world)
    kind.delete(world)
    assert world.short_term.largest() is None
    purge_after_30_days(world, clock)
    assert world.rows()["conversations"] == []


def test_the_name_of_a_conversation_stays_while_anything_of_it_is_left(world: World) -> None:
    make_short_term(world)
    make_long_term(world)
    SHORT_TERM.purge(world)
    assert len(world.rows()["conversations"]) == 1
    LONG_TERM.purge(world)
    assert world.rows()["conversations"] == []


def test_a_conversation_of_which_all_is_deleted_is_not_named_in_statistics(world: World) -> None:
    make_short_term(world)
    SHORT_TERM.delete(world)
    statistics = world.short_term.statistics(None)
    assert (statistics.totals.memories, statistics.totals.conversations, statistics.by_conversation) == (
        0,
        0,
        [],
    )


def test_the_trash_is_json_that_the_stock_program_reads(world: World, sqlite: Sqlite) -> None:
    make_memory(world)
    MEMORY.delete(world)
    world.database.close()
    (row,) = json.loads(sqlite(world.path, ".mode json", "SELECT * FROM readable_trash"))
    assert (row["kind"], row["item_id"], row["deleted_by"]) == ("memory", 2, "Claude")
    assert json.loads(row["parts"])["memories"][0]["content"] == f"At last {TOKEN} said orchids are blue"


# Any order


class Machine(RuleBasedStateMachine):
    """Memories with edges: what is there, what is deleted, and what is gone, beside a model in plain Python."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.database = InMemory(Clock())
        embedder = HashingEmbedder()
        queue = EmbeddingQueue(self.database, lambda known: embedder, lambda space: embedder, Clock())
        self.memories = MemoryService(self.database, queue, NoChinese())
        self.graph = GraphService(self.database, queue)
        self.there: dict[int, list[str]] = {}
        self.deleted: dict[int, list[str]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.number = 0

    def text(self) -> str:
        self.number += 1
        return f"word{self.number} other{self.number}"

    @rule(target=ids)
    def store(self) -> MemoryId:
        text = self.text()
        stored = self.memories.store(MemoryDraft(text, MemoryType.ERROR), None, CLAUDE).memory
        assert stored.id not in {**self.there, **self.deleted}
        self.there[stored.id] = [text]
        return stored.id

    @rule(id=ids)
    def update(self, id: MemoryId) -> None:
        text = self.text()
        with self.expected(id in self.there):
            self.memories.update(id, MemoryChange(content=text), caller=Caller())
            self.there[id].insert(0, text)

    @rule(one=ids, other=ids)
    def connect(self, one: MemoryId, other: MemoryId) -> None:
        if one != other:
            with self.expected(one in self.there and other in self.there):
                self.graph.connect(Edge(one, other), CLAUDE)
                self.edges.add((one, other))

    @rule(id=ids)
    def delete(self, id: MemoryId) -> None:
        with self.expected(id in self.there):
            self.memories.forget(id, False, CLAUDE)
            self.deleted[id] = self.there.pop(id)

    @rule(id=ids)
    def undo(self, id: MemoryId) -> None:
        with self.expected(id in self.deleted):
            self.memories.restore(id)
            self.there[id] = self.deleted.pop(id)

    @rule(id=ids)
    def purge(self, id: MemoryId) -> None:
        with self.expected(id in self.there or id in self.deleted):
            self.memories.forget(id, True, CLAUDE)
            self.there.pop(id, None)
            self.deleted.pop(id, None)
            self.edges = {edge for edge in self.edges if id not in edge}

    @contextmanager
    def expected(self, possible: bool) -> Iterator[None]:
        """What is done inside succeeds, or is refused with NotFound where it is not possible."""
        if possible:
            yield
        else:
            with pytest.raises(NotFound):
                yield

    @invariant()
    def the_file_holds_what_the_model_holds(self) -> None:
        with self.database.read() as tx:
            ids = {id for (id,) in tx.rows("SELECT id FROM memories")}
            edges = {(one, other) for one, other in tx.rows("SELECT source_id, target_id FROM edges")}
            trashed = {id for (id,) in tx.rows("SELECT item_id FROM trash")}
            words = " ".join(text for (text,) in tx.rows("SELECT content FROM memory_words"))
            everything = repr(
                [*tx.rows("SELECT * FROM memory_history"), *tx.rows("SELECT * FROM trash"), words]
            )
        read = self.memories.get([MemoryId(id) for id in self.there] or [MemoryId(1)]).memories
        assert {each.memory.id: [each.memory.content, *each.earlier] for each in read} == self.there
        assert (ids, trashed) == (set(self.there), set(self.deleted))
        assert edges == {edge for edge in self.edges if set(edge) <= ids}
        assert set(words.split()) == {word for texts in self.there.values() for word in texts[0].split()}
        known = [text for texts in [*self.there.values(), *self.deleted.values()] for text in texts]
        assert set(re.findall(r"word\d+ other\d+", everything)) <= set(known)

    def teardown(self) -> None:
        assert problems(self.database) == []
        self.database.close()


class NoChinese:
    """A segmenter for texts without Chinese."""

    def load(self) -> None: ...

    def segment(self, text: str) -> list[str]:
        return [text]

    def overlapping(self, text: str) -> list[str]:
        return [text]


TestAnyOrder = Machine.TestCase
TestAnyOrder.settings = settings(max_examples=15, stateful_step_count=25, derandomize=True)
