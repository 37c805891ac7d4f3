"""What services do not show of memories on PostgreSQL: who sees what, counts, ids, and what keeps tenants apart."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.call import acting
from memory_server.domain import rights
from memory_server.domain.caller import Caller, Person
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.forgetting import Kind
from memory_server.domain.memory import Filter, Memory, MemoryDraft, MemoryId, MemoryType
from memory_server.errors import Conflict, Invalid
from memory_server.postgres.database import Database
from memory_server.sqlite.rights import RIGHTS
from memory_server.storage.tx import WriteTx
from tests.conftest import Clock
from tests.postgres_server import new_tenant

CALLER = Caller("tests", "s1")
BOB = Person("bob", frozenset({"blog"}))

PEOPLE = st.builds(
    Person,
    st.sampled_from(["ana", "bob", "an", "ana "]),
    st.one_of(st.none(), st.frozensets(st.sampled_from(["shop", "blog", "sho", "", "*"]))),
)
OWNERS = st.one_of(st.none(), st.sampled_from(["ana", "bob", "an", "ana "]))
PLACES = st.one_of(st.none(), st.sampled_from(["shop", "blog", "sho", "Shop", "*"]))

few = settings(max_examples=25)


def insert(
    tx: WriteTx, text: str = "x", project: str | None = None, person: str | None = None, **more: Any
) -> Memory:
    type = more.pop("type", MemoryType.ERROR)
    return tx.memories.insert(MemoryDraft(text, type, project, person=person, **more), CALLER)


def edge(source: int, target: int, relation: Relation = Relation.CAUSES) -> Edge:
    return Edge(MemoryId(source), MemoryId(target), relation)


# Rights


@few
@given(person=PEOPLE, rows=st.lists(st.tuples(OWNERS, PLACES), max_size=8))
def test_a_person_sees_what_the_rule_says(
    tenant: Database, person: Person, rows: list[tuple[str | None, str | None]]
) -> None:
    """Memories and what hangs on them, in tables and by each way of the contract."""
    with tenant.write() as tx:
        tx.trash.erase(tx.trash.older("9", None))
        tx.execute("DELETE FROM memories")
        tx.execute("DELETE FROM projects")
        there = [insert(tx, f"text {number}", project, own) for number, (own, project) in enumerate(rows)]
        deleted = [insert(tx, "deleted", project, own).id for own, project in rows]
        tx.trash.put(Kind.MEMORY, deleted, CALLER)
        ids = [memory.id for memory in there]
        for memory in there:
            tx.memories.keep_merged(memory.id, "earlier")
            tx.changes.keep_memory(memory, CALLER)
        for one, following in pairwise(ids):
            tx.edges.connect(edge(one, following), CALLER)
    seen = {id for id, row in zip(ids, rows, strict=True) if rights.sees(person, *row)}
    gone = {id for id, row in zip(deleted, rows, strict=True) if rights.sees(person, *row)}
    pairs = {(one, following) for one, following in pairwise(ids) if {one, following} <= seen}
    with acting.as_(person), tenant.read() as tx:
        assert {id for (id,) in tx.rows("SELECT id FROM memories")} == seen
        for table in ("memory_history", "changes", "memory_words"):
            assert {id for (id,) in tx.rows(f"SELECT memory_id FROM {table}")} == seen, table
        assert set(tx.rows("SELECT source_id, target_id FROM edges")) == pairs
        assert {each.id for each in tx.memories.select(ids)} == seen
        assert {each.id for each in tx.candidates.newest(Filter(), 99, 0)} == seen
        assert set(tx.memories.earlier(ids)) == seen
        assert {each.item_id for each in tx.trash.select(Kind.MEMORY)} == gone
        assert tx.memory_counts.total() == len(seen)
        assert {name for (name,) in tx.rows("SELECT name FROM projects")} == {
            name for _, name in rows if name and rights.has(person, name)
        }


WRITES = (
    "UPDATE memories SET content = 'z'",
    "UPDATE memories SET person = 'bob'",
    "UPDATE memories SET access_count = 9",
    "DELETE FROM memories",
    "UPDATE memory_history SET content = 'z'",
    "DELETE FROM memory_history",
    "UPDATE edges SET strength = 0",
    "DELETE FROM edges",
    "UPDATE changes SET before = '{}'",
    "DELETE FROM changes",
    "UPDATE trash SET parts = '{}'",
    "DELETE FROM trash",
    "DELETE FROM memory_uses",
    "DELETE FROM memory_counts",
    "UPDATE projects SET folder = '/'",
    "DELETE FROM projects",
    "DELETE FROM origins",
)
TABLES = (
    "memories",
    "memory_history",
    "edges",
    "changes",
    "trash",
    "memory_uses",
    "memory_counts",
    "projects",
    "origins",
)


@pytest.fixture
def of_ana(tenant: Database) -> Database:
    """A tenant whose memories are ana's own and of the project shop."""
    with tenant.write() as tx:
        own, other, shared = insert(tx, person="ana"), insert(tx, person="ana"), insert(tx, project="shop")
        tx.memories.replace(own, replace(own, content="y"), "rewritten")
        tx.edges.connect(edge(own.id, other.id), CALLER)
        tx.edges.connect(edge(own.id, shared.id), CALLER)
        tx.changes.keep_memory(own, CALLER)
        tx.trash.put(Kind.MEMORY, [insert(tx, person="ana").id, insert(tx, project="shop").id], CALLER)
    with acting.as_(Person("ana")), tenant.write() as tx:
        tx.memory_uses.show([own.id], "s1")
    return tenant


