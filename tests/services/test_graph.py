"""The knowledge graph: what connecting, walking and asking for neighbours do, on a real database."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Direction, Edge, Explored, Linked, Relation, Walk
from memory_server.domain.exchange.records import EdgeRecord
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.ranking import NEIGHBOUR_WEIGHT, Hit
from memory_server.embedding import Embedder
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, Problem, Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services import graph as services_graph
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.filling import FEW
from memory_server.services.graph import REACH, GraphService
from memory_server.services.memories import MemoryService
from memory_server.services.search import SearchService
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx
from memory_server.transfer import writing
from tests.conftest import Clock, file_of, rounds

networkx: Any = importlib.import_module("networkx")

CALLER = Caller("tests", "session-1")
SUPERSEDES = Relation.SUPERSEDES
NO_QUEUE: Any = None
"""Walking asks for no embedding."""

FIND_MEMORY = (Hint(Mend.FIND_MEMORY),)

Connect = Callable[..., Edge]
Remember = Callable[..., int]


@pytest.fixture
def graph(database: Database, queue: EmbeddingQueue) -> GraphService:
    return GraphService(database, queue)


@pytest.fixture
def service(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def search(database: Database, queue: EmbeddingQueue) -> SearchService:
    return SearchService(database, queue)


@pytest.fixture
def remember(service: MemoryService) -> Remember:
    """Stores a decision of project p in a session of its own, where it stands beside nothing; its id."""

    def remember(content: str, related_to: int | None = None, project: str = "p") -> int:
        draft = MemoryDraft(content, MemoryType.DECISION, project, session=content)
        return service.store(draft, None if related_to is None else MemoryId(related_to), CALLER).memory.id

    return remember


@pytest.fixture
def connect(graph: GraphService) -> Connect:
    """Connects two memories, with related_to unless told otherwise."""

    def connect(
        source: int, target: int, relation: Relation = Relation.RELATED_TO, strength: float = 1.0
    ) -> Edge:
        return graph.connect(edge(source, target, relation, strength), CALLER)

    return connect


def edge(source: int, target: int, relation: Relation = Relation.RELATED_TO, strength: float = 1.0) -> Edge:
    return Edge(MemoryId(source), MemoryId(target), relation, strength)


def fill(database: Database, number: int) -> None:
    """Memories 1 to `number`, not embedded."""
    with database.write() as tx:
        insert(tx, number)


def insert(tx: WriteTx, number: int) -> None:
    for each in range(1, number + 1):
        tx.memories.insert(MemoryDraft(f"memory {each}", MemoryType.DECISION), CALLER)


def explore(graph: GraphService, id: int, depth: int = 2, walk: Walk = Walk()) -> Explored:  # noqa: B008 - frozen
    return graph.explore(MemoryId(id), depth, walk)


def distances(explored: Explored) -> dict[int, int]:
    return {node.memory.id: node.distance for node in explored.nodes}


def triples(found: Iterable[Edge]) -> list[tuple[int, str, int]]:
    return [(each.source, each.relation.value, each.target) for each in found]


# Connecting


def test_connecting_answers_the_edge_with_the_moment_from_which_it_holds(
    graph: GraphService, connect: Connect
) -> None:
    fill(graph.database, 2)
    made = connect(1, 2, Relation.SOLVES, 0.4)
    assert made == Edge(
        MemoryId(1), MemoryId(2), Relation.SOLVES, 0.4, valid_from="2026-03-14T09:26:53.589Z", valid_to=None
    )
    with file_of(graph.database).read() as tx:
        assert tx.rows("SELECT created_by FROM edges") == [("tests",)]


def test_connecting_twice_updates_the_strength_and_makes_no_second_edge(
    graph: GraphService, connect: Connect, clock: Clock
) -> None:
    fill(graph.database, 2)
    first = connect(1, 2, strength=0.4)
    clock.advance(hours=1)
    again = connect(1, 2, strength=0.9)
    assert (again.strength, again.valid_from) == (0.9, first.valid_from)
    assert list(explore(graph, 1).edges) == [again]


def test_the_other_direction_and_another_relation_are_edges_of_their_own(
    graph: GraphService, connect: Connect
) -> None:
    fill(graph.database, 2)
    connect(1, 2)
    connect(2, 1)
    connect(1, 2, Relation.CAUSES)
    assert triples(explore(graph, 1).edges) == [(1, "causes", 2), (1, "related_to", 2), (2, "related_to", 1)]


def test_an_edge_from_a_memory_to_itself_is_refused_with_the_mend(
    graph: GraphService, connect: Connect
) -> None:
    fill(graph.database, 1)
    with pytest.raises(Invalid, match=r"^An edge needs two memories, and both ends are 1\.$") as error:
        connect(1, 1)
    assert error.value.problem.hints == FIND_MEMORY


@pytest.mark.parametrize("ends", [(1, 9), (9, 1), (9, 8)])
def test_an_unknown_id_is_refused_with_the_mend_and_nothing_is_written(
    graph: GraphService, connect: Connect, ends: tuple[int, int]
) -> None:
    fill(graph.database, 1)
    with pytest.raises(NotFound, match=r"^No memory 9\.$") as connecting:
        connect(*ends)
    with pytest.raises(NotFound, match=r"^No memory 9\.$") as ending:
        graph.end(edge(*ends))
    assert connecting.value.problem.hints == ending.value.problem.hints == FIND_MEMORY
    assert explore(graph, 1).edges == ()


def test_what_does_not_hold_cannot_be_ended(graph: GraphService, connect: Connect) -> None:
    fill(graph.database, 2)
    connect(2, 1)
    for _ in range(2):
        with pytest.raises(NotFound, match=r"^There is no edge 1 related_to 2\.$") as error:
            graph.end(edge(1, 2))
        assert error.value.problem.hints == (Hint(Mend.SHOW_EDGES, {"memory": 1}),)
        assert len(explore(graph, 1).edges) == 1


# Deleting and merging


def test_deleting_a_memory_takes_its_edges_along(
    graph: GraphService, service: MemoryService, connect: Connect
) -> None:
    fill(graph.database, 4)
    for source, target in [(1, 2), (2, 3), (3, 1), (3, 4)]:
        connect(source, target)
    graph.end(edge(2, 3))
    service.forget(MemoryId(2), False, CALLER)
    assert distances(explore(graph, 1)) == {1: 0, 3: 1, 4: 2}
    with file_of(graph.database).read() as tx:
        assert tx.rows("SELECT source_id, target_id FROM edges ORDER BY id") == [(3, 1), (3, 4)]


def test_a_restatement_connects_the_survivor_without_doubles(
    graph: GraphService, remember: Remember, clock: Clock
) -> None:
    error = remember("The payout job hangs on Mondays")
    text = "We deploy the billing service on Fridays after lunch"
    first = remember(text, related_to=error)
    clock.advance(hours=1)
    assert remember(f"{text}.", related_to=error) == first
    assert remember("Tea is served at four o'clock", related_to=first) == 3
    assert remember(text, related_to=3) == first
    assert triples(explore(graph, first).edges) == [
        (first, "related_to", error),
        (first, "related_to", 3),
        (3, "related_to", first),
    ]


def test_a_restatement_that_is_related_to_its_own_twin_makes_no_edge(
    graph: GraphService, remember: Remember
) -> None:
    text = "We deploy the billing service on Fridays after lunch"
    first = remember(text)
    assert remember(text, related_to=first) == first
    assert explore(graph, first).edges == ()


# Walking: the same as networkx


@dataclass(frozen=True)
class Case:
    """A random graph with a walk on it: edges with strength and the hours from and to which they hold."""

    nodes: int
    edges: list[tuple[int, int, Relation, float, int, int | None]]
    start: int
    depth: int
    walk: Walk
    hour: int | None
    first: int = 1
    """The id of the first memory; those of the others follow."""


def moment(hour: int) -> str:
    return f"2026-03-15T{hour:02d}:00:00.000Z"


@st.composite
def cases(draw: st.DrawFn, most: int = 14) -> Case:
    nodes = draw(st.integers(1, most))
    node = st.integers(1, nodes)
    drawn = draw(
        st.lists(
            st.tuples(
                node, node,
                st.sampled_from([Relation.CAUSES, Relation.SOLVES, SUPERSEDES]),
                st.sampled_from([0.0, 0.25, 0.5, 1.0]),
                st.integers(0, 4), st.none() | st.integers(1, 8),
            ),
            max_size=3 * nodes,
            unique_by=lambda each: each[:3],
        )
    )  # fmt: skip
    hour = draw(st.none() | st.integers(0, 8))
    walk = Walk(
        draw(st.sampled_from([None, None, Relation.CAUSES, SUPERSEDES])),
        draw(st.sampled_from(Direction)),
        None if hour is None else moment(hour),
    )
    return Case(
        nodes, [each for each in drawn if each[0] != each[1]], draw(node), draw(st.integers(1, 4)), walk, hour
    )


def written(database: Database, case: Case) -> tuple[GraphService, Case]:
    """The graph of the case, beside those of the cases before; and the case with the ids that its memories have."""
    with database.write() as tx:
        ids: list[int] = [
            tx.memories.insert(MemoryDraft("text", MemoryType.ERROR), CALLER).id for _ in range(case.nodes)
        ]
        for source, target, relation, strength, since, until in case.edges:
            to = None if until is None else moment(until)
            record = EdgeRecord("", "", relation.value, strength, moment(since), to)
            writing.insert_edge(tx, ids[source - 1], ids[target - 1], record)
    edges = [
        (ids[source - 1], ids[target - 1], relation, strength, since, until)
        for source, target, relation, strength, since, until in case.edges
    ]
    return GraphService(database, NO_QUEUE), replace(
        case, first=ids[0], edges=edges, start=ids[case.start - 1]
    )


def holding(case: Case) -> list[tuple[int, int, Relation, float, int, int | None]]:
    """The edges that the walk may follow."""

    def holds(since: int, until: int | None) -> bool:
        if case.hour is None:
            return until is None
        return since <= case.hour and (until is None or until > case.hour)

    return [
        each
        for each in case.edges
        if holds(each[4], each[5]) and (case.walk.relation is None or case.walk.relation is each[2])
    ]


def as_networkx(case: Case, direction: Direction) -> Any:
    plain = networkx.DiGraph()
    plain.add_nodes_from(range(case.first, case.first + case.nodes))
    plain.add_edges_from((source, target) for source, target, *_ in holding(case))
    return {Direction.OUT: plain, Direction.IN: plain.reverse(), Direction.BOTH: plain.to_undirected()}[
        direction
    ]


many = settings(max_examples=rounds(100))


@given(case=cases())
@many
def test_a_walk_finds_what_networkx_finds(database: Database, case: Case) -> None:
    graph, case = written(database, case)
    explored = explore(graph, case.start, case.depth, case.walk)
    plain = as_networkx(case, case.walk.direction)
    expected = networkx.single_source_shortest_path_length(plain, case.start, cutoff=case.depth)
    assert distances(explored) == expected
    assert (explored.left_out, explored.stopped_at) == (0, None)
    assert [node.distance for node in explored.nodes] == sorted(expected.values())
    for node in explored.nodes:
        assert (node.path[0], node.path[-1]) == (case.start, node.memory.id)
        assert len(node.path) - 1 == node.distance
        assert networkx.is_path(plain, node.path)
    assert [(each.source, each.target, each.relation, each.strength) for each in explored.edges] == sorted(
        each[:4] for each in holding(case) if each[0] in expected and each[1] in expected
    )


@given(case=cases(most=30), reach=st.integers(1, 8))
@many
def test_a_limit_keeps_whole_levels_and_counts_what_the_next_one_lacks(
    database: Database, case: Case, reach: int
) -> None:
    graph, case = written(database, case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services_graph, "REACH", reach)
        explored = explore(graph, case.start, case.depth, case.walk)
    plain = as_networkx(case, case.walk.direction)
    expected = networkx.single_source_shortest_path_length(plain, case.start, cutoff=case.depth)
    shown = distances(explored)
    assert len(shown) <= reach
    assert shown.items() <= expected.items()
    last = explored.stopped_at or case.depth
    nearer = {id for id, distance in expected.items() if distance < last}
    at_last = {id for id, distance in expected.items() if distance == last}
    assert nearer <= set(shown)
    assert explored.left_out == len(at_last - set(shown))
    if explored.stopped_at is None:
        assert shown == expected
    else:
        assert explored.left_out > 0
        assert len(shown) == reach
    assert {(each.source, each.target) for each in explored.edges} == {
        each[:2] for each in holding(case) if each[0] in shown and each[1] in shown
    }


# Walking: what a model relies on


def test_a_memory_alone_is_its_whole_graph(graph: GraphService) -> None:
    fill(graph.database, 2)
    explored = explore(graph, 2, 4)
    (node,) = explored.nodes
    assert (node.memory.content, node.distance, node.path) == ("memory 2", 0, (2,))
    assert (explored.edges, explored.left_out, explored.stopped_at) == ((), 0, None)


def test_an_unknown_start_is_refused_with_the_mend(graph: GraphService) -> None:
    with pytest.raises(NotFound, match=r"^No memory 7\.$") as error:
        explore(graph, 7)
    assert error.value.problem.hints == FIND_MEMORY


def test_the_path_leads_over_the_strongest_edge_of_equally_short_ones(
    graph: GraphService, connect: Connect
) -> None:
    fill(graph.database, 4)
    connect(1, 2, strength=0.3)
    connect(1, 3, strength=0.2)
    connect(2, 4, strength=0.5)
    connect(3, 4, strength=0.9)
    assert {node.memory.id: node.path for node in explore(graph, 1).nodes} == {
        1: (1,), 2: (1, 2), 3: (1, 3), 4: (1, 3, 4)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("others", "left_out"), [(REACH - 2, 0), (REACH - 1, 0), (REACH, 1), (REACH + 50, 51)]
)
def test_a_hundred_memories_at_most_are_shown_the_strongest_first(
    graph: GraphService, others: int, left_out: int
) -> None:
    fill(graph.database, others + 1)
    with graph.database.write() as tx:
        for each in range(2, others + 2):
            tx.edges.connect(edge(1, each, Relation.CAUSES, each / 200), CALLER)
    explored = explore(graph, 1, 4)
    shown = [node.memory.id for node in explored.nodes]
    assert shown == [1, *sorted(range(2, others + 2), reverse=True)[: REACH - 1]]
    assert (explored.left_out, explored.stopped_at) == (left_out, 1 if left_out else None)


def test_a_limit_that_a_level_fills_exactly_still_tells_of_the_next_level(
    graph: GraphService, connect: Connect
) -> None:
    fill(graph.database, REACH + 1)
    for target in range(2, REACH + 1):
        connect(1, target)
    connect(REACH, REACH + 1)
    assert explore(graph, 1, 1).left_out == 0
    explored = explore(graph, 1, 2)
    assert (len(explored.nodes), explored.left_out, explored.stopped_at) == (REACH, 1, 2)


def test_an_edge_that_ended_is_in_the_graph_of_the_moments_before(
    graph: GraphService, connect: Connect, clock: Clock
) -> None:
    fill(graph.database, 3)
    connect(1, 2, Relation.DEPENDS_ON)
    clock.advance(days=1)
    ended = graph.end(edge(1, 2, Relation.DEPENDS_ON))
    connect(1, 3, Relation.DEPENDS_ON)
    assert ended.valid_to == "2026-03-15T09:26:53.589Z"
    assert distances(explore(graph, 1)) == {1: 0, 3: 1}
    then = explore(graph, 1, walk=Walk(at="2026-03-15T00:00:00.000Z"))
    assert distances(then) == {1: 0, 2: 1}
    assert list(then.edges) == [ended]
    at_the_end = explore(graph, 1, walk=Walk(at=ended.valid_to))
    assert distances(at_the_end) == {1: 0, 3: 1}
    assert distances(explore(graph, 1, walk=Walk(at="2026-03-14T00:00:00.000Z"))) == {1: 0}


# What is near


def test_neighbours_by_edge_come_with_all_their_edges_and_their_cosine(
    graph: GraphService, remember: Remember, connect: Connect
) -> None:
    error = remember("The payout queue hangs when a worker dies")
    fix = remember("Restart the worker and requeue the payout batch")
    far = remember("Tea is served at four o'clock")
    connect(fix, error, Relation.SOLVES, 0.8)
    connect(error, fix, Relation.RELATED_TO, 0.1)
    connect(fix, far)
    answer = graph.related(MemoryId(error), 1, graph=True, semantic=True)
    (only,) = answer.near
    assert (only.memory.id, only.nearness, answer.degraded) == (fix, 0.8, ())
    assert triples(only.edges) == [(error, "related_to", fix), (fix, "solves", error)]
    assert only.cosine is not None
    assert 0 < only.cosine < 0.8


def test_neighbours_by_meaning_need_no_edge_and_come_nearest_first(
    graph: GraphService, remember: Remember
) -> None:
    start = remember("The payout queue hangs when a worker dies")
    like = remember("The payout queue hangs when the disk is full", project="q")
    unlike = remember("Tea is served at four o'clock")
    answer = graph.related(MemoryId(start), 10, graph=True, semantic=True)
    assert [(each.memory.id, each.edges) for each in answer.near] == [(like, ()), (unlike, ())]
    assert answer.degraded == ()
    assert answer.near[0].nearness == answer.near[0].score


def test_of_two_that_are_equally_alike_the_one_of_the_same_project_is_nearer(
    graph: GraphService, remember: Remember
) -> None:
    start = remember("The payout queue hangs when a worker dies")
    own = remember("The payout queue hangs when the disk is full")
    other = remember("The payout queue hangs when the disk is full", project="q")
    near = graph.related(MemoryId(start), 10, graph=True, semantic=True).near
    assert [each.memory.id for each in near] == [own, other]
    assert near[0].cosine == near[1].cosine


def test_a_weak_edge_does_not_hide_how_near_the_meaning_is(
    graph: GraphService, remember: Remember, connect: Connect
) -> None:
    """Though the neighbour is not among the nearest in meaning, which would give its cosine anyway."""
    start = remember("The payout queue hangs when a worker dies")
    linked = remember("The payout batch hangs when the disk is full")
    for text in ("a worker has died", "a worker is dying", "a worker died at night"):
        remember(f"The payout queue hangs when {text}", project=text)
    connect(start, linked, strength=0.01)
    near = graph.related(MemoryId(start), 1, graph=True, semantic=True).near
    assert near[0].memory.id != linked
    (at_last,) = [
        each for each in graph.related(MemoryId(start), 10, graph=True, semantic=True).near if each.edges
    ]
    assert (at_last.memory.id, at_last.nearness) == (linked, at_last.score)
    assert at_last.score > 0.01


@pytest.mark.parametrize(
    ("by_edge", "by_meaning", "expected"), [(True, False, [2]), (False, True, [3, 2]), (True, True, [2, 3])]
)
def test_each_way_can_be_left_out(
    graph: GraphService,
    remember: Remember,
    connect: Connect,
    by_edge: bool,
    by_meaning: bool,
    expected: list[int],
) -> None:
    start = remember("The payout queue hangs when a worker dies")
    connect(start, remember("Tea is served at four o'clock"))
    remember("The payout queue hangs when the disk is full")
    answer = graph.related(MemoryId(start), 10, by_edge, by_meaning)
    assert [each.memory.id for each in answer.near] == expected
    assert answer.degraded == ()
    assert all(
        bool(each.edges) <= by_edge and (each.cosine is not None) <= by_meaning for each in answer.near
    )


def test_leaving_both_ways_out_is_refused_with_the_mend(graph: GraphService) -> None:
    fill(graph.database, 1)
    with pytest.raises(
        Invalid, match=r"^Neither edges nor meaning are wanted, which leaves nothing to look for\.$"
    ) as error:
        graph.related(MemoryId(1), 10, graph=False, semantic=False)
    assert error.value.problem.hints == (Hint(Mend.NAME_NEIGHBOURS),)


def test_neighbours_of_an_unknown_memory_are_refused(graph: GraphService) -> None:
    with pytest.raises(NotFound, match=r"No memory 3\."):
        graph.related(MemoryId(3), 10, graph=True, semantic=True)


def test_where_meaning_cannot_answer_edges_do_and_the_answer_says_why(
    database: Database, embedder: Embedder, clock: Clock
) -> None:
    def missing(known: object) -> Embedder:
        raise Unavailable("no model here", Mend.USE_SAME_EMBEDDER)

    queue = EmbeddingQueue(database, missing, lambda space: embedder, clock)
    queue.warm_up()
    graph = GraphService(database, queue)
    fill(database, 2)
    graph.connect(edge(1, 2), CALLER)
    answer = graph.related(MemoryId(1), 10, graph=True, semantic=True)
    assert [each.memory.id for each in answer.near] == [2]
    hints = (Hint(Mend.USE_SAME_EMBEDDER),)
    assert answer.degraded == (Problem("meaning did not answer: no model here", hints),)


def test_a_memory_that_is_not_embedded_yet_is_told(graph: GraphService, connect: Connect) -> None:
    fill(graph.database, 2 * FEW)  # more than a question embeds itself
    connect(2 * FEW, 1)
    answer = graph.related(MemoryId(2 * FEW), 10, graph=True, semantic=True)
    assert [each.memory.id for each in answer.near] == [1]
    assert answer.degraded == (Problem(f"meaning did not answer: memory {2 * FEW} is not embedded yet"),)


def test_a_memory_with_thousands_of_edges_gives_its_strongest_neighbours(graph: GraphService) -> None:
    fill(graph.database, 2000)
    with graph.database.write() as tx:
        for each in range(2, 2001):
            tx.edges.connect(edge(each, 1, Relation.CAUSES, each / 2000), CALLER)
    near = graph.related(MemoryId(1), 3, graph=True, semantic=False).near
    assert [each.memory.id for each in near] == [2000, 1999, 1998]


# Superseding


def seen(found: list[Hit]) -> set[int]:
    """The memories of an answer, and what is shown inside them."""
    return {hit.memory.id for hit in found} | {each.id for hit in found for each in hit.linked}


OLD = "The webhook sender runs on the host bramble"
NEW = "From November the callbacks leave from thistle"


def hits(search: SearchService, text: str, mode: str = "hybrid", **wanted: Any) -> list[Hit]:
    return search.search(text, Filter(**wanted), 10, mode, caller=Caller()).hits


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_superseded_memory_ranks_below_its_successor_which_joins_the_search(
    search: SearchService, remember: Remember, connect: Connect, mode: str
) -> None:
    old, new = remember(OLD), remember(NEW)
    question = "On which host does the webhook sender run?"
    assert hits(search, question, mode)[0].memory.id == old
    connect(new, old, SUPERSEDES)
    found = hits(search, question, mode)
    assert found[0].memory.id == new
    assert found[0].why.edge == f"{new} supersedes {old}"
    assert [(hit.memory.id, hit.memory.superseded_by) for hit in found] == [(new, None), (old, new)]


def test_a_superseded_memory_is_still_found_when_asked_for(
    service: MemoryService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    old, new = remember(OLD), remember(NEW)
    for number in range(20):
        remember(f"The host number {number} runs on its own", project=f"p{number}")
    connect(new, old, SUPERSEDES)
    for mode in ("hybrid", "semantic", "keyword"):
        assert [hit.memory.id for hit in hits(search, OLD, mode)[:2]] == [new, old]
    (detailed,) = service.get([MemoryId(old)]).memories
    assert (detailed.memory.content, detailed.memory.superseded_by) == (OLD, new)


def test_a_line_of_successors_is_in_order_and_only_what_holds_joins(
    search: SearchService, remember: Remember, connect: Connect
) -> None:
    first, second, third = remember(OLD), remember(NEW), remember("Since spring all of it lives in Frankfurt")
    connect(second, first, SUPERSEDES)
    connect(third, second, SUPERSEDES)
    question = "webhook sender host bramble"
    assert [hit.memory.id for hit in hits(search, question, "keyword")] == [third, first]
    assert [hit.memory.id for hit in hits(search, f"{question} callbacks thistle")][:3] == [
        third,
        second,
        first,
    ]


def test_a_successor_that_the_filter_keeps_out_does_not_join_but_the_mark_stays(
    search: SearchService, remember: Remember, connect: Connect
) -> None:
    old, new = remember(OLD, project="p"), remember(NEW, project="q")
    connect(new, old, SUPERSEDES)
    (hit,) = hits(search, OLD, project="p")
    assert (hit.memory.id, hit.memory.superseded_by) == (old, new)
    assert [each.memory.id for each in hits(search, OLD)] == [new, old]


def test_what_no_longer_supersedes_leaves_the_order_as_it_was(
    graph: GraphService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    old, new = remember(OLD), remember(NEW)
    before = {hit.memory.id: hit.score for hit in hits(search, OLD)}
    connect(new, old, SUPERSEDES)
    graph.end(edge(new, old, SUPERSEDES))
    found = hits(search, OLD)
    # A search counts as an access, which moves the score a little.
    assert {hit.memory.id: pytest.approx(hit.score, abs=0.01) for hit in found} == before
    assert all(hit.why.edge is None for hit in found)


def test_deleting_the_successor_brings_the_old_memory_back(
    service: MemoryService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    old, new = remember(OLD), remember(NEW)
    connect(new, old, SUPERSEDES)
    service.forget(MemoryId(new), False, CALLER)
    (hit,) = hits(search, OLD)
    assert (hit.memory.id, hit.memory.superseded_by) == (old, None)


def test_every_answer_marks_what_is_superseded(
    graph: GraphService, service: MemoryService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    old, new, other = remember(OLD), remember(NEW), remember("The webhook sender is written in Go")
    connect(new, old, SUPERSEDES)
    connect(other, old)
    marks = {old: new, new: None, other: None}
    assert {
        each.memory.id: each.memory.superseded_by for each in service.get(list(map(MemoryId, marks))).memories
    } == marks
    assert {hit.memory.id: hit.memory.superseded_by for hit in hits(search, "webhook sender")} == marks
    assert {node.memory.id: node.memory.superseded_by for node in explore(graph, new).nodes} == marks
    near = graph.related(MemoryId(other), 10, graph=True, semantic=True).near
    assert {each.memory.id: each.memory.superseded_by for each in near} == {old: new, new: None}
    assert (
        service.update(MemoryId(old), MemoryChange(importance=9), caller=Caller()).memory.superseded_by == new
    )
    restated = service.store(MemoryDraft(f"{OLD}.", MemoryType.DECISION, "p"), None, CALLER)
    assert not restated.consolidated
    assert {each.memory.id: each.memory.superseded_by for each in restated.similar} == {old: new, new: None}


def test_the_mark_is_that_of_the_moment_asked_for(
    graph: GraphService, remember: Remember, connect: Connect, clock: Clock
) -> None:
    old, new, newest = remember(OLD), remember(NEW), remember("Since spring all of it lives in Frankfurt")
    connect(old, new)
    connect(old, newest)
    clock.advance(days=1)
    connect(new, old, SUPERSEDES)
    clock.advance(days=1)
    connect(newest, old, SUPERSEDES)

    def marks(at: str | None) -> dict[int, int | None]:
        return {
            each.memory.id: each.memory.superseded_by for each in explore(graph, old, walk=Walk(at=at)).nodes
        }

    assert marks(None) == {old: newest, new: None, newest: None}
    assert marks("2026-03-15T12:00:00.000Z") == {old: new, new: None, newest: None}
    assert marks("2026-03-14T12:00:00.000Z") == {old: None, new: None, newest: None}


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ([(2, 1)], (1, 2)),
        ([(2, 1), (3, 2)], (1, 3)),
        ([(2, 1), (3, 1)], (1, 2)),  # not only over the one that superseded last
        ([(2, 1), (3, 2), (4, 2)], (1, 3)),
    ],
)
def test_a_circle_is_refused_with_the_mend(
    graph: GraphService,
    connect: Connect,
    clock: Clock,
    lines: list[tuple[int, int]],
    refused: tuple[int, int],
) -> None:
    fill(graph.database, 4)
    for new, old in lines:
        clock.advance(hours=1)
        connect(new, old, SUPERSEDES)
    with pytest.raises(
        Conflict,
        match=rf"^Memory {refused[1]} already supersedes {refused[0]}, directly or through others\.$",
    ) as error:
        connect(*refused, SUPERSEDES)
    assert error.value.problem.hints == (Hint(Mend.END_SUPERSEDING, {"memory": refused[0]}),)
    connect(*refused, Relation.CONTRADICTS)
    graph.end(edge(*lines[0], SUPERSEDES))
    if len(lines) == 1:
        assert connect(*refused, SUPERSEDES).valid_to is None


def test_a_circle_made_by_hand_hinders_nothing(
    graph: GraphService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    one, two, three = remember(OLD), remember(NEW), remember("The webhook sender is written in Go")
    with graph.database.write() as tx:
        for new, old in [(one, two), (two, one)]:
            tx.edges.connect(edge(new, old, SUPERSEDES), CALLER)
    assert seen(hits(search, "webhook sender")) == {one, two, three}
    assert distances(explore(graph, one)) == {one: 0, two: 1}
    connect(three, one, SUPERSEDES)
    assert hits(search, OLD)[0].memory.id == three
    with pytest.raises(Conflict):
        connect(two, three, SUPERSEDES)


# Neighbours join a search


RUNBOOK = "Restart the worker, then requeue what it held"
TAIL = "which takes as long as it takes and longer on a Monday when all are there and nobody knows anything of it"
LATE = (
    "spring wages", "Ines in Lisbon", "refunds", "the bakery", "overtime", "travel costs", "insurance", "prize money",
    "rent", "the choir", "pensions", "old invoices", "book sales",
)  # fmt: skip
"""Others than the runbook for its place among ten: none restates another."""

HANG = "LGR-2207: the payout batch hangs over night"


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("outwards", [True, False])
def test_the_best_hit_brings_its_neighbour_and_why_names_the_edge(
    search: SearchService, remember: Remember, connect: Connect, mode: str, outwards: bool
) -> None:
    hang, runbook = remember(HANG), remember(RUNBOOK)
    for subject in LATE:
        remember(f"The payout of {subject} is late", project=subject)
    assert runbook not in {hit.memory.id for hit in hits(search, "LGR-2207", mode)}
    ends = (hang, runbook) if outwards else (runbook, hang)
    connect(*ends, Relation.CAUSES)
    found = hits(search, "LGR-2207", mode)
    assert [hit.memory.id for hit in found[:2]] == [hang, runbook]
    assert (found[0].why.edge, found[1].why.edge) == (None, f"{ends[0]} causes {ends[1]}")
    assert found[1].rank == pytest.approx(NEIGHBOUR_WEIGHT * found[0].rank)
    assert 0 < found[1].score < found[0].score <= 1


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("relation", [Relation.SOLVES, Relation.CONTRADICTS])
def test_what_solves_or_contradicts_a_hit_is_shown_inside_it_and_takes_no_rank(
    graph: GraphService,
    search: SearchService,
    remember: Remember,
    connect: Connect,
    mode: str,
    relation: Relation,
) -> None:
    hang, runbook = remember(HANG), remember(f"{RUNBOOK} {TAIL}")
    others = [
        remember(f"The payout report number {number} is late", project=f"p{number}") for number in (1, 2)
    ]
    connect(runbook, hang, relation)
    found = hits(search, "LGR-2207 payout", mode)
    assert found[0].memory.id == hang
    (linked,) = found[0].linked
    assert linked == Linked(MemoryId(runbook), relation, linked.content)
    told = linked.content.removesuffix(" …").removesuffix("…")
    assert told != f"{RUNBOOK} {TAIL}"
    assert f"{RUNBOOK} {TAIL}".startswith(f"{told} ")
    assert sorted(hit.memory.id for hit in found[1:]) == others
    assert hits(search, RUNBOOK, mode)[0].memory.id == runbook  # a hit of its own where it ranks first
    graph.end(edge(runbook, hang, relation))
    assert not any(hit.linked for hit in hits(search, "LGR-2207 payout", mode))


def test_a_contradiction_is_shown_inside_a_hit_whatever_the_direction_of_its_edge(
    search: SearchService, remember: Remember, connect: Connect
) -> None:
    hang, runbook, newer = remember(HANG), remember(RUNBOOK), remember("Nobody hangs since May")
    connect(hang, runbook, Relation.CONTRADICTS)
    assert [link.id for link in hits(search, "LGR-2207", "keyword")[0].linked] == [runbook]
    assert [link.id for link in hits(search, RUNBOOK, "keyword")[0].linked] == [hang]
    connect(newer, runbook, SUPERSEDES)
    assert hits(search, "LGR-2207", "keyword")[0].linked == ()


def test_a_neighbour_that_the_filter_keeps_out_does_not_join(
    search: SearchService, remember: Remember, connect: Connect
) -> None:
    hang, runbook = remember(HANG, project="p"), remember(RUNBOOK, project="q")
    connect(runbook, hang)
    assert [hit.memory.id for hit in hits(search, "LGR-2207", "keyword", project="p")] == [hang]
    assert [hit.memory.id for hit in hits(search, "LGR-2207", "keyword")] == [hang, runbook]


def test_neither_a_weak_nor_an_ended_edge_nor_a_superseded_neighbour_joins(
    graph: GraphService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    hang, runbook, newer = remember(HANG), remember(RUNBOOK), remember("Since May nobody has to do anything")
    connect(runbook, hang, strength=0.4)
    assert [hit.memory.id for hit in hits(search, "LGR-2207", "keyword")] == [hang]
    connect(runbook, hang)
    connect(newer, runbook, SUPERSEDES)
    assert [hit.memory.id for hit in hits(search, "LGR-2207", "keyword")] == [hang]
    graph.end(edge(newer, runbook, SUPERSEDES))
    graph.end(edge(runbook, hang))
    assert [hit.memory.id for hit in hits(search, "LGR-2207", "keyword")] == [hang]


def test_three_neighbours_join_at_most_and_never_beyond_the_limit(
    search: SearchService, remember: Remember, connect: Connect
) -> None:
    hang = remember(HANG)
    others = [
        remember(f"{word} all day long", project=word) for word in ("sun", "rain", "snow", "fog", "hail")
    ]
    for number, other in enumerate(others):
        connect(hang, other, strength=0.6 + number / 10)
    assert [hit.memory.id for hit in hits(search, "LGR-2207", "keyword")] == [hang, *reversed(others[2:])]
    assert len(search.search("LGR-2207", Filter(), 2, "keyword", caller=Caller()).hits) == 2
    assert search.search("LGR-2207", Filter(), 1, "keyword", caller=Caller()).hits[0].memory.id == hang


def test_a_neighbour_found_with_a_better_score_keeps_it(
    search: SearchService, remember: Remember, connect: Connect
) -> None:
    hang, also = remember(HANG), remember("LGR-2207 is the code of a rejected account number")
    before = {hit.memory.id: hit.score for hit in hits(search, "LGR-2207", "keyword")}
    connect(also, hang, strength=1.0)
    found = hits(search, "LGR-2207", "keyword")
    assert {hit.memory.id: pytest.approx(hit.score, abs=0.01) for hit in found} == before
    assert all(hit.why.edge is None for hit in found)


def test_what_joins_counts_as_accessed_like_any_hit(
    service: MemoryService, search: SearchService, remember: Remember, connect: Connect
) -> None:
    hang, runbook = remember(HANG), remember(RUNBOOK)
    connect(runbook, hang)
    hits(search, "LGR-2207", "keyword")
    assert [
        each.memory.access_count for each in service.get([MemoryId(hang), MemoryId(runbook)]).memories
    ] == [
        1,
        1,
    ]
