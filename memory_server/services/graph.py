"""The knowledge graph: connect memories, walk from one to others, and what is near one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.edge import REPLACING, Edge, Explored, Reached, Relation, Walk
from memory_server.domain.embedding import Embedded
from memory_server.domain.learning import How
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, Problem
from memory_server.services import retrieval, search
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.gathering import KindSearch
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.services.trusting import refuse_replacing
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

REACH = 100
"""So many memories at most in one answer, the start included."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near another: by edges, by what it says, or by both.

    `score` is that of the search, from 0 to 1, where the text of the other memory is the question.
    """

    memory: Memory
    edges: tuple[Edge, ...]
    cosine: float | None
    score: float = 0.0

    @property
    def nearness(self) -> float:
        """Return the strength of the strongest edge, or the score where that is more."""
        return max([edge.strength for edge in self.edges] + [self.score])


@dataclass(frozen=True, slots=True)
class Related:
    """The memories nearest to one, nearest first; `degraded` says why there may be more."""

    near: list[Neighbour]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class GraphService:
    """`hides`: what waits to be confirmed is left out, but for the memory that is named."""

    database: Database
    queue: EmbeddingQueue
    hides: bool = False

    def connect(self, edge: Edge, caller: Caller) -> Edge:
        """Write an edge between two memories, or renew its strength.

        Raises:
            Invalid: it would lead from a memory to itself.
            NotFound: one of them does not exist.
            Conflict: two memories would supersede each other, or one from outside would stand for one that is not.
        """
        if edge.source == edge.target:
            raise Invalid(f"An edge needs two memories, and both ends are {edge.source}.", Mend.FIND_MEMORY)
        with self.database.write() as tx:
            source, target = tx.memories.get(edge.source), tx.memories.get(edge.target)
            if edge.relation in REPLACING:
                refuse_replacing(source.origin, target)
            if edge.relation is Relation.SUPERSEDES:
                refuse_circle(tx, edge)
            tx.memory_uses.mark_used([edge.source, edge.target], caller.session, How.CALLED)
            return tx.edges.connect(edge, caller)

    def end(self, edge: Edge) -> Edge:
        """End an edge: it holds no longer, but stays in the graph of earlier moments.

        Raises:
            NotFound: there is no such edge, or no such memory.
        """
        with self.database.write() as tx:
            tx.memories.get(edge.source)
            tx.memories.get(edge.target)
            ended = tx.edges.end(edge)
        if ended is None:
            raise NotFound(
                f"There is no edge {edge.source} {edge.relation} {edge.target}.",
                Hint(Mend.SHOW_EDGES, {"memory": edge.source}),
            )
        return ended

    def explore(self, id: MemoryId, depth: int, walk: Walk, most: int | None = None) -> Explored:
        """Walk breadth first from a memory: one query a level, and one for the edges between what was reached. `most`
        memories at most, REACH where that is None.

        A level that does not fit ends the walk: what lies beyond is not counted, for that could be the whole file.

        Raises:
            NotFound: no such memory.
        """
        room = REACH if most is None else most
        with self.database.read() as tx:
            tx.memories.get(id)
            paths: dict[MemoryId, tuple[MemoryId, ...]] = {id: (id,)}
            frontier, left_out, distance = [id], 0, 0
            while frontier and not left_out and distance < depth:
                steps, number = tx.edges.steps(frontier, paths, walk, room - len(paths))
                paths |= {step.there: (*paths[step.here], step.there) for step in steps}
                frontier = [step.there for step in steps]
                left_out, distance = number - len(steps), distance + 1
            reached = _as_of(tx, tx.memories.select(list(paths)), walk.at)
            reached = [memory for memory in reached if memory.id == id or self._shows(memory)]
            edges = tx.edges.between([memory.id for memory in reached], walk)
            return Explored(
                tuple(Reached(memory, len(paths[memory.id]) - 1, paths[memory.id]) for memory in reached),
                tuple(edges),
                left_out,
                distance if left_out else None,
                tuple(tx.skipped),
            )

    def edges_of(self, id: MemoryId) -> list[tuple[Edge, Memory]]:
        """Return the edges of a memory that hold now, each with the memory at its other end.

        Raises:
            NotFound: there is no such memory.
        """
        near = self.explore(id, 1, Walk())
        memories = {node.memory.id: node.memory for node in near.nodes}
        return [
            (edge, memories[edge.other_end(id)]) for edge in near.edges if id in (edge.source, edge.target)
        ]

    def hubs(self, limit: int) -> list[Memory]:
        """Return the memories that have most edges, most first."""
        with self.database.read() as tx:
            return tx.memories.select(tx.edges.hubs(limit))

    def related(self, id: MemoryId, limit: int, graph: bool, semantic: bool) -> Related:
        """Return the memories nearest to one, by edges and by meaning.

        Raises:
            Invalid: neither is wanted.
            NotFound: no such memory.
        """
        if not graph and not semantic:
            raise Invalid(
                "Neither edges nor meaning are wanted, which leaves nothing to look for.",
                Mend.NAME_NEIGHBOURS,
            )

        def ask(tx: Tx, meaning: Meaning | Unanswered | None) -> Related:
            memory = tx.memories.get(id)
            by_edge = _strongest(tx, id, limit) if graph else {}
            scores, cosines, problems = _alike(tx, meaning, memory, limit, by_edge)
            near = [
                Neighbour(
                    memory,
                    tuple(by_edge.get(memory.id, ())),
                    cosines.get(memory.id),
                    scores.get(memory.id, cosines.get(memory.id, 0.0)),
                )
                for memory in tx.memories.select(list({**by_edge, **cosines}))
                if self._shows(memory)
            ]
            near.sort(key=lambda neighbour: (-neighbour.nearness, -neighbour.memory.id))
            return Related(near[:limit], (*problems, *tx.skipped))

        if semantic:
            return self.queue.read((), ask)
        with self.database.read() as tx:
            return ask(tx, None)

    def _shows(self, memory: Memory) -> bool:
        return trust.is_listed(memory.origin, self.hides)


def _as_of(tx: Tx, memories: list[Memory], at: str | None) -> list[Memory]:
    """Return the memories, each with what had superseded it at a moment."""
    if at is None:
        return memories
    successors = tx.edges.successors([memory.id for memory in memories], at)
    return [replace(memory, superseded_by=successors.get(memory.id)) for memory in memories]


def _strongest(tx: Tx, id: MemoryId, limit: int) -> dict[MemoryId, list[Edge]]:
    """Return the neighbours over the strongest edges, each with all edges between it and the memory."""
    steps, _ = tx.edges.steps([id], [id], Walk(), limit)
    edges_by_id: dict[MemoryId, list[Edge]] = {step.there: [] for step in steps}
    for edge in tx.edges.between([id, *edges_by_id], Walk()):
        if id in (edge.source, edge.target):
            edges_by_id[edge.other_end(id)].append(edge)
    return edges_by_id


def _alike(
    tx: Tx, meaning: Meaning | Unanswered | None, memory: Memory, limit: int, also: Iterable[MemoryId]
) -> tuple[dict[MemoryId, float], dict[MemoryId, float], list[Problem]]:
    """Return the scores of the memories most like this one, their cosines and those of `also`, and the problems.

    A problem says why some may be missing.
    """
    if meaning is None:
        return {}, {}, []
    if isinstance(meaning, Unanswered):
        cause = meaning.problem
        return {}, {}, [Problem(f"meaning did not answer: {cause.text}", cause.hints)]
    vector = tx.embeddings.vectors_of(meaning.space_id, [memory.id]).get(memory.id)
    if vector is None:
        return {}, {}, [Problem(f"meaning did not answer: memory {memory.id} is not embedded yet")]
    kind_search = KindSearch(Embedded.MEMORIES, search.load, Filter(), limit + 1, "hybrid", memory.project)
    ranked = retrieval.alike(tx, memory.content, kind_search, replace(meaning, vectors=(vector,)))
    scores = {hit.item.thing.id: min(1.0, hit.score) for hit in ranked if hit.id != memory.id}
    scores = dict(list(scores.items())[:limit])
    left = tx.spaces.count_waiting(meaning.space_id, Embedded.MEMORIES)
    waiting = f"{left} memories are not embedded yet" if left > 1 else "1 memory is not embedded yet"
    problems = [Problem(waiting)] if left else []
    cosines = tx.embeddings.cosines(meaning.space_id, vector, [*scores, *also])
    return scores, {MemoryId(id): cosine for id, cosine in cosines.items()}, problems


def refuse_circle(tx: Tx, edge: Edge) -> None:
    """Raise Conflict where a memory would supersede its own successor, at any distance."""
    if tx.edges.supersedes(edge.target, edge.source):
        raise Conflict(
            f"Memory {edge.target} already supersedes {edge.source}, directly or through others.",
            Hint(Mend.END_SUPERSEDING, {"memory": edge.source}),
        )