def rows(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.read() as tx:
        return {table: tx.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


@pytest.mark.parametrize("statement", WRITES)
def test_a_row_of_somebody_else_is_passed_over(of_ana: Database, statement: str) -> None:
    before = rows(of_ana)
    with acting.as_(BOB), of_ana.write() as tx:
        assert tx.execute(statement) == 0
    assert rows(of_ana) == before


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO memories (content, type, person) VALUES ('x', 'error', 'ana')",
        "INSERT INTO memories (content, type, project) VALUES ('x', 'error', 'shop')",
        "INSERT INTO memories (content, type) VALUES ('x', 'error')",
        "INSERT INTO memories (tenant_id, content, type, person) VALUES (0, 'x', 'error', 'bob')",
        "INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'solves')",
        "INSERT INTO memory_history (memory_id, content, reason, replaced_at) VALUES (1, 'y', 'merged', '2026')",
        "INSERT INTO trash (kind, item_id, parts, person) VALUES ('turn', 1, '{}', 'ana')",
        "INSERT INTO projects (name) VALUES ('tower')",
        "UPDATE memories SET person = 'ana'",
        "UPDATE memories SET project = 'shop', person = NULL",
    ],
)
def test_no_row_can_become_somebody_elses(of_ana: Database, statement: str) -> None:
    with acting.as_(BOB), of_ana.write() as tx:
        insert(tx, person="bob")
    before = rows(of_ana)
    with acting.as_(BOB), pytest.raises(Conflict), of_ana.write() as tx:
        tx.execute(statement)
    assert rows(of_ana) == before


def test_what_a_person_writes_without_a_project_is_the_persons_own(tenant: Database) -> None:
    ana = Person("ana")
    with acting.as_(ana), tenant.write() as tx:
        memory = insert(tx, project="shop")
        assert memory.person is None
        own = tx.memories.replace(memory, replace(memory, project=None), "rewritten")
        assert own.person == "ana"
        again = tx.memories.replace(own, replace(own, content="y"), "rewritten")
        assert (
            again.person,
            tx.memories.replace(again, replace(again, project="shop"), "rewritten").person,
        ) == (
            "ana",
            None,
        )


def test_an_edge_comes_back_with_its_memory_also_to_what_the_person_does_not_see(tenant: Database) -> None:
    with tenant.write() as tx:
        own, hidden = insert(tx, person="ana"), insert(tx, project="shop")
        tx.edges.connect(edge(own.id, hidden.id), CALLER)
    with acting.as_(Person("ana", frozenset())):
        with tenant.write() as tx:
            assert tx.trash.put(Kind.MEMORY, [hidden.id, own.id], CALLER) == 1
        with tenant.write() as tx:
            (lying,) = tx.trash.select(Kind.MEMORY)
            tx.trash.restore(lying)
            assert tx.edges.hubs(9) == []
    with tenant.read() as tx:
        assert {(each.source, each.target) for each in tx.edges.strongest(own.id, 9)} == {(own.id, hidden.id)}


# Tenants


def test_a_statement_without_a_tenant_sees_and_changes_nothing_of_another_tenant(
    of_ana: Database, clock: Clock
) -> None:
    other = new_tenant(clock)
    before = rows(of_ana)
    with other.write() as tx:
        tables = [
            name
            for (name,) in tx.rows(
                """
                SELECT c.relname
                FROM pg_class AS c
                JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
                WHERE c.relkind = 'r' AND c.relnamespace = 'memory_server'::regnamespace
                    AND has_table_privilege('memory_server', c.oid, 'SELECT')
                """
            )
        ]
        assert set(TABLES) < set(tables)
        for table in tables:
            assert tx.rows(f"SELECT * FROM {table}") == [], table
        for statement in WRITES:
            assert tx.execute(statement) == 0
    with pytest.raises(Conflict), other.write() as tx:
        tx.execute("INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'causes')")
    with other.write() as tx:
        assert insert(tx).id == 1
    assert rows(of_ana) == before
    assert other.problems() == []
    other.close()


# Counts, marks and ids

CHANGES = st.lists(
    st.tuples(
        st.sampled_from(
            ["insert", "refile", "supersede", "end", "delete", "restore", "erase", "rename", "digest"]
        ),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from([None, "shop", "blog"]),
        st.sampled_from([MemoryType.ERROR, MemoryType.OBSERVATION]),
    ),
    max_size=25,
)


@settings(few, max_examples=40)
@given(changes=CHANGES)
def test_counts_and_marks_are_right_after_any_changes_and_no_id_comes_twice(
    tenant: Database, changes: list[tuple[str, int, int, str | None, MemoryType]]
) -> None:
    given: list[int] = []
    for what, one, other, project, type in changes:
        with tenant.write() as tx:
            there = tx.candidates.newest(Filter(), 6, 0)
            trashed = tx.trash.select(Kind.MEMORY)
            match what:
                case "insert":
                    given.append(insert(tx, project=project, type=type, importance=1 + one).id)
                case "refile" if one < len(there):
                    changed = replace(there[one], project=project, type=type, importance=1 + other)
                    tx.memories.replace(there[one], changed, "rewritten")
                case "supersede" | "end" if max(one, other) < len(there) and one != other:
                    supersedes = edge(there[one].id, there[other].id, Relation.SUPERSEDES)
                    if what == "end":
                        tx.edges.end(supersedes)
                    else:
                        tx.edges.connect(supersedes, CALLER)
                case "delete":
                    tx.trash.put(Kind.MEMORY, [each.id for each in there[one : one + other]], CALLER)
                case "restore" if one < len(trashed):
                    tx.trash.restore(trashed[one])
                case "erase" if one < len(trashed):
                    tx.trash.erase([trashed[one].id])
                case "rename" if project is not None:
                    tx.send(
                        "UPDATE projects SET name = %s WHERE name = %s AND NOT EXISTS"
                        " (SELECT 1 FROM projects WHERE name = %s)",
                        (f"{project}s", project, f"{project}s"),
                    )
                case "digest" if max(one, other) < len(there) and one != other:
                    tx.send(
                        "INSERT INTO digested (kind, item_id, digest_id) VALUES ('memory', %s, %s)"
                        " ON CONFLICT DO NOTHING",
                        (there[one].id, there[other].id),
                    )
    assert given == sorted(set(given))
    with tenant.read() as tx:
        assert tx.memory_counts.wrong() == []
        everything = tx.candidates.newest(Filter(), 10_000, 0)
        assert tx.memory_counts.total() == len(everything)
        assert sum(tx.memory_counts.by_project(None).values()) == len(everything)
        for project in (None, "shop"):
            current = [each for each in everything if each.project == project and not each.superseded_by]
            assert tx.memory_counts.current(project or "") == len(current)


def test_counting_anew_mends_what_is_wrong(tenant: Database) -> None:
    with tenant.write() as tx:
        one, other = insert(tx), insert(tx, project="shop")
        tx.edges.connect(edge(one.id, other.id, Relation.SUPERSEDES), CALLER)
        tx.send("UPDATE memories SET replaced = NOT replaced")
        tx.send("UPDATE memory_counts SET number = 7")
        assert tx.memory_counts.wrong() == [
            "2 memories are marked wrongly as replaced by others or not",
            "the counts of memories are wrong",
        ]
        tx.memory_counts.mend()
        assert tx.memory_counts.wrong() == []


def test_an_id_is_used_once_also_where_it_was_the_last_and_is_erased(tenant: Database) -> None:
    with tenant.write() as tx:
        ids = [insert(tx).id for _ in range(3)]
        tx.trash.put(Kind.MEMORY, ids[1:], CALLER)
        tx.trash.erase(tx.trash.older("9", None))
    with tenant.write() as tx:
        assert insert(tx).id == 4
        history = tx.value("SELECT next_id('memory_history')")
        tx.memories.keep_merged(MemoryId(4), "earlier")
        tx.memories.drop_earlier(MemoryId(4), "earlier")
        assert tx.value("SELECT next_id('memory_history')") == history + 1


def test_of_two_servers_each_gives_ids_of_its_own(tenant: Database, clock: Clock) -> None:
    other = Database(tenant.place, clock)
    for number, database in enumerate([tenant, other, tenant, other], 1):
        with database.write() as tx:
            assert insert(tx).id == number
    other.close()


# What hangs on a memory


def test_a_long_text_is_embedded_anew_where_its_tags_change_and_a_short_one_is_not(tenant: Database) -> None:
    with tenant.write() as tx:
        tx.send(
            """
            INSERT INTO spaces (
                provider, model, revision, dimensions, query_prompt, document_prompt, transform, chinese, lexical,
                fingerprint, state
            )
            VALUES ('p', 'm', '1', 2, '', '', '', true, true, 'f', 'active')
            """
        )
        long, short = insert(tx, "word " * 1_100), insert(tx, "word")
        for memory in (long, short):
            tx.send(
                "INSERT INTO embeddings (space_id, memory_id, vector) VALUES (1, %s, '[1, 0]')", (memory.id,)
            )
        tx.send("DELETE FROM embedding_queue")
        for memory in (long, short):
            tx.memories.replace(memory, replace(memory, tags=("a",)), "rewritten")
        assert tx.rows("SELECT memory_id FROM embedding_queue") == [(long.id,)]
        assert tx.rows("SELECT memory_id FROM embeddings") == [(short.id,)]
        tx.memories.replace(short, replace(short, content="other"), "rewritten")
        assert tx.rows("SELECT memory_id FROM embedding_queue ORDER BY 1") == [(long.id,), (short.id,)]
        assert tx.rows("SELECT memory_id FROM embeddings") == []


def test_two_that_are_deleted_together_come_back_with_their_edge_in_any_order(tenant: Database) -> None:
    orders: tuple[Callable[[list[Any]], list[Any]], ...] = (list, lambda lying: lying[::-1])
    for order in orders:
        with tenant.write() as tx:
            one, other = insert(tx, "one", metadata={"a": "\x00"}), insert(tx, "other", tags=("t",))
            tx.edges.connect(edge(one.id, other.id, Relation.SUPERSEDES), CALLER)
            before = tx.memories.select([one.id, other.id])
            assert tx.trash.put(Kind.MEMORY, [one.id, other.id, one.id], CALLER) == 2
        with tenant.write() as tx:
            for lying in order(tx.trash.select(Kind.MEMORY)):
                found = tx.trash.find(lying.id)
                assert found is not None
                tx.trash.restore(found)
        with tenant.read() as tx:
            assert tx.memories.select([one.id, other.id]) == before
            assert tx.trash.select(Kind.MEMORY) == []


def test_an_edge_to_what_is_erased_does_not_come_back(tenant: Database) -> None:
    with tenant.write() as tx:
        one, other = insert(tx), insert(tx)
        tx.edges.connect(edge(one.id, other.id), CALLER)
        tx.trash.put(Kind.MEMORY, [one.id], CALLER)
        tx.trash.put(Kind.MEMORY, [other.id], CALLER)
        second = tx.trash.find_last(Kind.MEMORY, other.id)
        assert second is not None
        tx.trash.erase([second.id])
        lying = tx.trash.find_last(Kind.MEMORY, one.id)
        assert lying is not None
        assert lying.parts["edges"] == []
        tx.trash.restore(lying)
        assert tx.edges.hubs(9) == []


def test_every_table_has_the_right_that_it_has_in_a_file(tenant: Database) -> None:
    """A table without row-level security shows every tenant to every person."""
    with tenant.read() as tx:
        guarded = {
            name
            for (name,) in tx.rows(
                """
                SELECT c.relname FROM pg_class AS c JOIN pg_policy ON polrelid = c.oid
                WHERE relnamespace = 'memory_server'::regnamespace AND relrowsecurity AND NOT relispartition
                """
            )
        }
        granted = {
            name
            for (name,) in tx.rows(
                """
                SELECT relname FROM pg_class
                WHERE relnamespace = 'memory_server'::regnamespace AND relkind IN ('r', 'p')
                    AND has_table_privilege('memory_server', oid, 'SELECT')
                """
            )
        }
    words = {"memory_words", "fact_words", "turn_words", "short_term_words", "word_totals"}
    own = words | {"spaces", "erasures", "server_days", "writes"}
    assert guarded == RIGHTS.keys() - {"embedding_bits", "memory_overwritten"} | own
    assert granted - guarded == {"migrations", "tenants"}


def test_a_memory_of_a_persons_own_supersedes_none_that_others_see(tenant: Database) -> None:
    with tenant.write() as tx:
        own, shared = insert(tx, person="ana"), insert(tx, project="shop")
        tx.edges.link(own, shared, Relation.RELATED_TO, CALLER)
        with pytest.raises(Invalid):
            tx.edges.link(own, shared, Relation.SUPERSEDES, CALLER)
    with tenant.read() as tx:
        assert tx.rows("SELECT source_id, target_id, relation FROM edges") == [
            (own.id, shared.id, "related_to")
        ]


def test_a_memory_is_given_as_it_was_inserted_and_replaced(tenant: Database) -> None:
    with tenant.write() as tx:
        inserted = insert(tx, project="shop")
        assert tx.memories.get(inserted.id) == inserted
        wanted = replace(
            inserted, content="other", tags=("a", "数"), metadata={"k": [1.5, None]}, project=None
        )
        replaced = tx.memories.replace(inserted, wanted, "rewritten")
        assert tx.memories.get(inserted.id) == replaced
        assert insert(tx).id == inserted.id + 1
